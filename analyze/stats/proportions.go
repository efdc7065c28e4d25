package stats

import "math"

// TwoProportions is the two-sided p-value of no difference between k1 of n1 and k2 of n2: the pooled z test, or, where a
// cell is expected to hold fewer than 5, Fisher's exact test. 1 when a side is empty.
func TwoProportions(k1, n1, k2, n2 int) float64 {
	k, n := float64(k1+k2), float64(n1+n2)
	if n1 == 0 || n2 == 0 || k == 0 || k == n {
		return 1
	}
	a, b := float64(n1), float64(n2)
	if min(a, b)*min(k, n-k)/n < 5 {
		return fisher(k1, n1, k2, n2)
	}
	p := k / n
	z := (float64(k1)/a - float64(k2)/b) / math.Sqrt(p*(1-p)*(1/a+1/b))
	return math.Erfc(math.Abs(z) / math.Sqrt2)
}

// fisher sums the chances of all tables with these margins that are no likelier than the one seen (Fisher 1935).
func fisher(k1, n1, k2, n2 int) float64 {
	k := k1 + k2
	chance := func(i int) float64 { return math.Exp(logChoose(n1, i) + logChoose(n2, k-i) - logChoose(n1+n2, k)) }
	seen, sum := chance(k1), 0.0
	for i := max(0, k-n2); i <= min(k, n1); i++ {
		if p := chance(i); p <= seen*(1+1e-7) {
			sum += p
		}
	}
	return min(1, sum)
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// Rates compares a share on each side, of parts and wholes that have one sum a cluster; a cluster that one side lacks
// is 0 there.
func (b Bootstrap) Rates(base, baseWhole, cand, candWhole []float64) Change {
	return b.changes(1, func(w []int32, x, y []float64) {
		x[0], y[0] = dot(w, base)/dot(w, baseWhole), dot(w, cand)/dot(w, candWhole)
	})[0]
}
