package otel

import (
	"cmp"

	"reprise/ingest/decode"
)

// walkJSON visits the spans of one OTLP JSON record, in any of its dialects, and counts what is no span. The record is
// an export request, one of its resource blocks, Tempo's answer, or one bare span.
func walkJSON(c *decode.Context, v *decode.Value, visit func(*span)) error {
	if t := v.Get("trace"); either(t, "resourceSpans", "resource_spans") != nil { // Tempo, newer
		v = t
	}
	w := jsonWalker{c: c, m: scratch(c), visit: visit}
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
	m        *memory
	visit    func(*span)
	resource attrs
	scope    string
	line     int
}

// block visits one resource's spans.
func (w *jsonWalker) block(b *decode.Value) {
	w.resource = w.m.jsonAttrs(b.Get("resource", "attributes"))
	for _, s := range scopes(b, scopeSpanNames).GetArray() {
		scope := either(s, "scope", "instrumentationLibrary")
		if scope == nil {
			scope = s.Get("instrumentation_library")
		}
		w.scope = decode.View(scope, "name")
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

var spanKeys = decode.NewKeys("traceId", "trace_id", "spanId", "span_id", "parentSpanId", "parent_span_id", "name", "kind", "startTimeUnixNano",
	"start_time_unix_nano", "endTimeUnixNano", "end_time_unix_nano", "attributes", "droppedAttributesCount", "dropped_attributes_count",
	"droppedEventsCount", "dropped_events_count", "status", "events")

func (w *jsonWalker) span(v *decode.Value) {
	var traceID, trace, spanID, id, parentID, parent, name, kind, start, from, end, to, list, attrsCut, cut, eventsCut, lost, status, events *decode.Value
	v.Members(spanKeys, &traceID, &trace, &spanID, &id, &parentID, &parent, &name, &kind, &start, &from, &end, &to, &list, &attrsCut, &cut,
		&eventsCut, &lost, &status, &events)
	s := w.m.span()
	s.scope, s.resource, s.line, s.name = w.scope, w.resource, w.line, decode.View(name)
	s.late = late{true, cmp.Or(traceID, trace), cmp.Or(spanID, id), cmp.Or(parentID, parent), cmp.Or(start, from), cmp.Or(end, to)}
	s.kind = enum(kind, kindNames...)
	s.attrsCut, s.eventsCut = dropped(cmp.Or(attrsCut, cut)), dropped(cmp.Or(eventsCut, lost))
	s.attrs = w.m.jsonAttrs(list)
	w.line++
	s.setStatus(enum(status.Get("code"), statusNames...), decode.View(status, "message"))
	for _, e := range events.GetArray() {
		s.events = append(s.events, event{name: decode.View(e, "name"), at: nanos(either(e, "timeUnixNano", "time_unix_nano")),
			attrs: w.m.jsonAttrs(e.Get("attributes"))})
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
func (m *memory) jsonAttrs(v *decode.Value) attrs {
	start := len(m.list)
	for _, kv := range v.GetArray() {
		if key, x := m.pair.Of(kv); x != nil {
			m.list = append(m.list, attr{view(key.GetStringBytes()), value{json: x}})
		}
	}
	v.GetObject().Visit(func(k []byte, x *decode.Value) { m.list = append(m.list, attr{view(k), value{json: x}}) })
	return m.since(start)
}
