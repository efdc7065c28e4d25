package stats

import (
	"math"
	"slices"
)

// theilSenPoints bounds the work: more points than this are thinned evenly.
const theilSenPoints = 1000

// TheilSen fits y = intercept + slope x by the median of the slopes between all pairs of points with different x, and
// the median of y - slope x (Theil 1950, Sen 1968): up to 29 % of wild points do not bend it. Above 1,000 points every
// k-th is taken, so pass them in an order that has nothing to do with y. Two x closer than a millionth
// of their range are one: sums that were added in another order would make slopes of nothing. NaN when no two x differ.
func TheilSen(x, y []float64) (slope, intercept float64) {
	if len(x) == 0 {
		return math.NaN(), math.NaN()
	}
	near := 1e-6 * (slices.Max(x) - slices.Min(x))
	stride := (len(x) + theilSenPoints - 1) / theilSenPoints
	var slopes, rests []float64
	for i := 0; i < len(x); i += stride {
		for j := i + stride; j < len(x); j += stride {
			if math.Abs(x[i]-x[j]) > near {
				slopes = append(slopes, (y[j]-y[i])/(x[j]-x[i]))
			}
		}
	}
	if slopes == nil {
		return math.NaN(), math.NaN()
	}
	slices.Sort(slopes)
	slope = Quantile(slopes, 0.5)
	for i := 0; i < len(x); i += stride {
		rests = append(rests, y[i]-slope*x[i])
	}
	slices.Sort(rests)
	return slope, Quantile(rests, 0.5)
}
