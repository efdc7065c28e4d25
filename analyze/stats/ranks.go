package stats

import "sort"

// QuantileRanks gives a distribution-free interval of the p quantile of n values (order statistics; metrics.md 2.2):
// the interval is from the lower-th to the upper-th smallest value, ranks from 1. lower 0 stands for minus infinity,
// upper n+1 for plus infinity. coverage is the exact probability for independent draws, at least conf where both
// ends exist. Values that come in bursts are not independent: their true coverage is lower.
func QuantileRanks(n int, p, conf float64) (lower, upper int, coverage float64) {
	tail := (1 - conf) / 2
	lower = smallestRank(n, p, tail)
	upper = 1 + smallestRank(n, p, 1-tail)
	return lower, upper, BinomialCDF(upper-1, n, p) - BinomialCDF(lower-1, n, p)
}

// smallestRank is the smallest k with P(Bin(n, p) <= k) >= share.
func smallestRank(n int, p, share float64) int {
	return sort.Search(n, func(k int) bool { return BinomialCDF(k, n, p) >= share })
}
