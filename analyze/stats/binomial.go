package stats

import "math"

// BinomialCDF is P(X <= k) for X ~ Bin(n, p), 0 <= p <= 1. Relative error under 1e-9 for n up to a million.
func BinomialCDF(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n || p <= 0:
		return 1
	case p >= 1: // no logarithm of 0
		return 0
	case float64(k) > float64(n)*p: // sum the short tail
		return 1 - BinomialSF(k+1, n, p)
	}
	return lowerTail(k, n, p)
}

// BinomialSF is P(X >= k) for X ~ Bin(n, p), exact also where it is tiny.
func BinomialSF(k, n int, p float64) float64 {
	return BinomialCDF(n-k, n, 1-p)
}

// lowerTail sums the probabilities from k down by their ratio, until they no longer count.
func lowerTail(k, n int, p float64) float64 {
	term := binomialPMF(k, n, p)
	sum := term
	for i := k; i > 0 && term > sum*1e-18; i-- {
		term *= float64(i) / float64(n-i+1) * (1 - p) / p
		sum += term
	}
	return min(sum, 1)
}

func binomialPMF(k, n int, p float64) float64 {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// PercentileVerdict judges a bound on a percentile from a count (metrics.md 2.3): over of n requests were above the
// bound that p of all requests shall keep. "pass" if so few would be seen at most once in twenty with exactly 1-p bad
// ones, "fail" if so many would, else "inconclusive".
func PercentileVerdict(over, n int, p float64) string {
	switch {
	case n == 0:
		return "inconclusive"
	case BinomialCDF(over, n, 1-p) <= .05:
		return "pass"
	case BinomialSF(over, n, 1-p) <= .05:
		return "fail"
	}
	return "inconclusive"
}
