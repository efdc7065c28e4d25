package stats

import "math"

// Limits of [CUSUM] (metrics.md 2.5): drift allowed a step and height of the alarm, in robust standard deviations.
const (
	cusumDrift = .5
	cusumAlarm = 5
)

// CUSUM is the one-sided cumulative sum of (x - mid)/scale less the drift, never under 0 (Page 1954). alarm is the index
// of the first value above the limit, onset the first one after the last zero before it; both -1 without an alarm. mid
// and scale come from a quiet reference: its median and 1.4826 times its median absolute deviation, above 0.
func CUSUM(x []float64, mid, scale float64) (sums []float64, alarm, onset int) {
	sums, alarm, onset = make([]float64, len(x)), -1, -1
	s, start := 0.0, 0
	for i, v := range x {
		s = max(0, s+(v-mid)/scale-cusumDrift)
		sums[i] = s
		if s == 0 {
			start = i + 1
		}
		if s > cusumAlarm && alarm < 0 {
			alarm, onset = i, start
		}
	}
	return sums, alarm, onset
}

// EnergySplit finds where a series changes its distribution: the length of the first part with the largest energy
// statistic q = mn/(m+n) (2E|X-Y| - E|X-X'| - E|Y-Y'|), means over distinct pairs (Matteson and James 2014). Each part
// keeps at least minPart >= 1 values; split 0 when the series is too short. Time and memory: n squared, n.
func EnergySplit(x []float64, minPart int) (split int, q float64) {
	n := len(x)
	left, cross, right := 0.0, 0.0, 0.0 // sums of |difference| over pairs within and between the parts
	for i := range x {
		right += distances(x[i], x[:i])
	}
	for m := 1; m < n; m++ { // x[m-1] moves from right to left
		toLeft, toRight := distances(x[m-1], x[:m-1]), distances(x[m-1], x[m:])
		left, right, cross = left+toLeft, right-toRight, cross-toLeft+toRight
		if m < minPart || n-m < minPart {
			continue
		}
		a, b := float64(m), float64(n-m)
		v := a * b / (a + b) * (2*cross/(a*b) - pairMean(left, a) - pairMean(right, b))
		if split == 0 || v > q {
			split, q = m, v
		}
	}
	return split, q
}

func distances(v float64, x []float64) (sum float64) {
	for _, w := range x {
		sum += math.Abs(v - w)
	}
	return sum
}

func pairMean(sum, n float64) float64 {
	if n < 2 {
		return 0
	}
	return sum / (n * (n - 1) / 2)
}
