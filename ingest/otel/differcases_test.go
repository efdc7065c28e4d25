package otel

import (
	"math"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// allKinds is a message with every field that a span, a log record and a value may have.
func allKinds(t testing.TB) (traces, logs []byte) {
	fill := func(m pcommon.Map) {
		m.PutStr("text", "a\xff\"\x01é")
		m.PutInt("int", math.MinInt64)
		m.PutInt("small", 300)
		for name, f := range map[string]float64{"a": 0, "b": 1e-7, "c": -1.5e21, "d": math.NaN(), "e": math.Inf(-1), "f": 0.1, "g": math.Copysign(0, -1)} {
			m.PutDouble(name, f)
		}
		m.PutBool("bool", true)
		m.PutEmpty("none")
		m.PutEmptyBytes("bytes").FromRaw([]byte{0, 1, 255})
		list := m.PutEmptyMap("map").PutEmptySlice("list")
		list.AppendEmpty().SetStr("x")
		list.AppendEmpty().SetDouble(2.5)
		list.AppendEmpty().SetEmptyMap().PutEmpty("deep")
		list.AppendEmpty().SetEmptyBytes().Append(7)
	}
	x := ptrace.NewTraces()
	rs := x.ResourceSpans().AppendEmpty()
	fill(rs.Resource().Attributes())
	rs.Resource().SetDroppedAttributesCount(2)
	rs.SetSchemaUrl("u")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("scope")
	ss.Scope().SetVersion("1")
	fill(ss.Scope().Attributes())
	for i := range byte(2) {
		s := ss.Spans().AppendEmpty()
		s.SetName("chat")
		s.SetTraceID(pcommon.TraceID{15: i})
		s.SetSpanID(pcommon.SpanID{1, 7: i})
		s.SetParentSpanID(pcommon.SpanID{2})
		s.TraceState().FromRaw("a=b")
		s.SetFlags(256)
		s.SetKind(ptrace.SpanKindClient)
		s.SetStartTimestamp(1 << 60)
		s.SetEndTimestamp(1 << 63)
		fill(s.Attributes())
		s.SetDroppedAttributesCount(1)
		s.SetDroppedEventsCount(1)
		s.Status().SetCode(ptrace.StatusCodeError)
		s.Status().SetMessage("m")
		e := s.Events().AppendEmpty()
		e.SetName("e")
		e.SetTimestamp(5)
		fill(e.Attributes())
		l := s.Links().AppendEmpty()
		l.SetTraceID(pcommon.TraceID{1})
		fill(l.Attributes())
	}
	traces, err := new(ptrace.ProtoMarshaler).MarshalTraces(x)
	if err != nil {
		t.Fatal(err)
	}
	y := plog.NewLogs()
	r := y.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	r.SetEventName(operationDetails)
	r.SetTimestamp(7)
	r.SetTraceID(pcommon.TraceID{3})
	r.Body().SetEmptyMap().PutStr("a", "b")
	fill(r.Attributes())
	if logs, err = new(plog.ProtoMarshaler).MarshalLogs(y); err != nil {
		t.Fatal(err)
	}
	return traces, logs
}

// Each byte of two messages in turn is changed, and each message is cut there: what pdata refuses is refused, what it
// reads is read alike.
func TestProtoAsPdata(t *testing.T) {
	read, refused := 0, 0
	traces, logs := allKinds(t)
	for _, whole := range [][]byte{traces, logs, readData(t, "otlp-http-proto/vllm.pb")} {
		if differ(t, whole) {
			return
		}
		for i := range whole {
			b := append([]byte(nil), whole...)
			b[i] ^= []byte{1, 2, 4, 8, 0x80, 0x83, 0xff}[i%7]
			if differ(t, b) || differ(t, b[:i]) {
				return
			}
			if ours(b) == nil {
				refused++
			} else {
				read++
			}
		}
	}
	if read < 1000 || refused < 1000 {
		t.Errorf("%d read, %d refused: the changes do not try both", read, refused)
	}
}

// nest puts a message into a field of another.
func nest(number byte, b ...byte) []byte {
	head := []byte{number<<3 | byte(delimited)}
	for n := len(b); ; n >>= 7 {
		if n < 0x80 {
			return append(append(head, byte(n)), b...)
		}
		head = append(head, byte(n)|0x80)
	}
}

// inSpan is a message with one span of these fields.
func inSpan(fields ...byte) []byte { return nest(1, nest(2, nest(2, fields...)...)...) }

func TestProtoOddities(t *testing.T) {
	join := func(parts ...[]byte) (all []byte) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	text := nest(1, 'x')
	for name, b := range map[string][]byte{
		"empty":                      {},
		"empty group, then a field":  inSpan(0xa3, 1, 0xa4, 1, 0x30, 1),
		"empty group at the end":     inSpan(0xa3, 1, 0xa4, 1),
		"group with a field":         inSpan(0xa3, 1, 0x08, 1, 0xa4, 1, 0x30, 1),
		"group not closed":           inSpan(0xa3, 1, 0x08, 1),
		"group in a group":           inSpan(0xa3, 1, 0xab, 1, 0xac, 1, 0xa4, 1, 0x30, 1),
		"group in place of a name":   inSpan(0x2b, 0x2c, 0x30, 1),
		"end of no group":            inSpan(0xa4, 1, 0x30, 1),
		"field 0":                    inSpan(0x02, 0),
		"wire type 6":                inSpan(0xa6, 1, 0),
		"unknown fields":             inSpan(join([]byte{0xa0, 1, 5, 0xa5, 1, 1, 2, 3, 4, 0xa1, 1, 1, 2, 3, 4, 5, 6, 7, 8}, nest(20, 1), nest(5, 'n'))...),
		"varint of ten bytes":        inSpan(0x30, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f),
		"varint of eleven bytes":     inSpan(0x30, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01),
		"name in a long writing":     inSpan(0xaa, 0x80, 0x00, 0x81, 0x80, 0x00, 'n'),
		"length beyond 63 bits":      inSpan(0x2a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
		"field number beyond 31 bit": inSpan(0xaa, 0x80, 0x80, 0x80, 0x80, 0x01, 1, 'n'),
		"id of 15 bytes":             inSpan(nest(1, make([]byte, 15)...)...),
		"empty id after one":         inSpan(join(nest(2, 1, 2, 3, 4, 5, 6, 7, 8), nest(2))...),
		"name twice":                 inSpan(join(nest(5, 'a'), nest(5, 'b'))...),
		"key twice":                  inSpan(nest(9, join(nest(1, 'a'), nest(1, 'b'), nest(2, text...))...)...),
		"value twice":                inSpan(nest(9, join(nest(1, 'a'), nest(2, text...), nest(2, 0x18, 7), nest(2))...)...),
		"value of an index":          inSpan(nest(9, join(nest(1, 'a'), nest(2, join(text, []byte{0x40, 7})...))...)...),
		"no value":                   inSpan(nest(9, nest(1, 'a')...)...),
		"no key":                     inSpan(nest(9, nest(2, text...)...)...),
		"attribute twice":            inSpan(join(nest(9, join(nest(1, 'a'), nest(2, text...))...), nest(9, nest(1, 'a')...))...),
		"attributes around an event": inSpan(join(nest(9, nest(1, 'a')...), nest(11, nest(3, nest(1, 'b')...)...), nest(9, nest(1, 'c')...))...),
		"status twice":               inSpan(join(nest(15, 0x18, 2), nest(15, nest(2, 'm')...))...),
		"resource behind its spans":  nest(1, join(nest(2, nest(2, nest(5, 'n')...)...), nest(1, nest(1, nest(1, 'a')...)...), nest(1, nest(1, nest(1, 'b')...)...))...),
		"scope behind its spans":     nest(1, nest(2, join(nest(2, nest(5, 'n')...), nest(1, nest(1, 's')...))...)...),
		"bad scope behind spans":     nest(1, nest(2, join(nest(2, nest(5, 'n')...), nest(1, nest(3, 1)...))...)...),
		"scopes of before 2022":      nest(1, join([]byte{0xc2, 0x3e}, nest(2, nest(5, 'n')...)[1:])...),
		"bad scopes of before 2022":  nest(1, append([]byte{0xc2, 0x3e, 2}, nest(2, 1)[:2]...)...),
		"entity":                     nest(1, nest(1, nest(3, nest(1, 'u')...)...)...),
		"bad entity":                 nest(1, nest(1, nest(3, 0x08, 1)...)...),
		"bad link":                   inSpan(nest(13, nest(1, 1)...)...),
		"bad status":                 inSpan(nest(15, nest(3, 1)...)...),
	} {
		if differ(t, b) {
			t.Errorf("%s", name)
		}
	}
	for depth := 40; depth <= 60; depth++ { // a list in a list, and a map in a map: two messages a level
		list, object := text, text
		for range depth {
			list, object = nest(5, nest(1, list...)...), nest(6, nest(1, nest(2, object...)...)...)
		}
		if differ(t, inSpan(nest(9, nest(2, list...)...)...)) || differ(t, inSpan(nest(9, nest(2, object...)...)...)) {
			t.Errorf("depth %d", depth)
		}
	}
	if ours(inSpan(0x30, 1)) == nil || ours(inSpan(0xa4, 1)) != nil {
		t.Error("nothing is read, or nothing refused")
	}
}
