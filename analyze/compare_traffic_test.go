package analyze

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/ingest/trace"
)

// traffic makes n streamed calls in sessions of four, 400 ms apart, of uneven lengths and waits. Microseconds that are
// changed by a factor stay whole: all are multiples of 100.
func traffic(n int) []trace.Request {
	r := rand.New(rand.NewPCG(1, 1))
	out := make([]trace.Request, n)
	for i := range out {
		tokens := int64(25 + r.IntN(40))
		first := 1000 * int64(100+r.IntN(400)+50*r.IntN(10)*r.IntN(10))
		gap := 1000 * int64(10+r.IntN(30))
		q := trace.Request{RequestID: fmt.Sprintf("q%04d", i), Attempt: 1, Vantage: trace.Replay, ClockDomain: trace.Wall,
			TimePrecision: 1, ErrorClass: trace.ClassOK, SourceFormat: "test", SourceLine: int64(i + 1),
			SessionID: fmt.Sprint("s", i/4), Stream: trace.Ptr(true), TTFTKind: trace.TTFTContent, FinishReason: "stop",
			Arrival: trace.Ptr(int64(1_700_000_000_000_000) + int64(i)*400_000 + int64(r.IntN(200_000))), FirstUS: &first,
			InputTokens: trace.Ptr(int64(100 + r.IntN(1000))), OutputTokens: &tokens, CachedInputTokens: trace.Ptr(int64(50)),
			GapsUS: []int32{int32(first)}}
		for range tokens - 1 {
			q.GapsUS = append(q.GapsUS, int32(gap))
		}
		settle(&q)
		out[i] = q
	}
	return out
}

// settle sets the end after the last chunk.
func settle(q *trace.Request) {
	sum := int64(0)
	for _, g := range q.GapsUS {
		sum += int64(g)
	}
	q.LastUS, q.EndUS = &sum, trace.Ptr(sum+500)
}

// changed copies the calls and applies f to each.
func changed(in []trace.Request, f func(i int, q *trace.Request)) []trace.Request {
	out := slices.Clone(in)
	for i := range out {
		out[i].GapsUS = slices.Clone(in[i].GapsUS)
		f(i, &out[i])
	}
	return out
}

// scale multiplies every time of the call.
func scale(num, den int64) func(int, *trace.Request) {
	return func(_ int, q *trace.Request) {
		for i, g := range q.GapsUS {
			q.GapsUS[i] = int32(int64(g) * num / den)
		}
		q.FirstUS = trace.Ptr(int64(q.GapsUS[0]))
		settle(q)
	}
}

func fail(q *trace.Request) {
	q.ErrorClass, q.FirstUS, q.LastUS, q.GapsUS, q.OutputTokens, q.TTFTKind = trace.ClassTimeout, nil, nil, nil, nil, ""
}

// trial loads runs with one engine.
type trial struct {
	*testing.T
	e     *Engine
	scope Scope
}

func newTrial(t *testing.T, slo string) trial {
	tr := trial{T: t, e: newEngine(t)}
	if slo != "" {
		var err error
		if tr.scope.SLO, err = ParseSLO(slo); err != nil {
			t.Fatal(err)
		}
	}
	return tr
}

// load stores the calls as ingest would and reads back what a comparison needs.
func (t trial) load(rows []trace.Request) *sideRows {
	t.Helper()
	s, err := t.e.side(context.Background(), writeRun(t, checked(rows)), t.scope)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (t trial) compare(base, cand *sideRows, o CompareOptions) *Comparison {
	t.Helper()
	o.Scope = t.scope
	if o.Margin == 0 {
		o.Margin = .10
	}
	c := compare(base, cand, o)
	if _, err := json.Marshal(c); err != nil { // NaN and Infinity have no JSON
		t.Fatal(err)
	}
	return c
}

// checked copies the calls as ingest would store them.
func checked(in []trace.Request) []trace.Request {
	return changed(in, func(_ int, q *trace.Request) { trace.Check(q) })
}

func close9(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

func hasWarning(c *Comparison, code string) bool {
	return slices.ContainsFunc(c.Warnings, func(w Warning) bool { return w.Code == code })
}

func absence(c *Comparison, metric string) string {
	for _, a := range c.Absent {
		if a.Metric == metric {
			return a.Reason
		}
	}
	return ""
}

func find(c *Comparison, metric string, p float64) Delta {
	for _, d := range c.Metrics {
		if d.Metric == metric && d.Quantile == p {
			return d
		}
	}
	return Delta{}
}

func writeReplay(t *testing.T, rows []trace.Request, report string) *Run {
	t.Helper()
	dir := t.TempDir()
	w, err := trace.NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if err := w.Add(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.Commit("part", map[string]string{"reprise.replay": report, "reprise.format": "x"}); err != nil {
		t.Fatal(err)
	}
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}
