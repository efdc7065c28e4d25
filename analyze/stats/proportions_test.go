package stats

import "testing"

// Values of scipy 1.x: norm.sf of the pooled z, fisher_exact where a cell expects fewer than 5.
func TestTwoProportions(t *testing.T) {
	for _, c := range []struct {
		k1, n1, k2, n2 int
		want           float64
	}{
		{99, 10000, 169, 10000, 1.670834748565523e-05}, {40, 200, 61, 210, 0.033565379085498726},
		{1, 10, 8, 12, 0.011499336576735958}, {3, 1000, 0, 900, 0.2516837116487902}, {0, 50, 12, 3000, 1}, {9, 9, 1, 9, 0.00041135335252982314},
		{0, 10, 0, 10, 1}, {5, 5, 7, 7, 1}, {0, 0, 7, 9, 1},
	} {
		got := TwoProportions(c.k1, c.n1, c.k2, c.n2)
		near(t, "p", got, c.want, 1e-9)
		near(t, "sides swapped", TwoProportions(c.k2, c.n2, c.k1, c.n1), got, 1e-9)
		near(t, "parts swapped", TwoProportions(c.n1-c.k1, c.n1, c.n2-c.k2, c.n2), got, 1e-9)
	}
}

// Rates of the same data on both sides differ by nothing in every resample; a side that is ten points better in every
// cluster of equal size is so in every resample.
func TestRates(t *testing.T) {
	whole := []float64{100, 100, 100, 100}
	base, cand := []float64{80, 70, 90, 60}, []float64{90, 80, 100, 70}
	c := Bootstrap{Clusters: 4, B: 200, Seed: 1}.Rates(base, whole, cand, whole)
	near(t, "base", c.Base, .75, 1e-12)
	same(t, "difference", c.Diff, .1)
	same(t, "itself", Bootstrap{Clusters: 4, B: 200, Seed: 1}.Rates(base, whole, base, whole).Diff, 0)
	c = Bootstrap{Clusters: 2, B: 200, Seed: 1}.Rates([]float64{9, 0}, []float64{10, 0}, []float64{0, 5}, []float64{0, 10})
	near(t, "clusters of one side", c.Diff.Hi, -.4, 1e-12)
}
