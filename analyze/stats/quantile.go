package stats

import "math"

// rankSlack keeps n*p from landing a hair above a whole number: 100*0.07 is 7.000000000000001 (metrics.md 2.1).
const rankSlack = 1e-9

// Quantile is the type 7 quantile of a sorted sample (Hyndman and Fan 1996; quantile_cont): linear between the two
// values around rank (n-1)p, counted from 0. NaN for an empty sample.
func Quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	h := float64(len(sorted)-1) * p
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return between(sorted[i], sorted[i+1], h-float64(i))
}

// between interpolates; equal ends give exactly that value.
func between(a, b, share float64) float64 { return a + (b-a)*share }

// Quantile1 is the type 1 quantile (inverse of the empirical distribution; quantile_disc): the value of rank ceil(np).
// It is always a value of the sample. NaN for an empty one.
func Quantile1(sorted []float64, p float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	rank := int(math.Ceil(float64(n)*p - rankSlack))
	return sorted[min(max(rank, 1), n)-1]
}

// WeightedQuantile1 is type 1 with weights (token-weighted latency): the smallest value whose cumulative weight
// reaches p of the whole. values are sorted, weights parallel and not negative. NaN when there is no weight.
func WeightedQuantile1(values, weights []float64, p float64) float64 {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	cum := 0.0
	for i, w := range weights {
		cum += w
		if w > 0 && cum >= p*total-1e-12 {
			return values[i]
		}
	}
	return math.NaN()
}
