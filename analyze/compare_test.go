package analyze

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestCompareWithItself(t *testing.T) {
	tr := newTrial(t, "ttft<=500ms,tpot<=30ms@99%")
	tr.scope.By = []string{"vantage"}
	for _, n := range []int{1, 3, 40, 400} {
		rows := traffic(n)
		if n > 1 {
			fail(&rows[1])
		}
		run := tr.load(rows)
		c := tr.compare(run, run, CompareOptions{})
		if c.Verdict != NonInferior || c.GateFailed || !c.Comparable || c.Pairs != n {
			t.Errorf("n=%d: verdict %s, gate failed %v, why not %q, %d pairs", n, c.Verdict, c.GateFailed, c.WhyNot, c.Pairs)
		}
		for _, d := range c.Metrics {
			if d.Diff != 0 || d.DiffCI != [2]float64{} || *d.Ratio != 1 || *d.CI != [2]float64{1, 1} || d.Verdict != NonInferior {
				t.Errorf("n=%d: %+v", n, d)
			}
		}
		if len(c.Metrics) != 15 || len(c.Absent) != 0 || len(c.LongGaps) != 4 {
			t.Errorf("n=%d: %d figures, %d counts, absent %v", n, len(c.Metrics), len(c.LongGaps), c.Absent)
		}
		if s := c.SLO; !cmp.Equal(s.Base, s.Cand) || s.Good.P != 1 || s.Good.Verdict != NonInferior || s.Requests != nil && s.Requests.Ratio != 1 {
			t.Errorf("n=%d: %+v", n, s)
		}
	}
}

func TestCompareShift(t *testing.T) {
	tr := newTrial(t, "")
	rows := traffic(400)
	later := changed(rows, func(_ int, q *trace.Request) {
		q.GapsUS[0] += 250_000
		q.FirstUS = trace.Ptr(*q.FirstUS + 250_000)
		settle(q)
	})
	c := tr.compare(tr.load(rows), tr.load(later), CompareOptions{})
	for _, d := range c.Metrics {
		want := map[string]float64{"ttft": 250, "e2e": 250}[d.Metric]
		if !close9(d.Diff, want) || !close9(d.DiffCI[0], want) || !close9(d.DiffCI[1], want) {
			t.Errorf("%s %v: diff %v %v, want %v", d.Metric, d.Quantile, d.Diff, d.DiffCI, want)
		}
	}
	if c.Verdict != Worse || !c.GateFailed {
		t.Errorf("verdict %s", c.Verdict)
	}
}

func close9(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

func TestCompareScale(t *testing.T) {
	tr, rows := newTrial(t, ""), traffic(400)
	base := tr.load(rows)
	for _, c := range []struct {
		num, den int64
		verdict  string
		margin   float64
	}{{6, 5, Worse, 0}, {21, 20, NonInferior, 0}, {21, 20, Worse, .02}, {4, 5, Better, 0}} {
		got := tr.compare(base, tr.load(changed(rows, scale(c.num, c.den))), CompareOptions{Margin: c.margin})
		want := float64(c.num) / float64(c.den)
		for _, d := range got.Metrics {
			if !close9(*d.Ratio, want) || !close9(d.CI[0], want) || !close9(d.CI[1], want) || d.Verdict != c.verdict {
				t.Errorf("x%v: %s %v: ratio %v %v, %s", want, d.Metric, d.Quantile, *d.Ratio, *d.CI, d.Verdict)
			}
		}
		if got.Verdict != c.verdict || got.GateFailed != (c.verdict == Worse) {
			t.Errorf("x%v margin %v: verdict %s, gate failed %v; want %s", want, c.margin, got.Verdict, got.GateFailed, c.verdict)
		}
	}
}

// RPT-05: a candidate that fails the ten slowest of a hundred must not win, and both tallies must show.
func TestCompareCandidateFailsTheSlowest(t *testing.T) {
	tr, rows := newTrial(t, ""), traffic(100)
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(*rows[b].EndUS - *rows[a].EndUS) })
	cand := changed(rows, func(i int, q *trace.Request) {
		if slices.Contains(order[:10], i) {
			fail(q)
		}
	})
	c := tr.compare(tr.load(rows), tr.load(cand), CompareOptions{})
	want := PairCounts{BothOK: 90, OKToNot: 10}
	if diff := cmp.Diff(want, c.Paired); diff != "" {
		t.Error(diff)
	}
	if c.Failures.Verdict != Worse || c.Failures.Gained != 10 || c.Verdict != Worse || !c.Comparable {
		t.Errorf("failures %+v, verdict %s", c.Failures, c.Verdict)
	}
	near := 2 * math.Pow(.5, 10) // McNemar: ten of ten
	if !close9(c.Failures.P, near) {
		t.Errorf("p %v, want %v", c.Failures.P, near)
	}
	for _, d := range c.Metrics {
		if d.Diff != 0 || d.N != 90 && d.Metric != "chunk_gap" {
			t.Errorf("%s: diff %v over %d pairs, want 0 over 90", d.Metric, d.Diff, d.N)
		}
	}
	if !hasWarning(c, "failures") || len(c.Turned) != 10 {
		t.Errorf("warnings %v, %d turned", c.Warnings, len(c.Turned))
	}
}

func hasWarning(c *Comparison, code string) bool {
	return slices.ContainsFunc(c.Warnings, func(w Warning) bool { return w.Code == code })
}

func TestNotComparable(t *testing.T) {
	tr, rows := newTrial(t, "ttft<=1s"), traffic(200)
	base := tr.load(changed(rows, func(_ int, q *trace.Request) { q.AddQuality(trace.QIDDerived) }))
	for _, c := range []struct {
		name string
		f    func(i int, q *trace.Request)
		why  string
	}{
		{"other ids", func(i int, q *trace.Request) { q.RequestID = "x" + q.RequestID }, "no request id"},
		{"twice as fast", func(i int, q *trace.Request) { q.Arrival = trace.Ptr(*q.Arrival / 2) }, "request rate"},
		{"in bursts", func(i int, q *trace.Request) { q.Arrival = trace.Ptr(*rows[i/20*20].Arrival + int64(i%20)) }, "arrivals differ"},
		{"other prompts", func(i int, q *trace.Request) { q.InputTokens = trace.Ptr(*q.InputTokens * 3 / 2) }, "1.500 times the input tokens"},
		{"lines of two files", func(i int, q *trace.Request) { q.InputTokens = nil; q.AddQuality(trace.QIDDerived) }, "place in a file"},
		{"prompts in another order", func(i int, q *trace.Request) { q.InputTokens = rows[len(rows)-1-i].InputTokens }, "same input tokens"},
	} {
		got := tr.compare(base, tr.load(changed(rows, c.f)), CompareOptions{})
		if got.Comparable || got.Verdict != NotComparable || !got.GateFailed || !strings.Contains(strings.Join(got.WhyNot, "\n"), c.why) {
			t.Errorf("%s: verdict %s, why not %q; want %q", c.name, got.Verdict, got.WhyNot, c.why)
		}
		if len(got.Metrics)+len(got.LongGaps)+len(got.Curves) != 0 || got.SLO != nil {
			t.Errorf("%s: figures in spite of another load", c.name)
		}
	}
}

// The pairs alone look alike, but the base run served as many calls again that the candidate never saw.
func TestUnpairedLoadIsSeen(t *testing.T) {
	tr, rows := newTrial(t, ""), traffic(300)
	base := tr.load(rows)
	some := func(keep func(int) bool) *sideRows {
		var out []trace.Request
		for i, q := range rows {
			if keep(i) {
				out = append(out, q)
			}
		}
		return tr.load(out)
	}
	c := tr.compare(base, some(func(i int) bool { return i%2 == 0 }), CompareOptions{})
	if c.Comparable || !strings.Contains(strings.Join(c.WhyNot, " "), "the base run served 299 requests in the time of the pairs, of which 150 are paired") {
		t.Errorf("every other call: %q", c.WhyNot)
	}
	c = tr.compare(base, some(func(i int) bool { return i < 150 }), CompareOptions{})
	if !c.Comparable || c.Pairs != 150 || c.Paired.BaseOnly != 150 {
		t.Errorf("first half: %q, %+v", c.WhyNot, c.Paired)
	}
	c = tr.compare(some(func(i int) bool { return i < 200 }), some(func(i int) bool { return i >= 100 }), CompareOptions{})
	if c.Comparable || !strings.Contains(c.WhyNot[0], "only 100 of the 200") {
		t.Errorf("half in common: %q", c.WhyNot)
	}
}

func TestCompareAnotherDay(t *testing.T) {
	rows := traffic(100)
	day := changed(rows, func(i int, q *trace.Request) { q.Arrival = trace.Ptr(*q.Arrival + 86_400_000_000 + int64(i%7)*1000) })
	from := *rows[20].Arrival
	c, err := Compare(context.Background(), newEngine(t), writeRun(t, checked(rows)), writeRun(t, checked(day)), CompareOptions{Scope: Scope{From: &from}})
	if err != nil {
		t.Fatal(err)
	}
	if !c.Comparable || c.Pairs != 80 || c.Verdict != NonInferior {
		t.Errorf("%s, %d pairs, %q; the range bounds the base run only", c.Verdict, c.Pairs, c.WhyNot)
	}
}

func TestWithheld(t *testing.T) {
	tr, rows := newTrial(t, "e2e<=3s@90%"), traffic(200)
	base := tr.load(rows)
	half := changed(rows, func(_ int, q *trace.Request) {
		n := len(q.GapsUS) / 2
		q.GapsUS, q.OutputTokens = q.GapsUS[:n], trace.Ptr(int64(n))
		settle(q)
	})
	c := tr.compare(base, tr.load(half), CompareOptions{})
	if why := absence(c, "e2e"); !strings.Contains(why, "times the output tokens") || !c.Comparable || c.SLO.Withheld != why {
		t.Errorf("e2e of shorter answers: %q, %q", why, c.WhyNot) // RPL-22
	}
	if find(c, "tpot", .5).Verdict != NonInferior || find(c, "ttft", .99).Diff != 0 || slices.Contains(c.Gate, "e2e_p50") {
		t.Errorf("tpot and ttft stay: gate %v", c.Gate)
	}
	c = tr.compare(base, tr.load(changed(rows, func(_ int, q *trace.Request) { q.TTFTKind = trace.TTFTBody })), CompareOptions{})
	if why := absence(c, "ttft"); !strings.Contains(why, trace.TTFTContent) || !strings.Contains(why, trace.TTFTBody) {
		t.Errorf("two meanings of first token: %q", why)
	}
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

func TestCompareWarns(t *testing.T) {
	tr, rows := newTrial(t, ""), traffic(120)
	base := tr.load(rows)
	plain := tr.compare(base, base, CompareOptions{})
	for code, f := range map[string]func(int, *trace.Request){
		"vantage":          func(_ int, q *trace.Request) { q.Vantage = trace.Gateway },                   // ANA-18
		"cache":            func(_ int, q *trace.Request) { q.CachedInputTokens = q.InputTokens },         // RPL-23
		"late_client":      func(i int, q *trace.Request) { q.SendLagUS = trace.Ptr(int64(i) * 100) },     // RPT-07
		"token_counts":     func(_ int, q *trace.Request) { q.AddQuality(trace.QTokensEstimated) },        // RPT-05
		"ids_repeat":       func(i int, q *trace.Request) { q.RequestID = fmt.Sprintf("q%04d", i-i/119) }, // the last two share one
		"arrivals_unknown": func(_ int, q *trace.Request) { q.Arrival = nil },
	} {
		c := tr.compare(base, tr.load(changed(rows, f)), CompareOptions{})
		if !hasWarning(c, code) || !c.Comparable {
			t.Errorf("%s: warnings %v, why not %q", code, c.Warnings, c.WhyNot)
		}
		if hasWarning(plain, code) {
			t.Errorf("%s: warned of a run compared with itself", code)
		}
	}
}

// ANA-03, RPT-03: what a log cannot tell is absent with a reason, never zero.
func TestCompareSilentLogs(t *testing.T) {
	tr, rows := newTrial(t, ""), traffic(200)
	endpoints := changed(rows, func(_ int, q *trace.Request) { q.GapsUS = nil })
	c := tr.compare(tr.load(rows), tr.load(endpoints), CompareOptions{})
	if why := absence(c, "chunk_gap"); why != "the candidate run does not speak of gaps: it has no chunk times" {
		t.Errorf("chunk gaps: %q", why)
	}
	if len(c.LongGaps) != 0 || absence(c, "max_gap") == "" || find(c, "ttft", .5).N != 200 {
		t.Errorf("gaps %v, absent %v", c.LongGaps, c.Absent)
	}
	unary := tr.load(changed(rows, func(_ int, q *trace.Request) {
		q.Stream, q.GapsUS, q.FirstUS, q.LastUS, q.TTFTKind = trace.Ptr(false), nil, nil, nil, ""
	}))
	c = tr.compare(unary, unary, CompareOptions{})
	if absence(c, "ttft") == "" || absence(c, "tpot") == "" || find(c, "e2e", .99).N != 200 || c.Verdict != NonInferior {
		t.Errorf("absent %v, verdict %s", c.Absent, c.Verdict)
	}
}

// EX-2.7 through the whole of it: twelve pairs turn bad, three turn good.
func TestCompareSLO(t *testing.T) {
	tr, rows := newTrial(t, "ttft<=500ms@95%"), traffic(200)
	to := func(q *trace.Request, first int32) {
		q.GapsUS[0] = first
		scale(1, 1)(0, q)
	}
	base := changed(rows, func(i int, q *trace.Request) {
		to(q, map[bool]int32{true: 900_000, false: 100_000}[i%50 == 0 || i%60 == 1 && i > 1])
	})
	cand := changed(base, func(i int, q *trace.Request) {
		switch {
		case i%60 == 1 && i > 1:
			to(q, 100_000)
		case i%16 == 7 && i < 192:
			to(q, 900_000)
		}
	})
	c := tr.compare(tr.load(base), tr.load(cand), CompareOptions{})
	s := c.SLO
	if s.Good.Lost != 12 || s.Good.Gained != 3 || !close9(s.Good.P, .03515625) || s.Good.N != 200 {
		t.Errorf("%+v", s.Good)
	}
	if s.Base.Good != 193 || s.Cand.Good != 184 || *s.Good.Diff >= 0 || s.Good.Verdict != Worse || c.Verdict != Worse {
		t.Errorf("good %d and %d, verdict %s, %s", s.Base.Good, s.Cand.Good, s.Good.Verdict, c.Verdict)
	}
	if s.Base.Met != "inconclusive" || s.Cand.Met != "fail" { // of 200, exact: pass up to 4 bad, fail from 16
		t.Errorf("objective: %s, %s", s.Base.Met, s.Cand.Met)
	}
	span := float64(*rows[199].Arrival-*rows[0].Arrival) / 1e6
	tokens := 0.0
	for i := range base {
		if base[i].GapsUS[0] == 100_000 {
			tokens += float64(*base[i].OutputTokens)
		}
	}
	if !close9(*s.Base.RequestsPS, 193/span) || !close9(*s.Base.TokensPS, tokens/span) || !close9(s.Requests.Ratio, 184./193) {
		t.Errorf("goodput %v req/s, %v tokens/s, ratio %v", *s.Base.RequestsPS, *s.Base.TokensPS, s.Requests)
	}
	if len(c.Turned) != 15 || c.Turned[0].To != "bad" || c.Turned[14].To != "good" || *c.Turned[0].Cand.TTFT != 900 {
		t.Errorf("turned %+v", c.Turned)
	}
}

// Long gaps can become rare while the usual ones grow: a percentile alone would hide one of the two.
func TestCompareLongGaps(t *testing.T) {
	tr := newTrial(t, "")
	rows := changed(traffic(200), func(i int, q *trace.Request) {
		if i%2 == 0 {
			q.GapsUS[5] = 300_000
			settle(q)
		}
	})
	cand := changed(rows, func(i int, q *trace.Request) {
		if q.GapsUS[5] == 300_000 && i > 10 {
			q.GapsUS[5], q.GapsUS[6] = 150_000, 150_000
		}
		settle(q)
	})
	c := tr.compare(tr.load(rows), tr.load(cand), CompareOptions{})
	want := map[float64][2]int{50: {100, 194}, 100: {100, 194}, 200: {100, 6}, 400: {0, 0}}
	verdicts := map[float64]string{50: Worse, 100: Worse, 200: Better, 400: NonInferior}
	for _, g := range c.LongGaps {
		if [2]int{g.Base, g.Cand} != want[g.Over] || g.Verdict != verdicts[g.Over] {
			t.Errorf("over %v ms: %+v, want %v %s", g.Over, g, want[g.Over], verdicts[g.Over])
		}
	}
	if g := c.LongGaps[2]; g.DiffCI[0] >= -94 || g.DiffCI[1] <= -94 || g.DiffCI[1] >= 0 {
		t.Errorf("interval %v around -94", g.DiffCI)
	}
}

func TestCompareGroupsAndSeed(t *testing.T) {
	tr := newTrial(t, "")
	tr.scope.By = []string{"tenant"}
	rows := changed(traffic(300), func(i int, q *trace.Request) { q.Tenant = []string{"a", "b", "b", "c"}[min(i%4, 3)] })
	rows = changed(rows, func(i int, q *trace.Request) {
		if i > 80 && q.Tenant == "c" {
			q.Tenant = "b"
		}
	})
	cand := changed(rows, func(i int, q *trace.Request) {
		if q.Tenant == "a" {
			scale(2, 1)(i, q)
		}
	})
	b, n := tr.load(rows), tr.load(cand)
	run := func(seed uint64) *Comparison { return tr.compare(b, n, CompareOptions{Seed: seed}) }
	c := run(1)
	if len(c.Groups) != 2 || c.Groups[0].Group != "b" || c.Groups[1].Group != "a" || !hasWarning(c, "groups") {
		t.Fatalf("groups %+v", c.Groups)
	}
	if a, b := c.Groups[1].Metrics[0], c.Groups[0].Metrics[0]; !close9(*a.Ratio, 2) || a.Verdict != Worse || *b.Ratio != 1 || *b.PAdj != 1 || *a.PAdj > .05 {
		t.Errorf("a %+v, b %+v", a, b)
	}
	if diff := cmp.Diff(c, run(1)); diff != "" {
		t.Error(diff)
	}
	if other := run(2); cmp.Equal(c.Metrics, other.Metrics) {
		t.Error("another seed, the same intervals")
	}
}

func TestComparisonJSON(t *testing.T) {
	tr := newTrial(t, "")
	run := tr.load(traffic(50))
	b, err := json.Marshal(tr.compare(run, run, CompareOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"base", "cand", "pairs", "fidelity", "metrics", "slo", "verdict", "comparable", "why_not"} {
		if _, ok := got[key]; !ok {
			t.Errorf("no key %q", key)
		}
	}
	var metrics []map[string]any
	if err := json.Unmarshal(got["metrics"], &metrics); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"metric", "quantile", "base", "cand", "ratio", "ci", "verdict"} {
		if _, ok := metrics[0][key]; !ok {
			t.Errorf("no key %q in a metric", key)
		}
	}
}

// Every stream merges chunks by its own pace, whatever streams stand beside it: metrics.md 0.1 in Go is the oracle.
func TestGapsOfManyStreams(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	rows := traffic(60)
	want := map[attemptKey][]float64{}
	for i := range rows {
		q := &rows[i]
		q.GapsUS = q.GapsUS[:2+r.IntN(20)]
		for j := range q.GapsUS[1:] {
			q.GapsUS[j+1] = int32(50 + r.IntN(4000))
		}
		settle(q)
		q.OutputTokens = trace.Ptr(int64(len(q.GapsUS)))
		pace := float64(*q.LastUS-int64(q.GapsUS[0])) / float64(len(q.GapsUS)-1)
		if g := merged(q.GapsUS[1:], min(1000, pace/5)); len(g) > 0 {
			want[attemptKey{q.RequestID, 1}] = g
		}
	}
	run := newTrial(t, "").load(rows)
	if diff := cmp.Diff(want, run.gaps, cmp.AllowUnexported(attemptKey{})); diff != "" {
		t.Error(diff)
	}
	for _, l := range run.rows {
		if g := want[l.attempt]; len(g) > 0 && *l.values[maxGap] != slices.Max(g) {
			t.Errorf("%s: longest gap %v, want %v", l.id, *l.values[maxGap], slices.Max(g))
		}
	}
}

// merged gives the gaps between groups of chunks; a chunk within limit of the first of a group belongs to it.
func merged(gaps []int32, limit float64) (out []float64) {
	at, first := 0.0, 0.0
	for _, g := range gaps {
		if at += float64(g); at-first > limit {
			out = append(out, at-first)
			first = at
		}
	}
	return out
}

// What a replay wrote about itself decides: RPT-07.
func TestReplaysThatCannotBeTrusted(t *testing.T) {
	tr, rows := newTrial(t, ""), checked(traffic(20))
	base := tr.load(rows)
	for _, c := range []struct{ report, why, warning string }{
		{`{"incomplete":"interrupted","fidelity":{"verdict":"DEGRADED","reasons":["20 of 90 requests were sent"]}}`, "the candidate run is incomplete: interrupted", ""},
		{`{"fidelity":{"verdict":"INVALID","reasons":["late by 80 ms","drift"]}}`, "the replay of the candidate run is invalid: late by 80 ms; drift", ""},
		{`{"fidelity":{"verdict":"DEGRADED","reasons":["late by 8 ms"]}}`, "", "degraded"},
		{`{"fidelity":{"verdict":"FAITHFUL","reasons":[]}}`, "", ""},
	} {
		cut, err := tr.e.side(context.Background(), writeReplay(t, rows, c.report), Scope{})
		if err != nil {
			t.Fatal(err)
		}
		got := tr.compare(base, cut, CompareOptions{})
		if why := strings.Join(got.WhyNot, "\n"); why != c.why || hasWarning(got, "degraded") != (c.warning != "") {
			t.Errorf("%s: why not %q, warnings %v", c.report, why, got.Warnings)
		}
	}
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
