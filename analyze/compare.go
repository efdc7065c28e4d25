package analyze

import (
	"context"
	"fmt"
)

// CompareOptions say how two runs are compared. Scope.From and To bound the base run; the candidate, which may have run
// at another time, contributes what pairs with it. Scope.By adds a comparison a group, grouped by the base run's rows.
type CompareOptions struct {
	Scope  Scope
	Margin float64 // how much worse a ratio may be before it counts; 0 is .10
	Seed   uint64  // of the bootstrap

	Lengths bool // also compare by the length of the prompts
}

// Verdicts of a figure and of a comparison.
const (
	Better        = "better"         // the interval lies on the good side of no change
	NonInferior   = "non-inferior"   // not worse by more than the margin
	Worse         = "worse"          // worse by more than the margin
	Inconclusive  = "inconclusive"   // the data do not decide
	NotComparable = "not-comparable" // the runs did not receive the same load
)

// Comparison is the answer to whether the candidate is better. Latencies are milliseconds. Intervals hold what varies
// within these two runs; what varies from one run of the same target to the next only a repeated run (A/A) shows.
type Comparison struct {
	Base       string   `json:"base"` // paths as given
	Cand       string   `json:"cand"`
	Verdict    string   `json:"verdict"`
	GateFailed bool     `json:"gate_failed"` // the verdict is worse or not-comparable: a gate asks for proof
	Gate       []string `json:"gate"`        // the figures that decide
	Comparable bool     `json:"comparable"`
	WhyNot     []string `json:"why_not"`
	WouldHelp  []string `json:"would_help"` // what would make them comparable
	Margin     float64  `json:"margin"`

	Pairs    int              `json:"pairs"` // logical requests whose id is in both runs
	Paired   PairCounts       `json:"paired"`
	Sides    map[string]*Side `json:"sides"` // base, cand
	Fidelity Fidelity         `json:"fidelity"`
	Resample Resample         `json:"resample"`

	Metrics  []Delta      `json:"metrics"`
	Absent   []Absence    `json:"absent"`    // metrics without a comparison
	LongGaps []CountDelta `json:"long_gaps"` // chunk gaps above a threshold
	Failures ShareDelta   `json:"failures"`  // share of pairs that failed, by fault of the service
	SLO      *SLODelta    `json:"slo"`       // nil without an SLO
	Groups   []GroupDelta `json:"groups,omitempty"`
	Lengths  []GroupDelta `json:"lengths,omitempty"`
	Within   []PairDelta  `json:"within_pairs"` // how single requests changed
	Curves   []Curve      `json:"curves"`
	Noise    *Noise       `json:"noise"`      // how far two runs of the base's target differ; nil when only one is given
	Turned   []Turned     `json:"turned"`     // pairs that changed sides, at most 50 of each kind
	ToBad    int          `json:"turned_bad"` // how many there are
	ToGood   int          `json:"turned_good"`
	Warnings []Warning    `json:"warnings"`
}

// Absence names a metric that could not be compared and says why.
type Absence struct {
	Metric string `json:"metric"`
	Reason string `json:"reason"`
}

// Resample says how the intervals were made.
type Resample struct {
	Unit     string `json:"unit"` // session, block (ten seconds of arrivals) or request
	Clusters int    `json:"clusters"`
	B        int    `json:"b"`
	Seed     uint64 `json:"seed"`
}

const resamples = 2000

// Compare pairs the logical requests of two runs by id and judges every figure of metrics.md 2.4.
func Compare(ctx context.Context, e *Engine, base, cand *Run, o CompareOptions) (*Comparison, error) {
	if o.Margin == 0 {
		o.Margin = .10
	}
	b, err := e.side(ctx, base, o.Scope)
	if err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	scope := o.Scope
	scope.From, scope.To = nil, nil
	c, err := e.side(ctx, cand, scope)
	if err != nil {
		return nil, fmt.Errorf("candidate: %w", err)
	}
	return compare(b, c, o), nil
}

// compare is [Compare] on the rows: it reads nothing.
func compare(base, cand *sideRows, o CompareOptions) *Comparison {
	x := comparing{CompareOptions: o, base: base, cand: cand, pairs: pair(base, cand)}
	c := &Comparison{Base: base.path, Cand: cand.path, Margin: o.Margin, Pairs: len(x.pairs), Paired: x.counts(),
		WhyNot: []string{}, WouldHelp: []string{}, Gate: []string{}, Metrics: []Delta{}, Absent: []Absence{}, LongGaps: []CountDelta{}, Within: []PairDelta{}, Curves: []Curve{},
		Turned: []Turned{}, Warnings: []Warning{}}
	x.out = c
	c.Sides = map[string]*Side{"base": x.describe(base, baseOf), "cand": x.describe(cand, candOf)}
	x.checkLoad()
	x.warn()
	c.Comparable = len(c.WhyNot) == 0
	if c.Comparable {
		x.judge()
	}
	c.Verdict = c.overall()
	c.GateFailed = c.Verdict == Worse || c.Verdict == NotComparable
	return c
}
