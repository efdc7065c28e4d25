package stats

import (
	"cmp"
	"slices"
)

// Holm adjusts p-values for the chance that any of a family errs (Holm 1979); order is kept.
func Holm(p []float64) []float64 {
	out, order, worst := make([]float64, len(p)), ascending(p), 0.0
	for rank, i := range order {
		worst = max(worst, float64(len(p)-rank)*p[i])
		out[i] = min(1, worst)
	}
	return out
}

// BH adjusts p-values for the share of false alarms among the alarms (Benjamini and Hochberg 1995); order is kept.
func BH(p []float64) []float64 {
	out, order, best := make([]float64, len(p)), ascending(p), 1.0
	for rank := len(order) - 1; rank >= 0; rank-- {
		i := order[rank]
		best = min(best, float64(len(p))/float64(rank+1)*p[i])
		out[i] = best
	}
	return out
}

// ascending gives the positions of p from its smallest to its largest value.
func ascending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order
}
