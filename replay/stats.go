package replay

import (
	"math"
	"slices"
)

// quantile is type 7 (linear between order statistics) of a sorted sample that is not empty.
func quantile(sorted []float64, p float64) float64 {
	pos := p * float64(len(sorted)-1)
	i := int(pos)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (pos-float64(i))*(sorted[i+1]-sorted[i])
}

// quantileOf sorts; nil for an empty sample.
func quantileOf(sample []float64, p float64) *float64 {
	if len(sample) == 0 {
		return nil
	}
	q := quantile(slices.Sorted(slices.Values(sample)), p)
	return &q
}

// slopePoints bounds the pairs of the Theil-Sen estimate: half a million.
const slopePoints = 1000

// slope is the Theil-Sen estimate of y on x: the median of the slopes of all pairs, of at most slopePoints points evenly taken.
// nil with fewer than two different x.
func slope(x, y []float64) *float64 {
	step := max((len(x)+slopePoints-1)/slopePoints, 1)
	n := (len(x) + step - 1) / step
	slopes := make([]float64, 0, n*(n-1)/2) // grown bit by bit, they were most of the memory of a replay
	for i := 0; i < len(x); i += step {
		for j := i + step; j < len(x); j += step {
			if x[j] != x[i] {
				slopes = append(slopes, (y[j]-y[i])/(x[j]-x[i]))
			}
		}
	}
	if len(slopes) == 0 {
		return nil
	}
	slices.Sort(slopes)
	median := quantile(slopes, .5)
	return &median
}

// ks is the Kolmogorov-Smirnov distance of two samples. With tol above 0 it is the smallest distance that is left when
// values may move by up to tol: evenly spaced sends with microseconds of jitter are as good as the plan, yet differ from it in
// every value. nil when a sample is empty.
func ks(a, b []float64, tol float64) *float64 {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	d := math.Max(above(a, b, tol), above(b, a, tol))
	return &d
}

// above is the largest excess of the distribution of a at x over that of b at x+tol. Both are sorted.
func above(a, b []float64, tol float64) (worst float64) {
	j := 0
	for i, x := range a {
		if i+1 < len(a) && a[i+1] == x {
			continue
		}
		for j < len(b) && b[j] <= x+tol {
			j++
		}
		worst = math.Max(worst, float64(i+1)/float64(len(a))-float64(j)/float64(len(b)))
	}
	return worst
}

// variation is the coefficient of variation (population standard deviation over mean); nil when the mean is 0.
func variation(sample []float64) *float64 {
	n := float64(len(sample))
	sum, squares := 0.0, 0.0
	for _, x := range sample {
		sum += x
	}
	if sum == 0 {
		return nil
	}
	for _, x := range sample {
		squares += (x - sum/n) * (x - sum/n)
	}
	v := math.Sqrt(squares/n) / (sum / n)
	return &v
}
