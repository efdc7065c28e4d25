package analyze

import (
	"context"
	"fmt"
	"math"
)

// Noise is the comparison of the base with another run of the same target (A/A): what differs there differs by chance
// and by what the target did meanwhile, and a candidate must differ by more (metrics.md 2.4).
type Noise struct {
	Run        string   `json:"run"`
	Comparable bool     `json:"comparable"`
	WhyNot     []string `json:"why_not"`
	Pairs      int      `json:"pairs"`
	Verdict    string   `json:"verdict"` // of the A/A comparison: non-inferior is a quiet target
	Demoted    []string `json:"demoted"` // figures whose difference is within the noise: inconclusive
}

// NoiseDelta is one figure of the A/A comparison. Ratio and CI are nil for a share, and where Delta has none.
type NoiseDelta struct {
	Diff  float64     `json:"diff"`
	Ratio *float64    `json:"ratio"`
	CI    *[2]float64 `json:"ci"`
}

// CompareWithNoise is [Compare], with the noise floor that again, another run of the base's target, shows. A figure that is better or
// worse by no more than the same figure differs between the two base runs becomes inconclusive.
func CompareWithNoise(ctx context.Context, e *Engine, runs [3]*Run, o CompareOptions) (*Comparison, error) {
	base, again, cand := runs[0], runs[1], runs[2]
	c, err := Compare(ctx, e, base, cand, o)
	if err != nil {
		return nil, err
	}
	n, err := Compare(ctx, e, base, again, o)
	if err != nil {
		return nil, fmt.Errorf("second base run: %w", err)
	}
	c.takeNoise(n)
	return c, nil
}

// takeNoise puts the figures of the A/A comparison beside those of c, and judges again.
func (c *Comparison) takeNoise(n *Comparison) {
	c.Noise = &Noise{Run: n.Cand, Comparable: n.Comparable, WhyNot: n.WhyNot, Pairs: n.Pairs, Verdict: n.Verdict, Demoted: []string{}}
	c.Warnings = deleteWarning(c.Warnings, "run_to_run")
	if !n.Comparable {
		c.warn("noise_unknown", "the two runs of the base's target are not comparable, so how far they differ by chance is unknown: %s", n.WhyNot[0])
		return
	}
	for i := range c.Metrics {
		c.Metrics[i].quiet(c.Noise, n.Metrics)
	}
	c.Failures.quiet(c.Noise, "failures", &n.Failures)
	if c.SLO != nil && n.SLO != nil {
		c.SLO.Good.quiet(c.Noise, "attainment", &n.SLO.Good)
	}
	if n.Verdict == Worse || n.Verdict == Better {
		c.warn("noisy_target", "two runs of the base's target are not alike (the second is %s): what the candidate changes cannot be told from what changes by itself, unless it is more", n.Verdict)
	}
	c.Verdict = c.overall()
	c.GateFailed = c.Verdict == Worse || c.Verdict == NotComparable
}

func deleteWarning(list []Warning, code string) (out []Warning) {
	out = []Warning{}
	for _, w := range list {
		if w.Code != code {
			out = append(out, w)
		}
	}
	return out
}

// quiet finds the figure among those of the A/A comparison.
func (d *Delta) quiet(noise *Noise, same []Delta) {
	for _, s := range same {
		if s.Metric != d.Metric || s.Quantile != d.Quantile {
			continue
		}
		d.Noise = &NoiseDelta{s.Diff, s.Ratio, s.CI}
		if decided(d.Verdict) && withinNoise(d, &s) {
			d.Verdict = Inconclusive
			noise.Demoted = append(noise.Demoted, figureOf(d))
		}
	}
}

// withinNoise compares ratios, in either direction; without ratios differences.
func withinNoise(d, same *Delta) bool {
	if d.Ratio != nil && same.Ratio != nil && *d.Ratio > 0 && *same.Ratio > 0 {
		return math.Abs(math.Log(*d.Ratio)) <= math.Abs(math.Log(*same.Ratio))
	}
	return math.Abs(d.Diff) <= math.Abs(same.Diff)
}

func (d *ShareDelta) quiet(noise *Noise, name string, same *ShareDelta) {
	if d.Diff == nil || same.Diff == nil {
		return
	}
	d.Noise = &NoiseDelta{Diff: *same.Diff}
	if decided(d.Verdict) && math.Abs(*d.Diff) <= math.Abs(*same.Diff) {
		d.Verdict = Inconclusive
		noise.Demoted = append(noise.Demoted, name)
	}
}

func decided(verdict string) bool { return verdict == Better || verdict == Worse }

// figureOf is a figure's name as the gate has it.
func figureOf(d *Delta) string {
	return fmt.Sprintf("%s_p%g", d.Metric, math.Round(d.Quantile*1e6)/1e4)
}
