package otel

import (
	"strings"

	"reprise/ingest/decode"
)

// Jaeger is Jaeger's JSON in its forms: the answer of its query service, its domain model as protobuf writes it, and the
// documents it keeps in Elasticsearch.
func Jaeger() decode.Format {
	return decode.Format{Name: "jaeger", Title: "OpenTelemetry spans in Jaeger's JSON (query service, Elasticsearch)", About: about + aboutJaeger,
		Units: unitsJaeger, Defects: "loses the nanoseconds of stamps: sums of stages are off by up to 1 us; " + defects, Example: exampleJaeger, Detect: detectJaeger,
		JSON: func(c *decode.Context, v *decode.Value) error {
			return takeAll(c, "jaeger", func(visit func(*span)) error { return walkJaeger(c, v, visit) })
		}}
}

const (
	unitsJaeger   = `startTime and duration: microseconds; in the domain model RFC 3339 text and "22938000ns"; attributes as in otlp`
	exampleJaeger = `{"data":[{"traceID":"5b8efff798038103d269b633813fc60c","spans":[{"traceID":"5b8efff798038103d269b633813fc60c","spanID":"eee19b7ec3c1b174","operationName":"chat m","references":[],"startTime":1795961900757000,"duration":1127000,"tags":[{"key":"gen_ai.operation.name","type":"string","value":"chat"},{"key":"gen_ai.request.model","type":"string","value":"m"},{"key":"gen_ai.usage.input_tokens","type":"int64","value":107},{"key":"gen_ai.usage.output_tokens","type":"int64","value":27}],"logs":[],"processID":"p1"}],"processes":{"p1":{"serviceName":"demo","tags":[]}}}]}`
	aboutJaeger   = `
The record is {data: [{spans, processes}]}, one trace {spans}, or one span, also as the _source of an Elasticsearch hit.
Attributes are tags; events are logs, named by their field "event"; the status is otel.status_code, else the tag error.
`
)

// detectJaeger counts the keys of the first span.
func detectJaeger(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		x := source(v)
		for _, path := range [][]string{{"data", "0", "spans", "0"}, {"spans", "0"}} {
			if inner := v.Get(path...); inner != nil {
				x = inner
			}
		}
		if x.Get("operationName") != nil {
			best = max(best, 1+decode.One(either(x, "traceID", "traceId") != nil)+decode.One(either(x, "spanID", "spanId") != nil)+decode.One(x.Get("startTime") != nil))
		}
	}
	return best
}

// source is the document of an Elasticsearch hit, else v.
func source(v *decode.Value) *decode.Value {
	if x := v.Get("_source"); x != nil {
		return x
	}
	return v
}

func walkJaeger(c *decode.Context, v *decode.Value, visit func(*span)) error {
	traces := v.GetArray("data")
	if traces == nil {
		traces = []*decode.Value{v}
	}
	w := jaegerWalker{c: c, visit: visit}
	for _, t := range traces {
		w.processes = map[string]attrs{}
		t.Get("processes").Visit(func(id []byte, p *decode.Value) { w.processes[string(id)] = process(p) })
		spans := t.GetArray("spans")
		if x := source(t); spans == nil && x.Get("operationName") != nil {
			spans = []*decode.Value{x}
		}
		for _, x := range spans {
			w.span(x)
		}
	}
	if w.line == 0 {
		return c.Reject("not_jaeger", "expected data[].spans, spans or a span with operationName, got an object with the keys %q", keys(v))
	}
	return nil
}

type jaegerWalker struct {
	c         *decode.Context
	visit     func(*span)
	processes map[string]attrs
	line      int
}

func (w *jaegerWalker) span(v *decode.Value) {
	s := &span{name: decode.Text(v, "operationName"), traceID: identifier(either(v, "traceID", "traceId")),
		spanID: identifier(either(v, "spanID", "spanId")), line: w.line, resource: w.processes[decode.Text(v, "processID")]}
	w.line++
	s.attrs.tags(v.Get("tags"))
	s.attrs.fields(v.Get("tag"))
	if p := v.Get("process"); p != nil {
		s.resource = process(p)
	}
	s.parentID = parentOf(v, s.traceID)
	if s.start = w.stamp(v.Get("startTime")); s.start != 0 {
		if d, ok := jaegerDuration(v.Get("duration")); ok && d <= 1<<62-s.start/2 {
			s.end = s.start + d
		}
	}
	for _, l := range v.Get("logs").GetArray() {
		var fields attrs
		fields.tags(l.Get("fields"))
		s.events = append(s.events, event{name: firstOf(fields.text("event"), fields.text("message")), at: w.stamp(l.Get("timestamp")), attrs: fields})
	}
	s.tagged()
	w.visit(s)
}

// tagged takes from the attributes what formats without fields of their own for it put there.
func (s *span) tagged() {
	if s.kind == 0 {
		for i, name := range kindNames {
			if strings.EqualFold(s.attrs.text("span.kind"), name) {
				s.kind = i
			}
		}
	}
	s.scope = firstOf(s.attrs.text("otel.scope.name"), s.attrs.text("otel.library.name"))
	switch strings.ToUpper(s.attrs.text("otel.status_code")) {
	case "OK":
		s.succeeded = true
	case "ERROR":
		s.failed = true
	default:
		text := s.attrs.text("error") // true, or (Zipkin) what went wrong
		s.failed = text != "" && !strings.EqualFold(text, "false")
	}
	s.statusText = s.attrs.text("otel.status_description")
}
