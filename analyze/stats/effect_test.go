package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestA12(t *testing.T) { // EX-2.8
	x, y := []float64{10, 20, 20, 30}, []float64{20, 30, 40, 50}
	near(t, "A12", A12(x, y), .84375, 0)
	near(t, "A12 the other way", A12(y, x), 1-.84375, 0)
	near(t, "A12 of equals", A12(x, x), .5, 0)
}

func TestKS(t *testing.T) { // EX-6.1: inter-arrivals as planned and as sent
	near(t, "D", KS([]float64{100, 100, 100, 100}, []float64{72, 100, 102, 127}), .5, 0)
	near(t, "D of equals", KS([]float64{1, 2, 2}, []float64{1, 2, 2}), 0, 0)
	near(t, "D of strangers", KS([]float64{1, 2}, []float64{3}), 1, 0)
}

// Both are defined over all pairs or points; counting those is the oracle.
func TestEffectsAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		x, y := dice(r), dice(r)
		wins, d := 0.0, 0.0
		for _, a := range x {
			for _, b := range y {
				if b > a {
					wins++
				} else if b == a {
					wins += .5
				}
			}
		}
		for v := range 7 {
			d = max(d, share(x, v)-share(y, v), share(y, v)-share(x, v))
		}
		near(t, "A12", A12(x, y), wins/float64(len(x)*len(y)), 1e-12)
		near(t, "KS", KS(x, y), d, 1e-12)
	}
}

func dice(r *rand.Rand) []float64 {
	x := make([]float64, 1+r.IntN(12))
	for i := range x {
		x[i] = float64(r.IntN(7))
	}
	slices.Sort(x)
	return x
}

func share(x []float64, upTo int) float64 {
	n := 0.0
	for _, v := range x {
		if v <= float64(upTo) {
			n++
		}
	}
	return n / float64(len(x))
}

func TestAdjust(t *testing.T) { // EX-2.9, also in another order
	for _, c := range []struct{ p, holm, bh []float64 }{
		{[]float64{.001, .02, .03, .2}, []float64{.004, .06, .06, .2}, []float64{.004, .04, .04, .2}},
		{[]float64{.2, .03, .001, .02}, []float64{.2, .06, .004, .06}, []float64{.2, .04, .004, .04}},
		{[]float64{.9, .8}, []float64{1, 1}, []float64{.9, .9}}, {nil, nil, nil},
	} {
		for i, got := range Holm(c.p) {
			near(t, "Holm", got, c.holm[i], 1e-12)
		}
		for i, got := range BH(c.p) {
			near(t, "BH", got, c.bh[i], 1e-12)
		}
	}
}
