package analyze

import (
	"cmp"
	"fmt"
	"slices"

	"reprise/analyze/stats"
)

// States of a rung. Only one that was measured has figures.
const (
	RungMeasured   = "measured"
	RungInvalid    = "invalid"    // the replay says that its latencies are those of the client
	RungIncomplete = "incomplete" // not everything was sent
	RungSkipped    = "skipped"    // above a load that was saturated
)

// SweepRung is one load of a sweep. Figures are over the requests that were due in the window, with warm-up and drain cut off;
// nil without a figure. Latencies are milliseconds.
type SweepRung struct {
	Speed   float64  `json:"speed"` // load as a multiple of the recorded one
	State   string   `json:"state"`
	Why     []string `json:"why"` // not measured; or measured with these doubts
	Run     string   `json:"run,omitempty"`
	Verdict string   `json:"fidelity,omitempty"` // of the replay: FAITHFUL, DEGRADED or INVALID

	From        int64    `json:"from_us,omitempty"` // the window, microseconds since 1970, half open
	To          int64    `json:"to_us,omitempty"`
	Offered     int      `json:"offered"`   // requests due in the window, without those that the caller gave up or got wrong
	Completed   int      `json:"completed"` // answers that ended well in the window
	OfferedPS   *float64 `json:"offered_per_s"`
	Judged      int      `json:"judged"`         // good or bad under the objective
	Attainment  *float64 `json:"attainment"`     // good of judged
	Low         *float64 `json:"attainment_low"` // Wilson, 95 %
	High        *float64 `json:"attainment_high"`
	Smoothed    *float64 `json:"attainment_nonincreasing"`
	TTFTP50     *float64 `json:"ttft_p50_ms"` // from the due time
	TTFTP95     *float64 `json:"ttft_p95_ms"`
	TTFTP99     *float64 `json:"ttft_p99_ms"`
	GapP99      *float64 `json:"chunk_gap_p99_ms"`
	GoodPS      *float64 `json:"good_requests_per_s"`
	GoodTokens  *float64 `json:"good_tokens_per_s"`
	Running     *float64 `json:"running"` // mean number of requests at once
	Saturated   bool     `json:"saturated"`
	SaturatedBy string   `json:"saturated_by,omitempty"`
}

// Sweep is the answer to how much load a target carries within an objective (metrics.md 7.3).
type Sweep struct {
	Base      string        `json:"base"`
	Objective string        `json:"objective"`
	Seed      uint64        `json:"seed"`
	Order     []float64     `json:"order"` // in which the loads were sent
	WarmUp    float64       `json:"warm_up"`
	Drain     float64       `json:"drain"` // shares of a rung's length that are cut off
	Rungs     []SweepRung   `json:"rungs"` // by speed
	Capacity  []LoadAtLevel `json:"capacity"`
	Knee      *float64      `json:"knee_speed"` // of the 95th percentile of TTFT; nil with fewer than three measured loads
	Peak      *PeakGoodput  `json:"peak_goodput"`
	Warnings  []Warning     `json:"warnings"`
}

// LoadAtLevel is the largest load at which so many requests are good. Exact says that it lies between two measured loads;
// else it is a bound: AtMost below the lowest load measured, AtLeast at the highest.
type LoadAtLevel struct {
	Attainment float64  `json:"attainment"`
	Speed      *float64 `json:"speed"` // nil when nothing was measured
	OfferedPS  *float64 `json:"offered_per_s"`
	Bound      string   `json:"bound"` // exact, at_most or at_least
}

// PeakGoodput is the load with most tokens of good requests a second.
type PeakGoodput struct {
	Speed      float64 `json:"speed"`
	TokensPS   float64 `json:"good_tokens_per_s"`
	AtHighest  bool    `json:"at_highest"` // it is the highest load measured: more may come above it
	Attainment float64 `json:"attainment"`
}

// capacityLevels are the attainments for which a capacity is given.
var capacityLevels = []float64{.9, .99}

// conclude sorts the rungs and fills in what follows from all of them.
func (s *Sweep) conclude() {
	slices.SortFunc(s.Rungs, func(a, b SweepRung) int { return cmp.Compare(a.Speed, b.Speed) })
	var at []int
	for i := range s.Rungs {
		if s.Rungs[i].State == RungMeasured && s.Rungs[i].Attainment != nil {
			at = append(at, i)
		}
	}
	s.Capacity, s.Warnings, s.Knee, s.Peak = []LoadAtLevel{}, []Warning{}, nil, nil
	s.capacities(at)
	s.knee()
	s.peak(at)
	s.warn()
}

func (s *Sweep) capacities(at []int) {
	var speed, share, weight, rate []float64
	for _, i := range at {
		r := &s.Rungs[i]
		speed, share, weight, rate = append(speed, r.Speed), append(share, *r.Attainment), append(weight, float64(r.Judged)), append(rate, deref(r.OfferedPS))
	}
	smooth := stats.NonIncreasing(share, weight)
	for k, i := range at {
		s.Rungs[i].Smoothed = &smooth[k]
	}
	for _, level := range capacityLevels {
		c := LoadAtLevel{Attainment: level}
		if len(at) > 0 {
			x, side := stats.Crossing(speed, smooth, level)
			perS, _ := stats.Crossing(rate, smooth, level) // the same place between the same two loads
			c.Speed, c.OfferedPS, c.Bound = &x, &perS, map[int]string{-1: "at_most", 0: "exact", 1: "at_least"}[side]
		}
		s.Capacity = append(s.Capacity, c)
	}
}

func (s *Sweep) knee() {
	var speed, p95 []float64
	for _, r := range s.Rungs {
		if r.State == RungMeasured && r.TTFTP95 != nil {
			speed, p95 = append(speed, r.Speed), append(p95, *r.TTFTP95)
		}
	}
	if k := stats.Knee(speed, p95); k >= 0 {
		s.Knee = &speed[k]
	}
}

func (s *Sweep) peak(at []int) {
	for n, i := range at {
		r := &s.Rungs[i]
		if v := r.GoodTokens; v != nil && (s.Peak == nil || *v > s.Peak.TokensPS) {
			s.Peak = &PeakGoodput{r.Speed, *v, n == len(at)-1, *r.Attainment}
		}
	}
}

// Below these a rung is too short for its figures (metrics.md 7.3).
const (
	rungSeconds  = 600
	rungRequests = 1000
)

func (s *Sweep) warn() {
	short, lost := 0, 0
	for _, r := range s.Rungs {
		if r.State == RungMeasured && (r.To-r.From < rungSeconds*1_000_000 || r.Offered < rungRequests) {
			short++
		}
		if r.State == RungInvalid || r.State == RungIncomplete {
			lost++
		}
	}
	add := func(code, format string, args ...any) {
		s.Warnings = append(s.Warnings, Warning{code, fmt.Sprintf(format, args...)})
	}
	if short > 0 {
		add("short_rungs", "loads measured for less than %d s or with fewer than %d requests, whose intervals are wide: %d", rungSeconds, rungRequests, short)
	}
	if lost > 0 {
		add("loads_without_figures", "loads without figures, where a straight line between their neighbours stands: %d", lost)
	}
}

// SkipAbove is the lowest load that was saturated; loads above it need not be sent. 0 without one.
func (s *Sweep) SkipAbove() (speed float64) {
	for _, r := range s.Rungs {
		if r.State == RungMeasured && r.Saturated && (speed == 0 || r.Speed < speed) {
			speed = r.Speed
		}
	}
	return speed
}

// Add takes a rung, in any order.
func (s *Sweep) Add(r SweepRung) {
	s.Order = append(s.Order, r.Speed)
	s.Rungs = append(s.Rungs, r)
	s.conclude()
}
