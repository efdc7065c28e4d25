package otel

import (
	"fmt"
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

func FuzzProtoAsPdata(f *testing.F) {
	traces, logs := allKinds(f)
	for _, b := range [][]byte{traces, logs, inSpan(0xa3, 1, 0xa4, 1, 0x30, 1), frames(f, "otelcol/traces.proto.gz")[0], readData(f, "otlp-http-proto/logs-002.pb")} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { differ(t, b) })
}
