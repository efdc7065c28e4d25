package stats

import "math"

// NonIncreasing is the sequence that never rises and is nearest to v in weighted squares (pool adjacent violators; Ayer et
// al. 1955): neighbours that rise are pooled to their mean. Weights are positive and parallel; nil is all equal.
func NonIncreasing(v, weights []float64) []float64 {
	type block struct {
		mean, weight float64
		n            int
	}
	var blocks []block
	for i, x := range v {
		b := block{x, 1, 1}
		if weights != nil {
			b.weight = weights[i]
		}
		for len(blocks) > 0 && blocks[len(blocks)-1].mean < b.mean {
			p := blocks[len(blocks)-1]
			w := p.weight + b.weight
			b = block{(p.mean*p.weight + b.mean*b.weight) / w, w, p.n + b.n}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	out := make([]float64, 0, len(v))
	for _, b := range blocks {
		for range b.n {
			out = append(out, b.mean)
		}
	}
	return out
}

// Crossing is where a sequence that never rises falls below a level: the largest x with y >= level, linear between
// points (metrics.md 7.3). side is 0 when it lies between two points, -1 when already the first point is below (x is the
// first x: the answer is less), and 1 when no point is (x is the last x: the answer is that or more). x rises, with
// one or more points.
func Crossing(x, y []float64, level float64) (at float64, side int) {
	for i := range x {
		switch {
		case y[i] >= level:
		case i == 0:
			return x[0], -1
		default:
			return between(x[i-1], x[i], (y[i-1]-level)/(y[i-1]-y[i])), 0
		}
	}
	return x[len(x)-1], 1
}

// Knee is the point where a rising curve begins to rise steeply: with both axes scaled to [0,1], the largest x - y (metrics.md
// 7.3). -1 with fewer than three points, when no x or no y differs, and when the
// curve nowhere lies below the straight line from its first to its last point: then it does not begin to rise anywhere.
func Knee(x, y []float64) int {
	if len(x) < 3 {
		return -1
	}
	loX, hiX, loY, hiY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for i := range x {
		loX, hiX, loY, hiY = min(loX, x[i]), max(hiX, x[i]), min(loY, y[i]), max(hiY, y[i])
	}
	if hiX == loX || hiY == loY {
		return -1
	}
	best, most := -1, 1e-9
	for i := range x {
		if d := (x[i]-loX)/(hiX-loX) - (y[i]-loY)/(hiY-loY); d > most {
			best, most = i, d
		}
	}
	return best
}

// Trend is the z-score of the Mann-Kendall test for a monotone trend of v over its index, with the correction for ties and for
// continuity (Kendall 1975): above 1.645 it rises, with an error of 5 %. 0 when nothing differs.
func Trend(v []float64) float64 {
	s, n := 0.0, float64(len(v))
	seen := map[float64]float64{}
	for i, a := range v {
		seen[a]++
		for _, b := range v[i+1:] {
			switch {
			case b > a:
				s++
			case b < a:
				s--
			}
		}
	}
	variance := n * (n - 1) * (2*n + 5)
	for _, t := range seen {
		variance -= t * (t - 1) * (2*t + 5)
	}
	switch {
	case s > 0:
		s--
	case s < 0:
		s++
	default:
		return 0
	}
	return s / math.Sqrt(variance/18)
}
