package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var percentiles = []float64{.5, .95, .99}

// sides gives n skewed values and f of each, in clusters of about five.
func sides(n int, f func(float64) float64) (base, cand []Value, clusters int) {
	r := rand.New(rand.NewPCG(7, 7))
	clusters = n/5 + 1
	for i := range n {
		v := math.Round(1e5*math.Exp(.6*r.NormFloat64())) * 5
		c := int32(r.IntN(clusters))
		if i < clusters {
			c = int32(i)
		}
		base = append(base, Value{v, c})
		cand = append(cand, Value{f(v), c})
	}
	return base, cand, clusters
}

func TestBootstrapIdentities(t *testing.T) { // metrics.md 2.4: no random number may matter
	for _, c := range []struct {
		name  string
		f     func(float64) float64
		diff  float64
		ratio float64
	}{
		{"same", func(v float64) float64 { return v }, 0, 1},
		{"shift", func(v float64) float64 { return v + 1234 }, 1234, 0},
		{"scale", func(v float64) float64 { return v * 6 / 5 }, 0, 1.2},
	} {
		base, cand, n := sides(300, c.f)
		for i, ch := range (Bootstrap{Clusters: n, B: 300, Seed: 1}).Quantiles(base, cand, percentiles...) {
			if c.name != "scale" {
				same(t, c.name, ch.Diff, c.diff)
			}
			near(t, c.name+" p", ch.P, map[bool]float64{true: 1, false: 2. / 301}[c.name == "same"], 1e-12)
			if c.ratio != 0 {
				same(t, c.name, *ch.Ratio, c.ratio)
			}
			sorted := build(base, nil)
			near(t, "base quantile", ch.Base, Quantile(sorted, percentiles[i]), 1e-12)
		}
	}
}

func same(t *testing.T, what string, e Estimate, want float64) {
	t.Helper()
	for _, v := range []float64{e.Value, e.Lo, e.Hi, e.Lower, e.Upper} {
		near(t, what, v, want, 1e-9)
	}
}

// Building every resample is the oracle of looking the quantile up by weights.
func TestQuantilesAgainstBuiltResamples(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		clusters := 1 + r.IntN(8)
		var base, cand []Value
		for range 1 + r.IntN(40) {
			base = append(base, Value{float64(r.IntN(20)), int32(r.IntN(clusters))})
		}
		for range 1 + r.IntN(40) {
			cand = append(cand, Value{float64(r.IntN(20)), int32(r.IntN(clusters))})
		}
		b := Bootstrap{Clusters: clusters, B: 200, Seed: 9}
		ps := []float64{0, .3, .5, .95, 1}
		got := b.Quantiles(base, cand, ps...)
		want := b.changes(len(ps), func(w []int32, x, y []float64) {
			for j, p := range ps {
				x[j], y[j] = Quantile(build(base, w), p), Quantile(build(cand, w), p)
			}
		})
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	}
}

// build lists the values, each as often as its cluster was drawn; once without w.
func build(values []Value, w []int32) (out []float64) {
	for _, v := range values {
		times := int32(1)
		if w != nil {
			times = w[v.Cluster]
		}
		for range times {
			out = append(out, v.V)
		}
	}
	slices.Sort(out)
	return out
}

// The page's own check: lognormal, sigma .6, pair correlation .7; the 95 % interval of the P95 difference covers the
// truth, 0, in .94 to .985 of runs, and is .48 of the quantile wide at n=200. With 200 runs of a true .94 fewer than
// .89 would be met once in 500.
func TestBootstrapCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const runs, n = 200, 200
	covered, width := 0, 0.0
	for i := range runs {
		var base, cand []Value
		for j := range n {
			shared := r.NormFloat64()
			base = append(base, Value{math.Exp(.6 * (math.Sqrt(.7)*shared + math.Sqrt(.3)*r.NormFloat64())), int32(j)})
			cand = append(cand, Value{math.Exp(.6 * (math.Sqrt(.7)*shared + math.Sqrt(.3)*r.NormFloat64())), int32(j)})
		}
		c := Bootstrap{Clusters: n, B: 300, Seed: uint64(i)}.Quantiles(base, cand, .95)[0]
		if c.Diff.Lo <= 0 && 0 <= c.Diff.Hi {
			covered++
		}
		width += (c.Diff.Hi - c.Diff.Lo) / c.Base / runs
	}
	if covered < 178 || covered == runs {
		t.Errorf("%d of %d intervals cover the truth", covered, runs)
	}
	if width < .43 || width > .53 {
		t.Errorf("mean width %.3f of the quantile, want about .48", width)
	}
}

// Copies of one value in one cluster are one observation, not many: the interval must not shrink.
func TestClustersWidenIntervals(t *testing.T) {
	base, cand, _ := sides(100, func(v float64) float64 { return v })
	r := rand.New(rand.NewPCG(5, 5))
	var b1, c1, b9, c9 []Value
	for i := range base {
		y := cand[i].V * (1 + r.Float64())
		b1 = append(b1, Value{base[i].V, int32(i)})
		c1 = append(c1, Value{y, int32(i)})
		for range 9 {
			b9 = append(b9, Value{base[i].V, int32(i)})
			c9 = append(c9, Value{y, int32(i)})
		}
	}
	b := Bootstrap{Clusters: 100, B: 400, Seed: 2}
	one, nine := b.Quantiles(b1, c1, .5)[0].Diff, b.Quantiles(b9, c9, .5)[0].Diff
	if w1, w9 := one.Hi-one.Lo, nine.Hi-nine.Lo; w9 < .9*w1 {
		t.Errorf("width %v with nine copies, %v with one", w9, w1)
	}
}

func TestTotalsAndShares(t *testing.T) {
	b := Bootstrap{Clusters: 4, B: 400, Seed: 3}
	c := b.Totals([]float64{10, 20, 30, 40}, []float64{5, 10, 15, 20})
	near(t, "diff", c.Diff.Value, -50, 0)
	same(t, "ratio", *c.Ratio, .5)
	if c.Diff.Lo >= -50 || c.Diff.Hi <= -50 || c.Diff.Lo < -80 || c.Diff.Hi > -20 {
		t.Errorf("interval %v must lie around -50, within the possible -80 to -20", c.Diff)
	}
	if c := b.Totals([]float64{0, 0, 0, 1}, []float64{1, 1, 1, 1}); c.Ratio != nil {
		t.Errorf("ratio %v, want none: resamples without the last cluster have base 0", *c.Ratio)
	}
	s := b.Shares([]float64{1, 2, 0, 4}, []float64{1, 2, 0, 4}, []float64{2, 4, 0, 8})
	near(t, "share", s.Base, .5, 0)
	same(t, "share diff", s.Diff, 0)
}

func TestSeedDecides(t *testing.T) {
	base, cand, n := sides(200, func(v float64) float64 { return v + math.Mod(v, 977) })
	run := func(seed uint64) []Change {
		return Bootstrap{Clusters: n, B: 100, Seed: seed}.Quantiles(base, cand, percentiles...)
	}
	if d := cmp.Diff(run(1), run(1)); d != "" {
		t.Error(d)
	}
	if cmp.Equal(run(1), run(2)) {
		t.Error("another seed gave the same intervals")
	}
}

// Half of 400 clusters change by one: the change is 200 with a standard deviation of 10, normal enough for its points.
func TestIntervalPoints(t *testing.T) {
	base, cand := make([]float64, 400), make([]float64, 400)
	for i := range 200 {
		cand[2*i] = 1
	}
	d := Bootstrap{Clusters: 400, B: 4000, Seed: 4}.Totals(base, cand).Diff
	for _, c := range []struct{ got, want float64 }{{d.Lo, 180.4}, {d.Hi, 219.6}, {d.Lower, 183.55}, {d.Upper, 216.45}} {
		if math.Abs(c.got-c.want) > 1.5 {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}
