package analyze

import (
	"slices"

	"reprise/analyze/stats"
)

// PairDelta says how single requests changed in one metric: candidate minus base of the same request, milliseconds. The
// quantiles of two runs can agree while many requests got slower and as many faster; this shows it.
type PairDelta struct {
	Metric    string     `json:"metric"`
	N         int        `json:"n"`
	Faster    int        `json:"faster"` // the candidate's value is lower
	Slower    int        `json:"slower"`
	P5        float64    `json:"p5"` // quantiles of the differences (type 7)
	P25       float64    `json:"p25"`
	Median    float64    `json:"median"`
	P75       float64    `json:"p75"`
	P95       float64    `json:"p95"`
	MedianCI  [2]float64 `json:"median_ci"` // 95 %, by the bootstrap of the comparison
	MuchWorse int        `json:"slower_by_margin"`
}

// within compares pair by pair what metrics compares by quantiles.
func (x *comparing) within(pairs []paired) []PairDelta {
	out := []PairDelta{}
	for m, info := range latencyMetrics {
		have := slices.DeleteFunc(slices.Clone(pairs), func(p paired) bool { return p.base.values[m] == nil || p.cand.values[m] == nil })
		if len(have) == 0 || x.withheld[metric(m)] != "" {
			continue
		}
		out = append(out, x.pairDelta(info.name, metric(m), have))
	}
	return out
}

func (x *comparing) pairDelta(name string, m metric, have []paired) PairDelta {
	d := PairDelta{Metric: name, N: len(have)}
	labels, _, n := clusters(have)
	values, sorted := make([]stats.Value, len(have)), make([]float64, len(have))
	for i, p := range have {
		base, cand := *p.base.values[m]/1e3, *p.cand.values[m]/1e3
		sorted[i] = cand - base
		values[i] = stats.Value{V: sorted[i], Cluster: labels[i]}
		switch {
		case cand < base:
			d.Faster++
		case cand > base:
			d.Slower++
		}
		if cand > base*(1+x.Margin) {
			d.MuchWorse++
		}
	}
	slices.Sort(sorted)
	for p, to := range map[float64]*float64{.05: &d.P5, .25: &d.P25, .5: &d.Median, .75: &d.P75, .95: &d.P95} {
		*to = stats.Quantile(sorted, p)
	}
	e := x.bootstrap(n).Intervals(values, .5)[0]
	d.MedianCI = [2]float64{e.Lo, e.Hi}
	return d
}
