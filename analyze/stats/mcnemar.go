package stats

// McNemar is the exact two-sided p-value that as many pairs turn bad as turn good (McNemar 1947, binomial form):
// twice the smaller tail of Bin(turned, 1/2), at most 1. It takes pairs as independent.
func McNemar(toBad, toGood int) float64 {
	n := toBad + toGood
	if n == 0 {
		return 1
	}
	return min(1, 2*BinomialCDF(min(toBad, toGood), n, .5))
}
