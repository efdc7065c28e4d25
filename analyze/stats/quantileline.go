package stats

import "math"

// QuantileLine fits y = intercept + slope x so that a share tau of the weight lies below the line: it minimises
// sum w (tau max(0, r) + (1 - tau) max(0, -r)) over r = y - line (Koenker and Bassett 1978). One of the best lines goes through two of the
// points, so all pairs are tried: time n cubed, for a few hundred points. NaN when no two x differ.
func QuantileLine(x, y, w []float64, tau float64) (slope, intercept float64) {
	slope, intercept, best := math.NaN(), math.NaN(), math.Inf(1)
	for i := range x {
		for j := range i {
			if x[i] == x[j] {
				continue
			}
			b := (y[i] - y[j]) / (x[i] - x[j])
			a := y[i] - b*x[i]
			loss := 0.0
			for k := 0; k < len(x) && loss < best; k++ {
				r := y[k] - a - b*x[k]
				loss += w[k] * max(tau*r, (tau-1)*r)
			}
			if loss < best {
				slope, intercept, best = b, a, loss
			}
		}
	}
	return slope, intercept
}
