package otel

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"reprise/ingest/decode"
)

// walkProto visits the spans of one protobuf message (TracesData and ExportTraceServiceRequest are the same on the
// wire) and counts the records of a message of logs or metrics.
func walkProto(c *decode.Context, b []byte, visit func(*span)) error {
	traces, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(b)
	if err != nil {
		if others(c, b, visit) {
			return nil
		}
		return c.Reject("bad_proto", "expected an OTLP message of %d bytes: %v", len(b), err)
	}
	line := 0
	for _, rs := range traces.ResourceSpans().All() {
		resource := protoAttrs(rs.Resource().Attributes())
		for _, ss := range rs.ScopeSpans().All() {
			for _, x := range ss.Spans().All() {
				s := protoSpan(x)
				s.resource, s.scope, s.line = resource, ss.Scope().Name(), line
				line++
				visit(s)
			}
		}
	}
	return nil
}

// others tries the other two signals: their records have other wire types where a span has its id, so a message of one
// does not parse as another.
func others(c *decode.Context, b []byte, visit func(*span)) bool {
	if logs, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(b); err == nil && logs.LogRecordCount() > 0 {
		protoLogs(c, logs, visit)
		return true
	}
	metrics, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(b)
	if err != nil {
		return false
	}
	for range metrics.MetricCount() {
		c.Skip("metric")
	}
	return metrics.MetricCount() > 0
}

func protoSpan(x ptrace.Span) *span {
	s := &span{name: x.Name(), traceID: normalID(x.TraceID().String()), spanID: normalID(x.SpanID().String()),
		parentID: normalID(x.ParentSpanID().String()), kind: int(x.Kind()), start: stamp(x.StartTimestamp()), end: stamp(x.EndTimestamp()),
		attrs: protoAttrs(x.Attributes()), attrsCut: x.DroppedAttributesCount() > 0, eventsCut: x.DroppedEventsCount() > 0}
	s.coarse = s.start%1e6 == 0
	s.setStatus(int(x.Status().Code()), x.Status().Message())
	for _, e := range x.Events().All() {
		s.events = append(s.events, event{name: e.Name(), at: stamp(e.Timestamp()), attrs: protoAttrs(e.Attributes())})
	}
	return s
}

// stamp is 0, unknown, beyond the year 2262.
func stamp(t pcommon.Timestamp) int64 { return max(0, int64(t)) }

func protoAttrs(m pcommon.Map) attrs {
	a := make(attrs, m.Len())
	for k, v := range m.All() {
		if !a.has(k) {
			a[k] = value{proto: v}
		}
	}
	return a
}
