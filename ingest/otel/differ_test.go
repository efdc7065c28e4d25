package otel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"reprise/ingest/decode"
)

// told is what a message tells, a line a fact, so that two readers can be compared.
type told []string

func (t *told) add(facts ...any) { *t = append(*t, fmt.Sprintf("%q", facts)) }

// theirs reads a message with the collector's library; nil when it refuses it.
func theirs(b []byte) *told {
	t := new(told)
	if traces, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(b); err == nil {
		for _, rs := range traces.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, x := range ss.Spans().All() {
					t.add("span", x.Name(), ss.Scope().Name(), x.TraceID().String(), x.SpanID().String(), x.ParentSpanID().String(), int(x.Kind()),
						max(0, int64(x.StartTimestamp())), max(0, int64(x.EndTimestamp())), x.Status().Code() == 1, x.Status().Code() == 2, x.Status().Message(),
						x.DroppedAttributesCount() > 0, x.DroppedEventsCount() > 0)
					t.theirs(rs.Resource().Attributes())
					t.theirs(x.Attributes())
					for _, e := range x.Events().All() {
						t.add("event", e.Name(), max(0, int64(e.Timestamp())))
						t.theirs(e.Attributes())
					}
				}
			}
		}
		return t
	}
	if logs, err := new(plog.ProtoUnmarshaler).UnmarshalLogs(b); err == nil && logs.LogRecordCount() > 0 {
		t.add("log records", logs.LogRecordCount())
		return t
	}
	metrics, err := new(pmetric.ProtoUnmarshaler).UnmarshalMetrics(b)
	if err != nil || metrics.MetricCount() == 0 {
		return nil
	}
	t.add("metrics", metrics.MetricCount())
	return t
}

func (t *told) theirs(m pcommon.Map) {
	for k, v := range m.All() {
		t.add(k, string(theirText(nil, v, v.Type() == pcommon.ValueTypeMap || v.Type() == pcommon.ValueTypeSlice)))
	}
}

// theirText is the text of a value, inside or as JSON.
func theirText(b []byte, v pcommon.Value, inside bool) []byte {
	switch v.Type() {
	case pcommon.ValueTypeSlice:
		b = append(b, '[')
		for i, x := range v.Slice().All() {
			b = theirText(comma(b, i), x, true)
		}
		return append(b, ']')
	case pcommon.ValueTypeMap:
		b = append(b, '{')
		i := 0
		for k, x := range v.Map().All() {
			b = theirText(append(appendQuoted(comma(b, i), []byte(k)), ':'), x, true)
			i++
		}
		return append(b, '}')
	case pcommon.ValueTypeStr, pcommon.ValueTypeBytes:
		if inside {
			return appendQuoted(b, []byte(v.AsString()))
		}
	case pcommon.ValueTypeEmpty:
		if inside {
			return append(b, "null"...)
		}
	}
	return append(b, v.AsString()...)
}

// ours reads a message as theirs does.
func ours(b []byte) *told {
	got, c := newRun(decode.Options{})
	t, logs := new(told), 0
	err := walkProto(c, b, func(s *span) {
		if s.isLog {
			logs++
			return
		}
		t.add("span", s.name, s.scope, s.traceID, s.spanID, s.parentID, s.kind, s.start, s.end, s.succeeded, s.failed, s.statusText, s.attrsCut, s.eventsCut)
		t.ours(s.resource)
		t.ours(s.attrs)
		for _, e := range s.events {
			t.add("event", e.name, e.at)
			t.ours(e.attrs)
		}
	})
	switch {
	case err != nil:
		return nil
	case got.skipped["log_record"]+logs > 0:
		t.add("log records", got.skipped["log_record"]+logs)
	case got.skipped["metric"] > 0:
		t.add("metrics", got.skipped["metric"])
	}
	return t
}

func (t *told) ours(a attrs) {
	for i := range a.list {
		t.add(a.list[i].name, a.list[i].raw())
	}
}

func differ(t *testing.T, b []byte) bool {
	t.Helper()
	a, o := theirs(b), ours(b)
	if (a == nil) == (o == nil) && (a == nil || slices.Equal(*a, *o)) {
		return false
	}
	t.Errorf("%x\n-pdata +ours\n%s", b, cmp.Diff(a, o))
	return true
}

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

func FuzzProtoAsPdata(f *testing.F) {
	traces, logs := allKinds(f)
	for _, b := range [][]byte{traces, logs, inSpan(0xa3, 1, 0xa4, 1, 0x30, 1), frames(f, "otelcol/traces.proto.gz")[0], readData(f, "otlp-http-proto/logs-002.pb")} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { differ(t, b) })
}
