package analyze

import (
	"fmt"
	"math"
	"testing"

	"reprise/analyze/stats"
)

// metrics.md 2.4 with a margin of 10 %: non-inferior by the one-sided bound, better and worse by the two-sided interval.
func TestVerdict(t *testing.T) {
	x := comparing{CompareOptions: CompareOptions{Margin: .10}}
	for _, c := range []struct {
		n             int
		p             float64
		lo, hi, upper float64    // of the ratio, from the bootstrap
		span          [2]float64 // of the pairs' own ratios
		want          string
	}{
		{1000, .95, .80, .99, .98, [2]float64{.1, 9}, Better},
		{1000, .95, .80, 1.01, .99, [2]float64{.1, 9}, NonInferior}, // better only by the one-sided bound
		{1000, .95, .95, 1.12, 1.10, [2]float64{.1, 9}, NonInferior},
		{1000, .95, .95, 1.12, 1.11, [2]float64{.1, 9}, Inconclusive},
		{1000, .95, 1.05, 1.15, 1.14, [2]float64{.1, 9}, Inconclusive}, // worse, but perhaps by less than the margin
		{1000, .95, 1.11, 1.15, 1.14, [2]float64{.1, 9}, Worse},
		{1000, .95, 1.02, 1.08, 1.07, [2]float64{.1, 9}, NonInferior},
		{300, .99, 1.2, 1.4, 1.3, [2]float64{.1, 9}, Worse},        // three beyond the quantile: enough
		{299, .99, 1.2, 1.4, 1.3, [2]float64{.1, 9}, Inconclusive}, // too few for the bootstrap
		{299, .99, 1.2, 1.4, 1.3, [2]float64{1.15, 1.6}, Worse},    // but every pair says so
		{20, .99, .5, .6, .55, [2]float64{.4, .9}, Better},
		{20, .99, .5, .6, .55, [2]float64{.4, 1.05}, NonInferior},
		{9, .5, 1.2, 1.4, 1.3, [2]float64{1.2, 1.4}, Inconclusive}, // too few to say anything but equal
		{9, .5, 1, 1, 1, [2]float64{1, 1}, NonInferior},
	} {
		ratio := &stats.Estimate{Lo: c.lo, Hi: c.hi, Upper: c.upper}
		if got := x.verdict(Delta{N: c.n, Quantile: c.p}, stats.Change{Ratio: ratio}, c.span[0], c.span[1]); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if got := x.verdict(Delta{N: 1000, Quantile: .5}, stats.Change{}, 0, math.Inf(1)); got != Inconclusive {
		t.Errorf("no ratio: %s", got)
	}
}

func TestShareVerdict(t *testing.T) {
	rises := stats.Estimate{Lo: .02, Hi: .08, Lower: .03, Upper: .07}
	for _, c := range []struct {
		e    stats.Estimate
		p    float64
		sign float64
		h    harm
		want string
	}{
		{rises, .01, 1, harm{.01, 0}, Worse},
		{rises, .06, 1, harm{.01, 0}, Inconclusive}, // McNemar does not agree
		{rises, .01, 1, harm{.01, .03}, Inconclusive},
		{rises, .01, 1, harm{.07, .03}, NonInferior},
		{rises, .01, -1, harm{.01, 0}, Better}, // more good ones
		{rises, .06, -1, harm{.01, 0}, NonInferior},
		{stats.Estimate{Lo: -.08, Hi: -.02, Lower: -.07, Upper: -.03}, .01, -1, harm{.01, .01}, Worse},
		{stats.Estimate{Lo: -.08, Hi: -.02, Lower: -.07, Upper: -.03}, .06, -1, harm{.07, .01}, NonInferior},
		{stats.Estimate{Lo: -.02, Hi: .02, Lower: -.015, Upper: .015}, .5, 1, harm{.01, 0}, Inconclusive},
	} {
		if got := (ShareDelta{N: 500, P: c.p}).verdict(c.e, c.sign, c.h); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if got := (ShareDelta{N: 9, P: 1, Gained: 1, Lost: 1}).verdict(stats.Estimate{}, 1, harm{.01, 0}); got != Inconclusive {
		t.Errorf("nine pairs: %s", got)
	}
}

func TestClusters(t *testing.T) {
	line := func(n int, session func(int) string, stepUS int64) []paired {
		var out []paired
		for i := range n {
			a := int64(i) * stepUS
			out = append(out, paired{base: &logical{id: fmt.Sprint(i), session: session(i), arrival: &a}})
		}
		return out
	}
	none := func(int) string { return "" }
	for _, c := range []struct {
		name  string
		pairs []paired
		unit  string
		n     int
	}{
		{"conversations", line(40, func(i int) string { return fmt.Sprint(i / 4) }, 1e6), "session", 10},
		{"too few conversations", line(36, func(i int) string { return fmt.Sprint(i / 4) }, 3e6), "block", 11}, // 0 to 105 s
		{"conversations of one call", line(40, func(i int) string { return fmt.Sprint(i) }, 4e6), "block", 16},
		{"no conversations", line(100, none, 1e6), "block", 10},
		{"all at once", line(50, none, 1000), "request", 50},
		{"half with", line(40, func(i int) string { return map[bool]string{true: "a"}[i%2 == 0] }, 5e6), "session", 21},
	} {
		labels, unit, n := clusters(c.pairs)
		if unit != c.unit || n != c.n || len(labels) != len(c.pairs) {
			t.Errorf("%s: %d of %s, want %d of %s", c.name, n, unit, c.n, c.unit)
		}
	}
}

func TestOverallVerdict(t *testing.T) {
	sure, unsure := .01, .2
	d := func(verdict string, p *float64) Delta { return Delta{Gated: true, Verdict: verdict, PAdj: p} }
	free := Delta{Verdict: Worse}
	for _, c := range []struct {
		failures string
		metrics  []Delta
		want     string
	}{
		{NonInferior, []Delta{d(NonInferior, &unsure), d(Better, &sure), free}, Better},
		{NonInferior, []Delta{d(NonInferior, &unsure), d(Better, &unsure)}, NonInferior}, // one of many: may be chance
		{NonInferior, []Delta{d(Inconclusive, &unsure), d(Better, &sure)}, Inconclusive},
		{NonInferior, []Delta{d(Worse, &unsure), d(Better, &sure)}, Worse},
		{Worse, []Delta{d(Better, &sure)}, Worse},
		{Better, []Delta{d(NonInferior, &unsure)}, Better},
		{NonInferior, []Delta{free}, Inconclusive},
		{Worse, nil, Worse},
	} {
		got := &Comparison{Comparable: true, Failures: ShareDelta{Verdict: c.failures}, Metrics: c.metrics}
		if v := got.overall(); v != c.want {
			t.Errorf("failures %s, %+v: %s, want %s", c.failures, c.metrics, v, c.want)
		}
	}
}

func TestCountVerdict(t *testing.T) {
	x := comparing{CompareOptions: CompareOptions{Margin: .10}}
	for _, c := range []struct {
		in   stats.Change
		want string
	}{
		{stats.Change{Base: 100, Cand: 20, Diff: stats.Estimate{Lo: -90, Hi: -70}}, Better},
		{stats.Change{Base: 5, Cand: 0, Diff: stats.Estimate{Lo: -9, Hi: -1}}, Inconclusive}, // five gaps are an anecdote
		{stats.Change{Base: 0, Cand: 30, Diff: stats.Estimate{Lo: 20, Hi: 40}}, Worse},
		{stats.Change{Base: 100, Cand: 150, Diff: stats.Estimate{Lo: 5, Hi: 90}, Ratio: &stats.Estimate{Lo: 1.05, Hi: 1.9, Upper: 1.8}}, Inconclusive},
		{stats.Change{Base: 100, Cand: 150, Diff: stats.Estimate{Lo: 5, Hi: 90}, Ratio: &stats.Estimate{Lo: 1.15, Hi: 1.9, Upper: 1.8}}, Worse},
		{stats.Change{}, NonInferior},
	} {
		if got := x.countDelta(200, c.in).Verdict; got != c.want {
			t.Errorf("%+v: %s, want %s", c.in, got, c.want)
		}
	}
}

func TestPairLeavesOutWhatIsToldTwice(t *testing.T) {
	base := &sideRows{rows: []logical{{id: "a"}, {id: "b", copied: true}, {id: "c"}, {id: "d"}}}
	cand := &sideRows{rows: []logical{{id: "a"}, {id: "b"}, {id: "c", copied: true}, {id: "e"}}}
	if got := pair(base, cand); len(got) != 1 || got[0].base.id != "a" || got[0].cand.id != "a" {
		t.Errorf("%d pairs, want a alone", len(got))
	}
}
