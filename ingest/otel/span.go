package otel

// span is one span of any container.
type span struct {
	scope, name               string
	traceID, spanID, parentID string
	kind                      int   // OTLP's number, 0 unknown
	start, end                int64 // nanoseconds since 1970; 0 unknown
	attrs, resource           attrs
	events                    []event
	failed, succeeded         bool   // status code ERROR, OK; neither is UNSET
	statusText                string // read for the class of the error, never stored
	attrsCut, eventsCut       bool   // a limit dropped some
	coarse                    bool   // starts on a whole millisecond: the SDK's clock has no finer step (JavaScript)
	naive                     bool   // stamps without a zone, read in the stated one
	isLog                     bool   // an event of a log: it has no times
	exported                  bool   // of Langfuse's own export: made by any SDK
	line                      int    // position in the record, from 0
}

const kindServer = 2

type event struct {
	name  string
	at    int64 // nanoseconds since 1970; 0 unknown
	attrs attrs
}
