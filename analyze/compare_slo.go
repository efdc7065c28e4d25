package analyze

import (
	"cmp"
	"math"
	"slices"

	"reprise/analyze/stats"
)

// SLODelta compares attainment and goodput over the pairs that both runs can judge (good or bad).
type SLODelta struct {
	Text      string     `json:"text"`
	Objective *float64   `json:"objective"`
	Good      ShareDelta `json:"good"`
	Base      SLOSide    `json:"base"`
	Cand      SLOSide    `json:"cand"`
	// Ratios candidate / base of good requests a second and of their output tokens a second; nil when the base has none.
	Requests *RatioCI `json:"requests_ratio"`
	Tokens   *RatioCI `json:"tokens_ratio"`
	Withheld string   `json:"withheld,omitempty"` // why there is no verdict
}

// SLOSide is the attainment of one run over the judged pairs. Rates are over the time from the first to the last paired
// arrival of the base run, which both runs were sent in. Tokens are those of the pairs for which both runs tell them.
type SLOSide struct {
	Good       int        `json:"good"`
	Share      *float64   `json:"share"`
	CI         [2]float64 `json:"ci"`  // Wilson, 95 %
	Met        string     `json:"met"` // is the objective met: pass, fail, inconclusive (exact binomial)
	RequestsPS *float64   `json:"requests_per_s"`
	TokensPS   *float64   `json:"tokens_per_s"`
}

// RatioCI is a ratio with its two-sided 95 % interval.
type RatioCI struct {
	Ratio float64    `json:"ratio"`
	CI    [2]float64 `json:"ci"`
}

// slo judges the pairs; nil without an SLO.
func (x *comparing) slo() *SLODelta {
	s := x.Scope.SLO
	if !s.has(sloMetrics...) {
		return nil
	}
	judged := x.with(func(p paired) bool { return p.base.judged() && p.cand.judged() })
	d := &SLODelta{Text: s.Text}
	objective := .99
	if s.Objective > 0 && s.Objective < 1 {
		objective = s.Objective
		d.Objective = &objective
	}
	// what may be lost is a part of the error budget: the margin's share of it
	budget := x.Margin * (1 - objective)
	d.Good = x.share(judged, (*logical).good, -1, harm{budget, budget})
	span := spanSeconds(judged)
	d.Base, d.Cand = sloSide(judged, baseOf, span, objective), sloSide(judged, candOf, span, objective)
	d.Requests = x.totals(judged, func(l *logical) float64 { return indicator(l.good()) })
	told := slices.DeleteFunc(slices.Clone(judged), func(p paired) bool { return p.base.output == nil || p.cand.output == nil })
	d.Tokens = x.totals(told, goodTokens)
	d.Base.TokensPS, d.Cand.TokensPS = tokensPS(told, baseOf, span), tokensPS(told, candOf, span)
	if why := x.withheld[e2e]; why != "" && s.has("e2e") {
		d.Withheld, d.Good.Verdict = why, Inconclusive
	}
	return d
}

func goodTokens(l *logical) float64 {
	if !l.good() {
		return 0
	}
	return float64(deref(l.output))
}

func sloSide(pairs []paired, of picker, span *float64, objective float64) SLOSide {
	s := SLOSide{}
	for _, p := range pairs {
		if of(p).good() {
			s.Good++
		}
	}
	s.Share = ratioOf(float64(s.Good), float64(len(pairs)))
	s.CI[0], s.CI[1] = stats.Wilson(s.Good, len(pairs))
	s.Met = stats.PercentileVerdict(len(pairs)-s.Good, len(pairs), objective)
	if span != nil {
		s.RequestsPS = ratioOf(float64(s.Good), *span)
	}
	return s
}

// tokensPS is nil where no pair tells its tokens in both runs.
func tokensPS(told []paired, of picker, span *float64) *float64 {
	if span == nil || len(told) == 0 {
		return nil
	}
	sum := 0.0
	for _, p := range told {
		sum += goodTokens(of(p))
	}
	return ratioOf(sum, *span)
}

// totals compares the sums of v by the paired bootstrap.
func (x *comparing) totals(pairs []paired, v func(*logical) float64) *RatioCI {
	labels, _, n := clusters(pairs)
	base, cand := make([]float64, n), make([]float64, n)
	for i, p := range pairs {
		base[labels[i]] += v(p.base)
		cand[labels[i]] += v(p.cand)
	}
	if n == 0 {
		return nil
	}
	return ratioCI(x.bootstrap(n).Totals(base, cand))
}

func ratioCI(c stats.Change) *RatioCI {
	if c.Ratio == nil {
		return nil
	}
	return &RatioCI{c.Ratio.Value, [2]float64{c.Ratio.Lo, c.Ratio.Hi}}
}

// spanSeconds is the time from the first to the last arrival in the base run; nil when unknown or none.
func spanSeconds(pairs []paired) *float64 {
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, p := range pairs {
		if a := p.base.arrival; a != nil {
			lo, hi = min(lo, *a), max(hi, *a)
		}
	}
	if hi <= lo {
		return nil
	}
	s := float64(hi-lo) / 1e6
	return &s
}

// Turned is a pair that one run served well and the other did not: good under the SLO, or finished when there is none.
type Turned struct {
	ID   string     `json:"request_id"`
	To   string     `json:"to"` // bad or good
	Base TurnedSide `json:"base"`
	Cand TurnedSide `json:"cand"`
}

// TurnedSide is what one run made of the request; milliseconds, nil when unknown.
type TurnedSide struct {
	Status string   `json:"status"`
	TTFT   *float64 `json:"ttft_ms"`
	TPOT   *float64 `json:"tpot_ms"`
	E2E    *float64 `json:"e2e_ms"`
	MaxGap *float64 `json:"max_gap_ms"`
}

const maxTurned = 50 // of each kind

// turned counts the pairs that changed sides and lists them, those whose TTFT changed most first.
func (x *comparing) turned() []Turned {
	fine := (*logical).ok
	known := func(l *logical) bool { return l.ok() || l.failed() }
	if x.Scope.SLO.has(sloMetrics...) {
		fine, known = (*logical).good, (*logical).judged
	}
	var bad, good []Turned
	for _, p := range x.pairs {
		if !known(p.base) || !known(p.cand) || fine(p.base) == fine(p.cand) {
			continue
		}
		t := Turned{ID: p.base.id, To: "bad", Base: turnedSide(p.base), Cand: turnedSide(p.cand)}
		if fine(p.cand) {
			t.To = "good"
			good = append(good, t)
		} else {
			bad = append(bad, t)
		}
	}
	x.out.ToBad, x.out.ToGood = len(bad), len(good)
	return append(largest(bad), largest(good)...)
}

func largest(t []Turned) []Turned {
	moved := func(t Turned) float64 { return math.Abs(deref(t.Cand.TTFT) - deref(t.Base.TTFT)) }
	slices.SortStableFunc(t, func(a, b Turned) int { return cmp.Compare(moved(b), moved(a)) })
	return append([]Turned{}, t[:min(len(t), maxTurned)]...)
}

func turnedSide(l *logical) TurnedSide {
	ms := func(m metric) *float64 {
		if v := l.values[m]; v != nil {
			r := *v / 1e3
			return &r
		}
		return nil
	}
	return TurnedSide{l.status, ms(ttft), ms(tpot), ms(e2e), ms(maxGap)}
}
