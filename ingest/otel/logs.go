package otel

import (
	"go.opentelemetry.io/collector/pdata/plog"

	"reprise/ingest/decode"
)

// operationDetails is the one event that tells of a whole call (1.37). The others (gen_ai.user.message, gen_ai.choice)
// are one message each, without a model, a time or a count: they belong to a span.
const operationDetails = "gen_ai.client.inference.operation.details"

// logSpan is the span that such an event stands for. Its stamp is when the event was written, after the call, so the
// times of the call are unknown.
func logSpan(name string, a attrs) (*span, bool) {
	if firstOf(name, a.text("event.name")) != operationDetails {
		return nil, false
	}
	return &span{name: operationDetails, attrs: a, isLog: true}, true
}

// logs visits the calls among the log records of a JSON record and counts the others.
func (w *jsonWalker) logs(blocks *decode.Value) {
	for _, b := range blocks.GetArray() {
		resource := jsonAttrs(b.Get("resource", "attributes"))
		for _, l := range scopes(b, scopeLogNames).GetArray() {
			for _, x := range either(l, "logRecords", "log_records").GetArray() {
				s, ok := logSpan(decode.Text(either(x, "eventName", "event_name")), jsonAttrs(x.Get("attributes")))
				if !ok {
					w.c.Skip("log_record")
					continue
				}
				s.resource, s.scope, s.line = resource, decode.Text(l, "scope", "name"), w.line
				s.traceID, s.spanID = identifier(either(x, "traceId", "trace_id")), identifier(either(x, "spanId", "span_id"))
				w.line++
				w.visit(s)
			}
		}
	}
}

// protoLogs does the same with a protobuf message.
func protoLogs(c *decode.Context, logs plog.Logs, visit func(*span)) {
	line := 0
	for _, rl := range logs.ResourceLogs().All() {
		resource := protoAttrs(rl.Resource().Attributes())
		for _, sl := range rl.ScopeLogs().All() {
			for _, x := range sl.LogRecords().All() {
				s, ok := logSpan(x.EventName(), protoAttrs(x.Attributes()))
				if !ok {
					c.Skip("log_record")
					continue
				}
				s.resource, s.scope, s.line = resource, sl.Scope().Name(), line
				s.traceID, s.spanID = normalID(x.TraceID().String()), normalID(x.SpanID().String())
				line++
				visit(s)
			}
		}
	}
}
