package otel

import "reprise/ingest/decode"

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
		resource := w.m.jsonAttrs(b.Get("resource", "attributes"))
		for _, l := range scopes(b, scopeLogNames).GetArray() {
			for _, x := range either(l, "logRecords", "log_records").GetArray() {
				s, ok := logSpan(decode.View(either(x, "eventName", "event_name")), w.m.jsonAttrs(x.Get("attributes")))
				if !ok {
					w.c.Skip("log_record")
					continue
				}
				s.resource, s.scope, s.line = resource, decode.View(l, "scope", "name"), w.line
				s.traceID, s.spanID = identifier(either(x, "traceId", "trace_id")), identifier(either(x, "spanId", "span_id"))
				w.line++
				w.visit(s)
			}
		}
	}
}

// protoLogs does the same with a protobuf message; false when it is none of logs, or holds no log record.
func protoLogs(c *decode.Context, b []byte, visit func(*span)) bool {
	others := 0
	m := scratch(c)
	w := protoWalker{memory: m, forms: &logsForms}
	w.record = func(b []byte) error {
		s, ok, err := m.protoLog(b)
		if ok {
			w.take(s)
		} else {
			others++
		}
		return err
	}
	if w.export(b) != nil {
		return false
	}
	for range others {
		c.Skip("log_record")
	}
	for _, s := range w.found {
		visit(s)
	}
	return others+len(w.found) > 0
}

func (m *memory) protoLog(b []byte) (*span, bool, error) {
	var name, traceID, spanID string
	w, start := wire{rest: b, form: logsForms.record}, len(m.list)
	for w.next() {
		switch w.number {
		case 5:
			w.note(w.part().of.check(w.data, 0))
		case 6:
			w.note(m.addProto(w.data))
		case 9:
			traceID = m.id(w.data)
		case 10:
			spanID = m.id(w.data)
		case 12:
			name = view(w.data)
		}
	}
	s, ok := logSpan(name, m.since(start))
	if ok {
		s.traceID, s.spanID = traceID, spanID
	}
	return s, ok, w.err
}
