package stats

import "math"

// A12 is the Mann-Whitney effect size P(Y > X) + P(Y = X)/2 (Vargha and Delaney 2000): .5 when neither sample tends to
// be larger. Both samples sorted; NaN when one is empty.
func A12(x, y []float64) float64 {
	if len(x) == 0 || len(y) == 0 {
		return math.NaN()
	}
	wins, below, upTo := 0.0, 0, 0
	for _, v := range y {
		for below < len(x) && x[below] < v {
			below++
		}
		for upTo < len(x) && x[upTo] <= v {
			upTo++
		}
		wins += float64(below) + float64(upTo-below)/2
	}
	return wins / float64(len(x)) / float64(len(y))
}

// KS is the largest distance between the distribution functions of two sorted samples (Kolmogorov-Smirnov D), used as
// an effect size: with many values every difference is significant. NaN when one is empty.
func KS(x, y []float64) float64 {
	if len(x) == 0 || len(y) == 0 {
		return math.NaN()
	}
	d, i, j := 0.0, 0, 0
	for i < len(x) && j < len(y) {
		v := min(x[i], y[j])
		for i < len(x) && x[i] == v {
			i++
		}
		for j < len(y) && y[j] == v {
			j++
		}
		d = max(d, math.Abs(float64(i)/float64(len(x))-float64(j)/float64(len(y))))
	}
	return d
}
