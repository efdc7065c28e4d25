package analyze

import (
	"context"
	"fmt"
)

// Experiment is one traffic sent to two targets in the order base, candidate, candidate, base (ABBA): what drifts with time
// meets both alike, and each target's two runs show its own noise (metrics.md part 6).
type Experiment struct {
	Verdict    string         `json:"verdict"` // that of both halves; inconclusive when they disagree
	GateFailed bool           `json:"gate_failed"`
	Halves     [2]*Comparison `json:"halves"`     // first base with first candidate, second candidate with second base
	Candidate  *Noise         `json:"cand_twice"` // the candidate's two runs
	Figures    []TwiceDelta   `json:"figures"`
}

// TwiceDelta is one deciding figure in both halves. Values are milliseconds, ratios candidate / base.
type TwiceDelta struct {
	Figure  string      `json:"figure"`
	Base    [2]float64  `json:"base"`
	Cand    [2]float64  `json:"cand"`
	Ratio   [2]*float64 `json:"ratio"`
	Noise   *float64    `json:"noise"` // ratio of the base's second run to its first
	Verdict string      `json:"verdict"`
}

// SentRun is a run and the part of it that counts: arrivals from From on and before To, microseconds since 1970; nil is no bound.
type SentRun struct {
	*Run
	From, To *int64
}

// CompareABBA compares the four runs in the order they were sent.
func CompareABBA(ctx context.Context, e *Engine, runs [4]SentRun, o CompareOptions) (*Experiment, error) {
	x := &Experiment{Figures: []TwiceDelta{}}
	for i, half := range [2][3]SentRun{{runs[0], runs[3], runs[1]}, {runs[3], runs[0], runs[2]}} {
		var err error
		o.Scope.From, o.Scope.To = half[0].From, half[0].To
		if x.Halves[i], err = CompareWithNoise(ctx, e, [3]*Run{half[0].Run, half[1].Run, half[2].Run}, o); err != nil {
			return nil, fmt.Errorf("half %d: %w", i+1, err)
		}
	}
	o.Scope.From, o.Scope.To = runs[1].From, runs[1].To
	twice, err := Compare(ctx, e, runs[1].Run, runs[2].Run, o)
	if err != nil {
		return nil, fmt.Errorf("candidate twice: %w", err)
	}
	x.Candidate = &Noise{Run: twice.Cand, Comparable: twice.Comparable, WhyNot: twice.WhyNot, Pairs: twice.Pairs, Verdict: twice.Verdict, Demoted: []string{}}
	x.conclude()
	return x, nil
}

func (x *Experiment) conclude() {
	a, b := x.Halves[0], x.Halves[1]
	x.Verdict = agreed(a.Verdict, b.Verdict)
	x.GateFailed = x.Verdict == Worse || x.Verdict == NotComparable
	for i := range a.Metrics {
		for j := range b.Metrics {
			if d, f := &a.Metrics[i], &b.Metrics[j]; d.Gated && d.Metric == f.Metric && d.Quantile == f.Quantile {
				t := TwiceDelta{Figure: figureOf(d), Base: [2]float64{d.Base, f.Base}, Cand: [2]float64{d.Cand, f.Cand}, Ratio: [2]*float64{d.Ratio, f.Ratio}, Verdict: agreed(d.Verdict, f.Verdict)}
				if d.Noise != nil {
					t.Noise = d.Noise.Ratio
				}
				x.Figures = append(x.Figures, t)
			}
		}
	}
}

// agreed is the verdict of two halves. One that does not compare spoils both; better beside non-inferior is non-inferior.
func agreed(a, b string) string {
	switch {
	case a == b:
		return a
	case a == NotComparable || b == NotComparable:
		return NotComparable
	case a != Worse && b != Worse && a != Inconclusive && b != Inconclusive:
		return NonInferior
	}
	return Inconclusive
}
