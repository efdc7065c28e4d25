package otel

import (
	"bytes"

	"reprise/ingest/decode"
)

// detectJSON counts the levels of the envelope that are there: the block, the scope, the record's own names.
func detectJSON(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		best = max(best, envelope(v))
	}
	return best
}

func envelope(v *decode.Value) int {
	if t := v.Get("trace"); either(t, "resourceSpans", "resource_spans") != nil {
		v = t
	}
	for _, level := range []struct {
		blocks         []string
		scopes         []string
		records, stamp []string
	}{
		{[]string{"resourceSpans", "resource_spans", "batches"}, scopeSpanNames, []string{"spans"}, []string{"traceId", "trace_id"}},
		{[]string{"resourceLogs", "resource_logs"}, scopeLogNames, []string{"logRecords", "log_records"}, []string{"timeUnixNano", "body"}},
		{[]string{"resourceMetrics", "resource_metrics"}, scopeMetricNames, []string{"metrics"}, []string{"name"}},
	} {
		blocks := scopes(v, level.blocks)
		if blocks == nil {
			continue
		}
		scope := scopes(blocks.Get("0"), level.scopes).Get("0")
		record := scopes(scope, level.records).Get("0")
		return 1 + decode.One(scope != nil) + decode.One(record != nil) + decode.One(scopes(record, level.stamp) != nil)
	}
	if scopes(v, scopeSpanNames) != nil {
		return 1 + decode.One(v.Get("resource") != nil)
	}
	return bareSpan(v)
}

// bareSpan: a span as protobuf's JSON writes it, without an envelope.
func bareSpan(v *decode.Value) int {
	if v.Get("attributes", "0", "key") == nil || v.Get("name") == nil {
		return 0
	}
	return 1 + decode.One(bytes.HasPrefix(v.GetStringBytes("kind"), []byte("SPAN_KIND"))) +
		decode.One(either(v, "startTimeUnixNano", "start_time_unix_nano") != nil) + decode.One(either(v, "traceId", "trace_id") != nil)
}

// detectProto parses the first message. One that is longer than the sample does not parse: then the nesting of its
// first bytes and the names that most spans hold are the signs.
func detectProto(s *decode.Sample) int {
	if len(s.Message) == 0 {
		return 0
	}
	c := decode.NewContext(decode.Options{}, "", nil, func(string, int64) {})
	w := protoWalker{memory: scratch(c), forms: &tracesForms}
	w.record = func([]byte) error {
		w.take(new(span))
		return nil
	}
	if tracesForms.export.check(s.Message, 0) == nil && w.export(s.Message) == nil && len(w.found) > 0 {
		return 3
	}
	if others(c, s.Message, func(*span) {}) {
		return 2
	}
	if !nested(s.Message) {
		return 0
	}
	return 1 + decode.One(bytes.Contains(s.Message, []byte("gen_ai.")) || bytes.Contains(s.Message, []byte("service.name")))
}

// nested: a message in field 1, and in it messages whose fields are 1 to 3 (resource, scopes, schema), in any order.
func nested(b []byte) bool {
	for depth := range 3 {
		if len(b) < 2 || b[0] != 0x0a && (depth == 0 || b[0] != 0x12 && b[0] != 0x1a) {
			return false
		}
		for b = b[1:]; len(b) > 1 && b[0] >= 0x80; { // length
			b = b[1:]
		}
		b = b[1:]
	}
	return true
}

// detectFlat: text times beside a map of attributes.
func detectFlat(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		if v.Get("SpanContext", "TraceID") != nil && v.Get("Name") != nil {
			best = max(best, 2+decode.One(v.Get("StartTime") != nil))
			continue
		}
		signs := 0
		if first := v.Get("spans", "0"); first != nil {
			v, signs = first, 1
		}
		if v.Get("start_time").GetStringBytes() == nil || v.Get("attributes").GetObject() == nil {
			continue
		}
		signs += 1 + decode.One(v.Get("span_id") != nil || v.Get("context", "span_id") != nil) + decode.One(v.Get("end_time") != nil)
		best = max(best, signs)
	}
	return best
}
