package stats

import (
	"math"
	"testing"
)

// near compares with the tolerance of metrics.md: 1e-9 relative, or what the page's digits allow.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestQuantileExamples(t *testing.T) { // EX-2.1 and the P99 of 1..100 beside it
	x := []float64{10, 20, 30, 40}
	near(t, "type 7 P50", Quantile(x, .5), 25, 1e-12)
	near(t, "type 7 P90", Quantile(x, .9), 37, 1e-12)
	near(t, "type 7 P99", Quantile(x, .99), 39.7, 1e-12)
	near(t, "type 1 P50", Quantile1(x, .5), 20, 0)
	near(t, "type 1 P25", Quantile1(x, .25), 10, 0)
	near(t, "type 1 P90", Quantile1(x, .9), 40, 0)
	var hundred []float64
	for i := range 100 {
		hundred = append(hundred, float64(i+1))
	}
	near(t, "type 7 P99 of 1..100", Quantile(hundred, .99), 99.01, 1e-12)
	near(t, "type 1 P99 of 1..100", Quantile1(hundred, .99), 99, 0)
	near(t, "type 1 P7 of 1..100", Quantile1(hundred, .07), 7, 0) // 100*0.07 > 7 in floating point
	near(t, "type 7 P0", Quantile(hundred, 0), 1, 0)
	near(t, "type 1 P0", Quantile1(hundred, 0), 1, 0)
	near(t, "type 7 P100", Quantile(hundred, 1), 100, 0)
	near(t, "type 1 P100", Quantile1(hundred, 1), 100, 0)
}

func TestQuantilesAreNotAveraged(t *testing.T) { // EX-2.3
	var x []float64
	for i := range 1010 {
		x = append(x, 10)
		if i >= 1000 {
			x[i] = 1000
		}
	}
	near(t, "P99", Quantile(x, .99), 10, 1e-12)
}

func TestWeightedQuantile(t *testing.T) { // EX-2.2, and the token gaps of EX-1.1
	v, w := []float64{13.333, 20, 40, 620}, []float64{3, 2, 1, 1}
	near(t, "P50", WeightedQuantile1(v, w, .5), 20, 0)
	near(t, "P90", WeightedQuantile1(v, w, .9), 620, 0)
	near(t, "P0 skips weight 0", WeightedQuantile1([]float64{1, 2}, []float64{0, 1}, 0), 2, 0)
}

func TestNoSampleNoQuantile(t *testing.T) {
	for _, q := range []float64{Quantile(nil, .5), Quantile1(nil, .5), WeightedQuantile1(nil, nil, .5),
		WeightedQuantile1([]float64{1}, []float64{0}, .5), A12(nil, []float64{1}), KS([]float64{1}, nil)} {
		if !math.IsNaN(q) {
			t.Errorf("got %v for an empty sample, want NaN", q)
		}
	}
}
