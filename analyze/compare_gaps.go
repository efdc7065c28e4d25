package analyze

import (
	"math"
	"slices"

	"reprise/analyze/stats"
)

// CountDelta compares how many chunk gaps of the same requests exceed a threshold. The 99th percentile of all gaps can
// fall while the long ones grow in number, and the other way round.
type CountDelta struct {
	Over    float64    `json:"over_ms"`
	Base    int        `json:"base"`
	Cand    int        `json:"cand"`
	DiffCI  [2]float64 `json:"diff_ci"` // two-sided 95 %, clusters resampled
	Ratio   *RatioCI   `json:"ratio"`
	Verdict string     `json:"verdict"`
}

var gapThresholds = []float64{50, 100, 200, 400} // milliseconds

// gapPairs returns the pairs whose chunk gaps both runs hold, with a reason when there are none. Both runs must tell:
// a run without chunk times does not speak of gaps.
func (x *comparing) gapPairs(pairs []paired) ([]paired, string) {
	for _, s := range []*sideRows{x.base, x.cand} {
		if len(s.gaps) == 0 {
			name := "candidate"
			if s == x.base {
				name = "base"
			}
			return nil, "the " + name + " run does not speak of gaps: it has no chunk times"
		}
	}
	pairs = slices.DeleteFunc(slices.Clone(pairs), func(p paired) bool {
		return len(x.base.gaps[p.base.attempt]) == 0 || len(x.cand.gaps[p.cand.attempt]) == 0
	})
	if len(pairs) == 0 {
		return nil, "no pair has chunk times in both runs"
	}
	return pairs, ""
}

// gaps compares the pooled chunk gaps of pairs: quantiles and counts of long ones.
func (x *comparing) gaps(pairs []paired) ([]Delta, []CountDelta, string) {
	pairs, why := x.gapPairs(pairs)
	if why != "" {
		return nil, nil, why
	}
	labels, _, n := clusters(pairs)
	var base, cand []stats.Value // milliseconds
	lo, hi := 1.0, 1.0
	for i, p := range pairs {
		b, c := x.base.gaps[p.base.attempt], x.cand.gaps[p.cand.attempt]
		base = addGaps(base, b, labels[i])
		cand = addGaps(cand, c, labels[i])
		if !slices.Equal(b, c) { // gaps have no partners, so nothing bounds how their quantiles change
			lo, hi = math.Inf(-1), math.Inf(1)
		}
	}
	boot := x.bootstrap(n)
	var deltas []Delta
	for i, c := range boot.Quantiles(base, cand, comparedQuantiles...) {
		d := delta("chunk_gap", comparedQuantiles[i], min(len(base), len(cand)), c)
		d.Verdict = x.verdict(d, c, lo, hi)
		deltas = append(deltas, d)
	}
	var counts []CountDelta
	for _, over := range gapThresholds {
		c := boot.Totals(countOver(base, over, n), countOver(cand, over, n))
		counts = append(counts, x.countDelta(over, c))
	}
	return deltas, counts, ""
}

func addGaps(to []stats.Value, gaps []float64, label int32) []stats.Value {
	for _, g := range gaps {
		to = append(to, stats.Value{V: g / 1e3, Cluster: label})
	}
	return to
}

func countOver(values []stats.Value, over float64, clusters int) []float64 {
	out := make([]float64, clusters)
	for _, v := range values {
		if v.V > over {
			out[v.Cluster]++
		}
	}
	return out
}

// minLong is how many long gaps both runs must have together before a change of their number says something.
const minLong = 10

func (x *comparing) countDelta(over float64, c stats.Change) CountDelta {
	d := CountDelta{Over: over, Base: int(c.Base), Cand: int(c.Cand), DiffCI: [2]float64{c.Diff.Lo, c.Diff.Hi}, Ratio: ratioCI(c),
		Verdict: Inconclusive}
	switch {
	case c.Diff.Lo == 0 && c.Diff.Hi == 0:
		d.Verdict = NonInferior
	case c.Base+c.Cand < minLong:
	case c.Diff.Hi < 0:
		d.Verdict = Better
	case c.Ratio != nil && c.Ratio.Upper <= 1+x.Margin:
		d.Verdict = NonInferior
	case c.Ratio != nil && c.Ratio.Lo > 1+x.Margin, c.Ratio == nil && c.Diff.Lo > 0:
		d.Verdict = Worse
	}
	return d
}
