package otel

import (
	"reprise/ingest/decode"
)

// walkJSON visits the spans of one OTLP JSON record, in any of its dialects, and counts what is no span. The record is
// an export request, one of its resource blocks, Tempo's answer, or one bare span.
func walkJSON(c *decode.Context, v *decode.Value, visit func(*span)) error {
	if t := v.Get("trace"); either(t, "resourceSpans", "resource_spans") != nil { // Tempo, newer
		v = t
	}
	w := jsonWalker{c: c, visit: visit}
	blocks := either(v, "resourceSpans", "resource_spans")
	if blocks == nil {
		blocks = v.Get("batches") // Tempo
	}
	logs, metrics := either(v, "resourceLogs", "resource_logs"), either(v, "resourceMetrics", "resource_metrics")
	for _, b := range blocks.GetArray() {
		w.block(b)
	}
	w.logs(logs)
	w.metrics(metrics)
	switch {
	case blocks != nil || logs != nil || metrics != nil:
	case scopes(v, scopeSpanNames) != nil:
		w.block(v)
	case v.Get("attributes") != nil && v.Get("name") != nil:
		w.span(v)
	default:
		return c.Reject("not_otlp", "expected resourceSpans, got an object with the keys %q", keys(v))
	}
	return nil
}

// The scope level was called instrumentation library before 2022.
var (
	scopeSpanNames   = []string{"scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"}
	scopeLogNames    = []string{"scopeLogs", "scope_logs", "instrumentationLibraryLogs", "instrumentation_library_logs"}
	scopeMetricNames = []string{"scopeMetrics", "scope_metrics", "instrumentationLibraryMetrics", "instrumentation_library_metrics"}
)

func scopes(v *decode.Value, names []string) *decode.Value {
	for _, name := range names {
		if s := v.Get(name); s != nil {
			return s
		}
	}
	return nil
}

func either(v *decode.Value, name, other string) *decode.Value {
	if x := v.Get(name); x != nil {
		return x
	}
	return v.Get(other)
}

func keys(v *decode.Value) (names []string) {
	v.GetObject().Visit(func(k []byte, _ *decode.Value) {
		if len(names) < 8 {
			names = append(names, string(k[:min(len(k), 40)]))
		}
	})
	return names
}

type jsonWalker struct {
	c        *decode.Context
	visit    func(*span)
	resource attrs
	scope    string
	line     int
}

// block visits one resource's spans.
func (w *jsonWalker) block(b *decode.Value) {
	w.resource = jsonAttrs(b.Get("resource", "attributes"))
	for _, s := range scopes(b, scopeSpanNames).GetArray() {
		scope := either(s, "scope", "instrumentationLibrary")
		if scope == nil {
			scope = s.Get("instrumentation_library")
		}
		w.scope = decode.Text(scope, "name")
		for _, x := range s.Get("spans").GetArray() {
			w.span(x)
		}
	}
}

func (w *jsonWalker) metrics(blocks *decode.Value) {
	for _, b := range blocks.GetArray() {
		for _, s := range scopes(b, scopeMetricNames).GetArray() {
			for range s.Get("metrics").GetArray() {
				w.c.Skip("metric")
			}
		}
	}
}

func (w *jsonWalker) span(v *decode.Value) {
	s := &span{scope: w.scope, resource: w.resource, line: w.line, name: decode.Text(v, "name"),
		traceID: identifier(either(v, "traceId", "trace_id")), spanID: identifier(either(v, "spanId", "span_id")),
		parentID: identifier(either(v, "parentSpanId", "parent_span_id")), kind: enum(v.Get("kind"), kindNames...),
		start: nanos(either(v, "startTimeUnixNano", "start_time_unix_nano")),
		end:   nanos(either(v, "endTimeUnixNano", "end_time_unix_nano")), attrs: jsonAttrs(v.Get("attributes")),
		attrsCut:  dropped(either(v, "droppedAttributesCount", "dropped_attributes_count")),
		eventsCut: dropped(either(v, "droppedEventsCount", "dropped_events_count"))}
	w.line++
	s.coarse = s.start%1e6 == 0
	s.setStatus(enum(v.Get("status", "code"), statusNames...), decode.Text(v, "status", "message"))
	for _, e := range v.Get("events").GetArray() {
		s.events = append(s.events, event{name: decode.Text(e, "name"), at: nanos(either(e, "timeUnixNano", "time_unix_nano")),
			attrs: jsonAttrs(e.Get("attributes"))})
	}
	w.visit(s)
}

var (
	kindNames   = []string{"unspecified", "internal", "server", "client", "producer", "consumer"}
	statusNames = []string{"unset", "ok", "error"}
)

func (s *span) setStatus(code int, text string) {
	s.succeeded, s.failed, s.statusText = code == 1, code == 2, text
}

func dropped(v *decode.Value) bool {
	n := integer(v)
	return n != nil && *n > 0
}

// jsonAttrs reads attributes given as a list of key and value, or as a map.
func jsonAttrs(v *decode.Value) attrs {
	if v == nil {
		return nil
	}
	list := v.GetArray()
	a := make(attrs, len(list))
	for _, kv := range list {
		if x := kv.Get("value"); x != nil {
			a.put(kv.GetStringBytes("key"), x)
		}
	}
	v.GetObject().Visit(func(k []byte, x *decode.Value) { a.put(k, x) })
	return a
}

func (a attrs) put(name []byte, v *decode.Value) {
	if _, twice := a[string(name)]; !twice {
		a[string(name)] = value{json: v}
	}
}
