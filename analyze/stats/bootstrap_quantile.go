package stats

import (
	"cmp"
	"math"
	"slices"
)

// Values are the observations of one side with the cluster each belongs to. A cluster may hold any number of them.
type Values struct {
	V       []float64
	Cluster []int32
}

// Add appends one observation.
func (v *Values) Add(x float64, cluster int32) {
	v.V, v.Cluster = append(v.V, x), append(v.Cluster, cluster)
}

// Quantiles compares type 7 quantiles of two sides that share their clusters. The sides need not be equally long: chunk
// gaps of the same requests are not. A resample is never built: cluster counts are weights over the sorted values, and
// the quantile is looked for only near where earlier resamples found it.
func (b Bootstrap) Quantiles(base, cand Values, ps ...float64) []Change {
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

// ordered is one side by ascending value.
type ordered struct {
	v       []float64
	cluster []int32
	size    []int64 // values of each cluster
	all     bracket
	near    []bracket // where to look first for each quantile; nil before the pilot
}

// bracket is a range [lo, hi) of ordered values; above counts each cluster's values from hi on.
type bracket struct {
	lo, hi int
	above  []int64
}

func order(s Values, clusters int) *ordered {
	idx := make([]int32, len(s.V)) // gap samples can have many millions of values
	for i := range idx {
		idx[i] = int32(i)
	}
	slices.SortFunc(idx, func(a, b int32) int { return cmp.Compare(s.V[a], s.V[b]) })
	o := &ordered{v: make([]float64, len(idx)), cluster: make([]int32, len(idx)), size: make([]int64, clusters)}
	for to, from := range idx {
		o.v[to], o.cluster[to] = s.V[from], s.Cluster[from]
		o.size[s.Cluster[from]]++
	}
	o.all = bracket{0, len(o.v), make([]int64, clusters)}
	return o
}

// narrow sets near to the range of the quantiles found, made three times as wide.
func (o *ordered) narrow(found [][]float64) {
	for _, q := range found {
		lo, hi := slices.Min(q), slices.Max(q)
		b := bracket{above: make([]int64, len(o.size))}
		b.lo, _ = slices.BinarySearch(o.v, lo-(hi-lo))
		b.hi, _ = slices.BinarySearch(o.v, math.Nextafter(hi+(hi-lo), math.Inf(1)))
		for _, c := range o.cluster[b.hi:] {
			b.above[c]++
		}
		o.near = append(o.near, b)
	}
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
		seen += int64(w[o.cluster[i]])
		if math.IsNaN(next) && seen >= after && seen > 0 {
			next = o.v[i]
		}
		if seen > after {
			return between(o.v[i], next, h-float64(rank)), true
		}
	}
	return 0, false
}
