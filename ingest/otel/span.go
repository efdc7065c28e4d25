package otel

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"reprise/ingest/decode"
)

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

// attrs are attributes by exact name; of a name given twice the first counts (ING-26).
type attrs map[string]value

// value is an attribute's value, not converted until it is asked for: most values of most spans are prompt text that
// nobody looks at.
type value struct {
	json  *decode.Value // nil: proto
	proto pcommon.Value
}

// raw returns the value as text: strings as they are, numbers and booleans as written, lists and maps as JSON. "" when
// there is none.
func (a attrs) raw(name string) string {
	v, ok := a[name]
	if !ok {
		return ""
	}
	return v.text()
}

// text is raw without the words that stand for nothing.
func (a attrs) text(name string) string { return known(a.raw(name)) }

func known(s string) string {
	switch s {
	case "None", "null", "-":
		return ""
	}
	return s
}

func (a attrs) has(name string) bool {
	_, ok := a[name]
	return ok
}

// object parses JSON (or a Python literal) held in an attribute; nil when there is none or it does not parse.
func (a attrs) object(name string) *decode.Value { return parseLoose(a.raw(name)) }
