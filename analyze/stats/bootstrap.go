package stats

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// Bootstrap resamples clusters of pairs (metrics.md 2.4; Efron's percentile interval, clusters as in Davison and
// Hinkley 1997, 3.8). A cluster is what varies together: a conversation, a ten second block of arrivals, or one
// request. Both sides of a pair are always drawn together, so what a request costs by itself cancels.
type Bootstrap struct {
	Clusters int    // number of clusters; every cluster index below is in [0, Clusters)
	B        int    // resamples; 0 is 2000
	Block    int    // neighbours that are drawn together, for clusters in order of time; 0 draws each by itself
	Seed     uint64 // same seed, same intervals
}

// Estimate is a figure with its 95 % interval [Lo, Hi] and its one-sided 95 % bounds Lower and Upper.
type Estimate struct{ Value, Lo, Hi, Lower, Upper float64 }

// Change is one figure on both sides. Diff is Cand - Base. Ratio is Cand / Base; nil when Base is not above zero, here
// or in a resample, for then its interval has no end. P is the two-sided bootstrap p-value of no difference, by
// inverting the percentile interval; never under 2/(B+1).
type Change struct {
	Base, Cand float64
	Diff       Estimate
	Ratio      *Estimate
	P          float64
}

// Totals compares sums over clusters, base and cand having one sum a cluster.
func (b Bootstrap) Totals(base, cand []float64) Change {
	return b.changes(1, func(w []int32, x, y []float64) { x[0], y[0] = dot(w, base), dot(w, cand) })[0]
}

// Shares compares parts of a common whole, such as good requests among judged ones; one sum a cluster each.
func (b Bootstrap) Shares(base, cand, whole []float64) Change {
	return b.changes(1, func(w []int32, x, y []float64) {
		n := dot(w, whole) // 0: NaN, a resample that is left out
		x[0], y[0] = dot(w, base)/n, dot(w, cand)/n
	})[0]
}

func dot[T int64 | float64](w []int32, x []T) (sum T) {
	for i, v := range x {
		sum += T(w[i]) * v
	}
	return sum
}

// changes evaluates k figures on the data (every weight 1) and on B resamples.
func (b Bootstrap) changes(k int, stat func(w []int32, base, cand []float64)) []Change {
	x, y := make([]float64, k), make([]float64, k)
	stat(slices.Repeat([]int32{1}, b.Clusters), x, y)
	xs, ys := b.resample(k, stat)
	out := make([]Change, k)
	for j := range out {
		out[j] = change(x[j], y[j], xs[j], ys[j])
	}
	return out
}

// resample gives for each of k figures its B values on both sides. Each resample has its own generator, so the values
// do not depend on how many cores share the work.
func (b Bootstrap) resample(k int, stat func(w []int32, base, cand []float64)) (xs, ys [][]float64) {
	n := b.B
	if n == 0 {
		n = 2000
	}
	xs, ys = table(k, n), table(k, n)
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for first := range workers {
		wg.Go(func() {
			w, x, y := make([]int32, b.Clusters), make([]float64, k), make([]float64, k)
			for i := first; i < n; i += workers {
				b.draw(w, rand.New(rand.NewPCG(b.Seed, uint64(i))))
				stat(w, x, y)
				for j := range k {
					xs[j][i], ys[j][i] = x[j], y[j]
				}
			}
		})
	}
	wg.Wait()
	return xs, ys
}

func table(k, n int) [][]float64 {
	t := make([][]float64, k)
	for j := range t {
		t[j] = make([]float64, n)
	}
	return t
}

// draw sets w to how often each cluster is drawn: as many as there are, by themselves or in blocks that start anywhere
// (the moving block bootstrap of Künsch 1989; the last block is cut).
func (b Bootstrap) draw(w []int32, r *rand.Rand) {
	clear(w)
	block := min(max(b.Block, 1), len(w))
	for left := len(w); left > 0; left -= block {
		start := r.IntN(len(w) - block + 1)
		for i := range min(block, left) {
			w[start+i]++
		}
	}
}

func change(x, y float64, xs, ys []float64) Change {
	c := Change{Base: x, Cand: y}
	var diffs, ratios []float64
	ratio, down, up := x > 0, 1, 1
	for i := range xs {
		if math.IsNaN(xs[i]) || math.IsNaN(ys[i]) {
			continue
		}
		d := ys[i] - xs[i]
		diffs = append(diffs, d)
		if d <= 0 {
			down++
		}
		if d >= 0 {
			up++
		}
		ratios = append(ratios, ys[i]/xs[i])
		ratio = ratio && xs[i] > 0
	}
	c.Diff, c.P = estimate(y-x, diffs), min(1, 2*float64(min(down, up))/float64(len(diffs)+1))
	if ratio {
		r := estimate(y/x, ratios)
		c.Ratio = &r
	}
	return c
}

func estimate(value float64, resampled []float64) Estimate {
	slices.Sort(resampled)
	q := func(p float64) float64 { return Quantile(resampled, p) }
	return Estimate{Value: value, Lo: q(.025), Hi: q(.975), Lower: q(.05), Upper: q(.95)}
}
