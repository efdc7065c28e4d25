package analyze

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

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

// An id that stands for three calls is one id, and is in both runs. Where the candidate does not tell its tokens, nobody knows how many good ones came.
func TestCompareUntold(t *testing.T) {
	tr, rows := newTrial(t, "ttft<=500ms@95%"), traffic(60)
	again := slices.Clone(rows)
	for i := range 2 {
		q := rows[0]
		q.Arrival, q.SourceLine = new(*q.Arrival+int64(i)+1), int64(1000+i)
		again = append(again, q)
	}
	cand := changed(rows, func(_ int, q *trace.Request) { q.OutputTokens, q.ReasoningTokens, q.ChunkTokens = nil, nil, nil })
	c := tr.compare(tr.load(again), tr.load(cand), CompareOptions{})
	if b := c.Sides["base"]; b.Copied != 1 || b.Requests != 62 || c.Pairs != 59 || c.Paired.BaseOnly != 0 || c.Paired.CandOnly != 0 {
		t.Errorf("%+v, %+v, %d pairs", b, c.Paired, c.Pairs)
	}
	if s := c.SLO; s.Base.TokensPS != nil || s.Cand.TokensPS != nil || s.Tokens != nil || s.Requests == nil {
		t.Errorf("tokens a second %v and %v, ratio %v", s.Base.TokensPS, s.Cand.TokensPS, s.Tokens)
	}
}
