package stats

import (
	"cmp"
	"math"
	"slices"
)

// Value is an observation of one side with the cluster that it belongs to. A cluster may hold any number of them.
type Value struct {
	V       float64
	Cluster int32
}

// Quantiles compares type 7 quantiles of two sides that share their clusters. The sides need not be equally long: chunk
// gaps of the same requests are not. A resample is never built: cluster counts are weights over the sorted values, and
// the quantile is looked for only near where earlier resamples found it.
func (b Bootstrap) Quantiles(base, cand []Value, ps ...float64) []Change {
	x, y := order(base, b.Clusters), order(cand, b.Clusters)
	find := func(w []int32, qx, qy []float64) {
		x.quantiles(ps, w, qx)
		y.quantiles(ps, w, qy)
	}
	pilot := Bootstrap{Clusters: b.Clusters, B: 32, Seed: ^b.Seed}
	xs, ys := pilot.resample(len(ps), find)
	x.narrow(xs)
	y.narrow(ys)
	return b.changes(len(ps), find)
}

// Intervals estimates type 7 quantiles of one sample.
func (b Bootstrap) Intervals(values []Value, ps ...float64) []Estimate {
	x := order(values, b.Clusters)
	find := func(w []int32, q, _ []float64) { x.quantiles(ps, w, q) }
	pilot := Bootstrap{Clusters: b.Clusters, B: 32, Block: b.Block, Seed: ^b.Seed}
	found, _ := pilot.resample(len(ps), find)
	x.narrow(found)
	q, out := make([]float64, len(ps)), make([]Estimate, len(ps))
	find(slices.Repeat([]int32{1}, b.Clusters), q, nil)
	resampled, _ := b.resample(len(ps), find)
	for j := range out {
		out[j] = estimate(q[j], slices.DeleteFunc(resampled[j], math.IsNaN)) // NaN: blocks without values
	}
	return out
}

// ordered is one side by ascending value.
type ordered struct {
	values []Value
	size   []int64 // values of each cluster
	all    bracket
	near   []bracket // where to look first for each quantile; nil before the pilot
}

// bracket is a range [lo, hi) of ordered values; above counts each cluster's values from hi on.
type bracket struct {
	lo, hi int
	above  []int64
}

func order(values []Value, clusters int) *ordered {
	o := &ordered{values: slices.Clone(values), size: make([]int64, clusters)}
	slices.SortFunc(o.values, func(a, b Value) int { return cmp.Compare(a.V, b.V) })
	for _, v := range o.values {
		o.size[v.Cluster]++
	}
	o.all = bracket{0, len(o.values), make([]int64, clusters)}
	return o
}

// narrow sets near to the range of the quantiles found, made three times as wide.
func (o *ordered) narrow(found [][]float64) {
	for _, q := range found {
		lo, hi := slices.Min(q), slices.Max(q)
		b := bracket{above: make([]int64, len(o.size))}
		b.lo = o.search(lo - (hi - lo))
		b.hi = o.search(math.Nextafter(hi+(hi-lo), math.Inf(1)))
		for _, v := range o.values[b.hi:] {
			b.above[v.Cluster]++
		}
		o.near = append(o.near, b)
	}
}

// search is the position of the first value that is not below x.
func (o *ordered) search(x float64) int {
	i, _ := slices.BinarySearchFunc(o.values, x, func(v Value, x float64) int { return cmp.Compare(v.V, x) })
	return i
}

// quantiles sets out[j] to the ps[j] quantile under w.
func (o *ordered) quantiles(ps []float64, w []int32, out []float64) {
	n := dot(w, o.size)
	for j, p := range ps {
		ok := false
		if o.near != nil {
			out[j], ok = o.quantile(p, w, n, o.near[j])
		}
		if !ok {
			out[j], _ = o.quantile(p, w, n, o.all)
		}
	}
}

// quantile is [Quantile] of the resample in which cluster c appears w[c] times and which has n values; NaN when n is 0.
// ok is false when the bracket does not hold it.
func (o *ordered) quantile(p float64, w []int32, n int64, in bracket) (q float64, ok bool) {
	if n == 0 {
		return math.NaN(), true
	}
	h := float64(n-1) * p
	rank := int64(h)
	after := n - 1 - rank // copies above the one of that rank
	seen := dot(w, in.above)
	if seen > 0 && seen >= after {
		return 0, false
	}
	next := math.NaN()
	for i := in.hi - 1; i >= in.lo; i-- {
		seen += int64(w[o.values[i].Cluster])
		if math.IsNaN(next) && seen >= after && seen > 0 {
			next = o.values[i].V
		}
		if seen > after {
			return between(o.values[i].V, next, h-float64(rank)), true
		}
	}
	return 0, false
}
