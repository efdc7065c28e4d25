package analyze

import (
	"fmt"
	"iter"
	"slices"

	"reprise/analyze/stats"
)

// judge fills in every figure. It runs only when the load was the same.
func (x *comparing) judge() {
	c, both := x.out, x.with(bothLatency)
	_, unit, n := clusters(both)
	c.Resample = Resample{unit, n, resamples, x.Seed}
	c.Metrics, c.Absent = x.metrics(both)
	gaps, counts, why := x.gaps(both)
	if why != "" {
		c.Absent = append(c.Absent, Absence{"chunk_gap", why})
	} else {
		c.Metrics, c.LongGaps = append(c.Metrics, gaps...), counts
	}
	c.Failures, c.SLO, c.Turned = x.failures(), x.slo(), x.turned()
	c.Curves = x.curves(both)
	c.Within = x.within(both)
	c.Groups, c.Lengths = x.groups(both), x.lengths(both)
	c.adjust()
	c.Gate = c.gate()
	if n > 0 && n < 2*fewClusters {
		c.warn("few_clusters", "only %d independent units (%s): intervals are rough", n, unit)
	}
}

// metrics compares every latency metric that both runs hold.
func (x *comparing) metrics(pairs []paired) ([]Delta, []Absence) {
	deltas, absent := []Delta{}, []Absence{}
	for m, info := range latencyMetrics {
		d, why := x.latency(metric(m), pairs)
		if why != "" {
			absent = append(absent, Absence{info.name, why})
		}
		for i := range d {
			d[i].Gated = info.gated
		}
		deltas = append(deltas, d...)
	}
	return deltas, absent
}

// adjust gives the p-values of the gated figures for their number (Holm) and those of the groups (Benjamini-Hochberg).
func (c *Comparison) adjust() {
	adjustIn(c.Metrics, func(d *Delta) bool { return d.Gated }, stats.Holm)
	adjustGroups(c.Groups)
	adjustGroups(c.Lengths)
}

func adjustGroups(groups []GroupDelta) {
	var scan []Delta
	for _, g := range groups {
		scan = append(scan, g.Metrics...)
	}
	adjustIn(scan, func(*Delta) bool { return true }, stats.BH)
	for i := range groups {
		n := len(groups[i].Metrics)
		copy(groups[i].Metrics, scan[:n])
		scan = scan[n:]
	}
}

func adjustIn(deltas []Delta, keep func(*Delta) bool, method func([]float64) []float64) {
	var p []float64
	for i := range deltas {
		if keep(&deltas[i]) {
			p = append(p, deltas[i].P)
		}
	}
	p = method(p)
	for i := range deltas {
		if keep(&deltas[i]) {
			deltas[i].PAdj, p = &p[0], p[1:]
		}
	}
}

// gate names the figures that decide.
func (c *Comparison) gate() []string {
	out := []string{"failures"}
	if c.SLO != nil {
		out = append(out, "attainment")
	}
	for i := range c.Metrics {
		if c.Metrics[i].Gated {
			out = append(out, figureOf(&c.Metrics[i]))
		}
	}
	return out
}

// overall is worse when any gated figure is; better when one is, which must hold for the number of figures looked at
// (Holm), and none is open; non-inferior when none is open; else inconclusive.
func (c *Comparison) overall() string {
	if !c.Comparable {
		return NotComparable
	}
	verdicts, better, latency := []string{c.Failures.Verdict}, c.Failures.Verdict == Better, false
	if c.SLO != nil {
		verdicts = append(verdicts, c.SLO.Good.Verdict)
		better = better || c.SLO.Good.Verdict == Better
	}
	for _, d := range c.Metrics {
		if d.Gated {
			latency = true
			verdicts = append(verdicts, d.Verdict)
			better = better || d.Verdict == Better && *d.PAdj <= .05
		}
	}
	switch {
	case slices.Contains(verdicts, Worse):
		return Worse
	case !latency || slices.Contains(verdicts, Inconclusive):
		return Inconclusive
	case better:
		return Better
	}
	return NonInferior
}

// warn lists what a reader must know before trusting the figures.
func (c *Comparison) warn(code, format string, args ...any) {
	c.Warnings = append(c.Warnings, Warning{code, fmt.Sprintf(format, args...)})
}

// bothSides yields base and candidate, with the word that a message uses.
func (c *Comparison) bothSides() iter.Seq2[string, *Side] {
	return func(yield func(string, *Side) bool) {
		_ = yield("base", c.Sides["base"]) && yield("candidate", c.Sides["cand"])
	}
}
