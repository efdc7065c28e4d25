package otel

import "reprise/ingest/decode"

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
	late                      late
}

// late is what of a span of OTLP JSON is not read before it is known to matter: most spans are no calls.
type late struct {
	unread                                bool
	traceID, spanID, parentID, start, end *decode.Value
}

// complete reads what is late.
func (s *span) complete() {
	l := s.late
	if !l.unread {
		return
	}
	s.late = late{}
	s.traceID, s.spanID, s.parentID = identifier(l.traceID), identifier(l.spanID), identifier(l.parentID)
	s.start, s.end = nanos(l.start), nanos(l.end)
	s.coarse = s.start%1e6 == 0
}

const kindServer = 2

type event struct {
	name  string
	at    int64 // nanoseconds since 1970; 0 unknown
	attrs attrs
}
