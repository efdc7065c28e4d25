package analyze

import (
	"math"

	"reprise/analyze/stats"
)

// Delta is one quantile of one metric on both sides, over the N pairs that have it in both runs (for chunk_gap, N is the
// smaller number of gaps). Ratio and CI are nil when a base value is zero, there or in a resample.
type Delta struct {
	Metric   string      `json:"metric"`
	Quantile float64     `json:"quantile"`
	Unit     string      `json:"unit"`
	N        int         `json:"n"`
	Base     float64     `json:"base"`
	Cand     float64     `json:"cand"`
	Diff     float64     `json:"diff"`
	DiffCI   [2]float64  `json:"diff_ci"` // two-sided 95 %
	Ratio    *float64    `json:"ratio"`
	CI       *[2]float64 `json:"ci"`      // of the ratio, two-sided 95 %
	Upper    *float64    `json:"upper95"` // of the ratio, one-sided 95 %
	P        float64     `json:"p"`       // bootstrap, of no difference
	PAdj     *float64    `json:"p_adjusted"`
	LowN     bool        `json:"low_n"` // under ten values are expected beyond the quantile
	Gated    bool        `json:"gated"`
	Verdict  string      `json:"verdict"`
	Noise    *NoiseDelta `json:"noise,omitempty"` // the same figure over two runs of the base's target
}

// latencyMetrics are compared pair by pair. Those gated decide the overall verdict.
var latencyMetrics = [metricCount]struct {
	name  string
	gated bool
	needs string // what a log must hold
}{
	ttft:   {"ttft", true, "a first token time"},
	tpot:   {"tpot", true, "a first token time and a token count"},
	e2e:    {"e2e", true, "an end"},
	maxGap: {"max_gap", false, "chunk times"},
}

// metric is a position in latencyMetrics.
type metric int

const (
	ttft metric = iota
	tpot
	e2e
	maxGap
	metricCount
)

var comparedQuantiles = []float64{.5, .95, .99}

// latency compares one metric over pairs; nil with a reason when it cannot.
func (x *comparing) latency(m metric, pairs []paired) ([]Delta, string) {
	if why := x.withheld[m]; why != "" {
		return nil, why
	}
	var have []paired
	lo, hi := math.Inf(1), math.Inf(-1) // of the pairs' own ratios
	for _, p := range pairs {
		if b, c := p.base.values[m], p.cand.values[m]; b != nil && c != nil {
			have = append(have, p)
			r := pairRatio(*b, *c)
			lo, hi = min(lo, r), max(hi, r)
		}
	}
	if len(have) == 0 {
		return nil, "no pair has " + latencyMetrics[m].needs + " in both runs"
	}
	labels, _, n := clusters(have)
	var base, cand []stats.Value
	for i, p := range have {
		base = append(base, stats.Value{V: *p.base.values[m] / 1e3, Cluster: labels[i]})
		cand = append(cand, stats.Value{V: *p.cand.values[m] / 1e3, Cluster: labels[i]})
	}
	changes := x.bootstrap(n).Quantiles(base, cand, comparedQuantiles...)
	var out []Delta
	for i, c := range changes {
		d := delta(latencyMetrics[m].name, comparedQuantiles[i], len(have), c)
		d.Verdict = x.verdict(d, c, lo, hi)
		out = append(out, d)
	}
	return out, ""
}

func pairRatio(base, cand float64) float64 {
	if base == cand {
		return 1
	}
	return cand / base
}

func delta(metric string, p float64, n int, c stats.Change) Delta {
	d := Delta{Metric: metric, Quantile: p, Unit: "ms", N: n, Base: c.Base, Cand: c.Cand, Diff: c.Diff.Value,
		DiffCI: [2]float64{c.Diff.Lo, c.Diff.Hi}, P: c.P, LowN: float64(n)*(1-p) < 10-1e-9}
	if r := c.Ratio; r != nil {
		d.Ratio, d.CI, d.Upper = &r.Value, &[2]float64{r.Lo, r.Hi}, &r.Upper
	}
	return d
}

// The paired bootstrap was checked down to three values beyond the quantile (metrics.md 2.4).
const (
	minTail  = 3
	minPairs = 10
)

// verdict is the four-valued verdict of metrics.md 2.4; lower is better. With too few values for the bootstrap the
// pairs' own ratios decide: a quantile cannot change by more than every single pair did.
func (x *comparing) verdict(d Delta, c stats.Change, lo, hi float64) string {
	if d.N < minPairs && (lo != 1 || hi != 1) {
		return Inconclusive
	}
	upper := hi
	if c.Ratio != nil && d.N >= minPairs && float64(d.N)*(1-d.Quantile) >= minTail-1e-9 {
		lo, hi, upper = c.Ratio.Lo, c.Ratio.Hi, c.Ratio.Upper
	}
	switch {
	case hi < 1:
		return Better
	case upper <= 1+x.Margin:
		return NonInferior
	case lo > 1+x.Margin:
		return Worse
	}
	return Inconclusive
}
