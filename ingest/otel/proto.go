package otel

import (
	"encoding/hex"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"reprise/ingest/decode"
)

// walkProto visits the spans of one protobuf message (TracesData and ExportTraceServiceRequest are the same on the
// wire) and counts the records of a message of logs or metrics.
func walkProto(c *decode.Context, b []byte, visit func(*span)) error {
	if err := tracesForm.check(b, 0); err != nil {
		if others(c, b, visit) {
			return nil
		}
		return c.Reject("bad_proto", "expected an OTLP message of %d bytes: %v", len(b), err)
	}
	m, line := scratch(c), 0
	for rs := range parts(b, 1) {
		resource := m.protoResource(rs)
		for ss := range parts(rs, 2) {
			scope := protoScope(ss)
			for x := range parts(ss, 2) {
				s := m.protoSpan(x)
				s.resource, s.scope, s.line = resource, scope, line
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
	if logsForm.check(b, 0) == nil && protoLogs(c, b, visit) {
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

// protoResource reads the resource of a block. A message given twice is one with the fields of both.
func (m *memory) protoResource(block []byte) attrs {
	start := len(m.list)
	for r := range parts(block, 1) {
		for a := range parts(r, 1) {
			m.addProto(a)
		}
	}
	return m.since(start)
}

func protoScope(block []byte) (name string) {
	for s := range parts(block, 1) {
		for n := range parts(s, 1) {
			name = view(n)
		}
	}
	return name
}

func (m *memory) protoSpan(b []byte) *span {
	s, code, text, events, start := m.span(), 0, "", false, len(m.list)
	for w := (wire{rest: b}); w.next(); {
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
			m.addProto(w.data)
		case 10:
			s.attrsCut = uint32(w.n) > 0
		case 11:
			events = true
		case 12:
			s.eventsCut = uint32(w.n) > 0
		case 15:
			for st := (wire{rest: w.data}); st.next(); {
				switch st.number {
				case 2:
					text = view(st.data)
				case 3:
					code = int(int32(st.n))
				}
			}
		}
	}
	s.setStatus(code, text)
	s.coarse = s.start%1e6 == 0
	s.attrs = m.since(start)
	if events {
		for e := range parts(b, 11) {
			s.events = append(s.events, m.protoEvent(e))
		}
	}
	return s
}

func (m *memory) protoEvent(b []byte) event {
	var e event
	start := len(m.list)
	for w := (wire{rest: b}); w.next(); {
		switch w.number {
		case 1:
			e.at = stamp(w.n)
		case 2:
			e.name = view(w.data)
		case 3:
			m.addProto(w.data)
		}
	}
	e.attrs = m.since(start)
	return e
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

func (m *memory) addProto(keyAndValue []byte) {
	key, v := keyValue(keyAndValue)
	m.list = append(m.list, attr{view(key), value{proto: v}})
}

// since are the attributes added to the list from start on.
func (m *memory) since(start int) attrs { return attrs{list: m.list[start:len(m.list):len(m.list)]} }

func keyValue(b []byte) (key, value []byte) {
	if key, value, ok := usualKeyValue(b); ok {
		return key, value
	}
	for w := (wire{rest: b}); w.next(); {
		switch {
		case w.number == 1:
			key = w.data
		case w.number == 2 && value == nil:
			value = w.data
		case w.number == 2: // again: one message with the fields of both
			value = append(value, w.data...)
		}
	}
	return key, value
}
