package otel

import (
	"encoding/hex"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"reprise/ingest/decode"
)

// walkProto visits the spans of one protobuf message (TracesData and ExportTraceServiceRequest are the same on the
// wire) and counts the records of a message of logs or metrics. Nothing of a message is visited unless all of it is well
// formed.
func walkProto(c *decode.Context, b []byte, visit func(*span)) error {
	m := scratch(c)
	w := protoWalker{memory: m, forms: &tracesForms}
	w.record = func(b []byte) error {
		s, err := m.protoSpan(b)
		w.take(s)
		return err
	}
	if err := w.export(b); err != nil {
		if others(c, b, visit) {
			return nil
		}
		return c.Reject("bad_proto", "expected an OTLP message of %d bytes: %v", len(b), err)
	}
	for _, s := range w.found {
		visit(s)
	}
	return nil
}

// others tries the other two signals: their records have other wire types where a span has its id, so a message of one
// does not parse as another.
func others(c *decode.Context, b []byte, visit func(*span)) bool {
	if protoLogs(c, b, visit) {
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

// protoWalker reads a message of spans or log records.
type protoWalker struct {
	*memory
	*forms
	record   func([]byte) error
	resource attrs
	scope    string
	found    []*span
}

func (w *protoWalker) take(s *span) {
	s.resource, s.scope, s.line = w.resource, w.scope, len(w.found)
	w.found = append(w.found, s)
}

func (w *protoWalker) export(b []byte) error {
	f := wire{rest: b, form: w.forms.export}
	for f.next() {
		if f.number == 1 {
			f.note(w.block(f.data))
		}
	}
	return f.err
}

// block reads one resource and its records. A message given twice, such as the resource, is one with the fields of both.
func (w *protoWalker) block(b []byte) error {
	f, start := wire{rest: b, form: w.forms.block}, len(w.list)
	for f.next() {
		switch f.number {
		case 1:
			f.note(w.addResource(f.data))
		case 1000:
			f.note(w.forms.scope.check(f.data, 0))
		}
	}
	w.resource = w.since(start)
	f.rest = b
	for f.err == nil && f.next() {
		if f.number == 2 {
			f.note(w.records(f.data))
		}
	}
	return f.err
}

func (w *protoWalker) addResource(b []byte) error {
	f := wire{rest: b, form: w.forms.resource}
	for f.next() {
		switch f.number {
		case 1:
			f.note(w.addProto(f.data))
		case 3:
			f.note(f.part().of.check(f.data, 0))
		}
	}
	return f.err
}

// records reads the records of one scope.
func (w *protoWalker) records(b []byte) error {
	f := wire{rest: b, form: w.forms.scope}
	w.scope = ""
	for f.next() {
		if f.number == 1 {
			f.note(w.forms.name.check(f.data, 0))
			for name := range parts(f.data, 1) {
				w.scope = view(name)
			}
		}
	}
	f.rest = b
	for f.err == nil && f.next() {
		if f.number == 2 {
			f.note(w.record(f.data))
		}
	}
	return f.err
}

func (m *memory) protoSpan(b []byte) (*span, error) {
	s, code, text, events, start := m.span(), 0, "", false, len(m.list)
	w := wire{rest: b, form: tracesForms.record}
	for w.next() {
		switch w.number {
		case 1:
			s.traceID = m.id(w.data)
		case 2:
			s.spanID = m.id(w.data)
		case 4:
			s.parentID = m.id(w.data)
		case 5:
			s.name = view(w.data)
		case 6:
			s.kind = int(int32(w.n))
		case 7:
			s.start = stamp(w.n)
		case 8:
			s.end = stamp(w.n)
		case 9:
			w.note(m.addProto(w.data))
		case 10:
			s.attrsCut = uint32(w.n) > 0
		case 11:
			events = true
		case 12:
			s.eventsCut = uint32(w.n) > 0
		case 13:
			w.note(tracesForms.link.check(w.data, 0))
		case 15:
			st := wire{rest: w.data, form: tracesForms.status}
			for st.next() {
				switch st.number {
				case 2:
					text = view(st.data)
				case 3:
					code = int(int32(st.n))
				}
			}
			w.note(st.err)
		}
	}
	s.setStatus(code, text)
	s.coarse = s.start%1e6 == 0
	s.attrs = m.since(start)
	if events && w.err == nil {
		for e := range parts(b, 11) {
			w.note(m.addEvent(s, e))
		}
	}
	return s, w.err
}

func (m *memory) addEvent(s *span, b []byte) error {
	e, start := event{}, len(m.list)
	w := wire{rest: b, form: tracesForms.event}
	for w.next() {
		switch w.number {
		case 1:
			e.at = stamp(w.n)
		case 2:
			e.name = view(w.data)
		case 3:
			w.note(m.addProto(w.data))
		}
	}
	e.attrs = m.since(start)
	s.events = append(s.events, e)
	return w.err
}

// id writes an id as hex digits; "" for none or zeros.
func (m *memory) id(b []byte) string {
	for _, c := range b {
		if c != 0 {
			n := len(m.text)
			m.text = hex.AppendEncode(m.text, b)
			return view(m.text[n:])
		}
	}
	return ""
}

// stamp is 0, unknown, beyond the year 2262.
func stamp(n uint64) int64 { return max(0, int64(n)) }
