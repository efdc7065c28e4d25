package otel

import (
	"time"

	"reprise/ingest/decode"
)

// walkFlat visits the spans of one record of a flat dump: spans with attributes as a map and times as text, alone
// (Python's console exporter) or as a list under "spans".
func walkFlat(c *decode.Context, v *decode.Value, visit func(*span)) error {
	list := v.Get("spans").GetArray()
	if list == nil {
		if v.Get("SpanContext") != nil {
			visit(goSpan(c, v))
			return nil
		}
		if v.Get("start_time") == nil {
			return c.Reject("not_spans", "expected spans or a span with start_time, got an object with the keys %q", keys(v))
		}
		list = []*decode.Value{v}
	}
	for i, x := range list {
		s := flatSpan(c, x)
		s.line = i
		visit(s)
	}
	return nil
}

func flatSpan(c *decode.Context, v *decode.Value) *span {
	ids := v
	if x := v.Get("context"); x != nil {
		ids = x
	}
	m := scratch(c)
	s := &span{name: decode.Text(v, "name"), kind: enum(v.Get("kind"), kindNames...),
		traceID: identifier(ids.Get("trace_id")), spanID: identifier(ids.Get("span_id")),
		parentID: identifier(either(v, "parent_span_id", "parent_id")), attrs: m.jsonAttrs(v.Get("attributes")),
		resource: m.jsonAttrs(either(v, "resource_attributes", "resource")), scope: decode.Text(v, "scope", "name")}
	if x := v.Get("resource", "attributes"); x != nil {
		s.resource = m.jsonAttrs(x)
	}
	s.start, s.naive = flatTime(c, v.Get("start_time"))
	s.end, _ = flatTime(c, v.Get("end_time"))
	s.setStatus(enum(either(v.Get("status"), "code", "status_code"), statusNames...),
		decode.Text(either(v.Get("status"), "message", "description")))
	for _, e := range v.Get("events").GetArray() {
		at, _ := flatTime(c, e.Get("timestamp"))
		s.events = append(s.events, event{name: decode.Text(e, "name"), at: at, attrs: m.jsonAttrs(e.Get("attributes"))})
	}
	return s
}

// goSpan reads a span as Go's stdouttrace writes it.
func goSpan(c *decode.Context, v *decode.Value) *span {
	s := &span{name: decode.Text(v, "Name"), kind: enum(v.Get("SpanKind"), kindNames...), traceID: identifier(v.Get("SpanContext", "TraceID")),
		spanID: identifier(v.Get("SpanContext", "SpanID")), parentID: identifier(v.Get("Parent", "SpanID")), attrs: goAttrs(v.Get("Attributes")),
		resource: goAttrs(v.Get("Resource")), attrsCut: dropped(v.Get("DroppedAttributes")), eventsCut: dropped(v.Get("DroppedEvents")),
		scope: firstOf(decode.Text(v, "InstrumentationScope", "Name"), decode.Text(v, "InstrumentationLibrary", "Name"))}
	s.start, s.naive = flatTime(c, v.Get("StartTime"))
	s.end, _ = flatTime(c, v.Get("EndTime"))
	s.setStatus(enum(v.Get("Status", "Code"), statusNames...), decode.Text(v, "Status", "Description"))
	for _, e := range v.Get("Events").GetArray() {
		at, _ := flatTime(c, e.Get("Time"))
		s.events = append(s.events, event{name: decode.Text(e, "Name"), at: at, attrs: goAttrs(e.Get("Attributes"))})
	}
	return s
}

func goAttrs(v *decode.Value) (a attrs) {
	for _, kv := range v.GetArray() {
		if x := kv.Get("Value", "Value"); x != nil {
			a.put(view(kv.GetStringBytes("Key")), x)
		}
	}
	return a
}

// flatTime reads a stamp of text as nanoseconds; 0 is unknown.
func flatTime(c *decode.Context, v *decode.Value) (ns int64, naive bool) {
	us, naive, err := decode.Time(decode.Text(v), c.Zone)
	if err != nil || us <= 0 || us > int64(1<<63-1)/int64(time.Microsecond) {
		return 0, false
	}
	return us * int64(time.Microsecond), naive
}
