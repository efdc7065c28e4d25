package analyze

import (
	"math"
	"slices"

	"reprise/analyze/stats"
)

const (
	minIsolated = 30 // isolated requests that a fit of the prefill cost needs (metrics.md 7.1)
	minSpread   = 4  // times that the largest of their prompts must exceed the smallest
	minPaced    = 30 // streams that a fit of the decode pace needs
	minLoaded   = 10 // of them, those that decoded while others prefilled
)

// PrefillFit is what the requests of one model say about the cost of a prefill (metrics.md 4.9 and 7.1). As JSON it is
// what the view prefill_fits reads.
type PrefillFit struct {
	Model   string   `json:"model"`
	AUS     float64  `json:"a_us"`     // first token of an empty prompt: network, gateway and one step
	TokenUS float64  `json:"token_us"` // of each uncached token under load: the larger of AloneUS and LoadedUS
	PaceUS  *float64 `json:"pace_us"`  // that a token of another's prompt costs a decode: PaceUS + LoadUS for each
	LoadUS  *float64 `json:"load_us"`  // other stream in decode; nil when too few streams decoded beside a prefill

	AloneUS  float64 `json:"alone_us"` // of each uncached token on an idle replica
	LoadedUS float64 `json:"-"`        // mean cost of a token of another's prompt to a decode; 0 when PaceUS is nil
	Isolated int64   `json:"-"`        // requests that AUS and AloneUS were found among
	Floor    bool    `json:"-"`        // too few were isolated: AUS and AloneUS are the tenth percentile of all requests
	Paced    int     `json:"-"`        // streams that PaceUS and LoadUS come from
}

// prompt is an isolated request.
type prompt struct{ tokens, ttftUS float64 }

// alone fits first token = a + b tokens to isolated requests. Each power of two of tokens counts as one point, its
// medians, else hundreds of short prompts outvote the few long ones; the line is Theil-Sen's, so that a long prompt
// that met a busy machine does not bend it (least absolute deviations would follow it: EX-7.1 gives b .24 for .1).
func alone(prompts []prompt) (a, b float64, ok bool) {
	octaves, wide := byOctave(prompts)
	if len(prompts) < minIsolated || !wide {
		return 0, 0, false
	}
	var x, y []float64
	for _, group := range octaves {
		x = append(x, median(group, func(p prompt) float64 { return p.tokens }))
		y = append(y, median(group, func(p prompt) float64 { return p.ttftUS }))
	}
	b, a = stats.TheilSen(x, y)
	return a, b, b > 0
}

// floorOf fits the line that a tenth of the requests stay below, each power of two of tokens with the same weight: what a first
// token costs when hardly anybody is in the way, where too few requests were alone (metrics.md 7.1).
func floorOf(prompts []prompt) (a, b float64, ok bool) {
	octaves, wide := byOctave(prompts)
	if len(prompts) < 3*minIsolated || !wide {
		return 0, 0, false
	}
	var x, y, w []float64
	for _, p := range prompts {
		x, y, w = append(x, p.tokens), append(y, p.ttftUS), append(w, 1/float64(len(octaves[math.Ilogb(p.tokens)])))
	}
	b, a = stats.QuantileLine(x, y, w, .1)
	return a, b, b > 0
}

// byOctave groups prompts by powers of two of their tokens and says whether they differ enough for a line.
func byOctave(prompts []prompt) (octaves map[int][]prompt, wide bool) {
	octaves = map[int][]prompt{}
	low, high := math.Inf(1), 0.0
	for _, p := range prompts {
		octave := math.Ilogb(p.tokens)
		octaves[octave] = append(octaves[octave], p)
		low, high = min(low, p.tokens), max(high, p.tokens)
	}
	return octaves, high >= minSpread*low
}

func median(group []prompt, value func(prompt) float64) float64 {
	var v []float64
	for _, p := range group {
		v = append(v, value(p))
	}
	slices.Sort(v)
	return stats.Quantile(v, .5)
}

// stream is one that decoded: time a step, tokens of others' prompts a step, other streams.
type stream struct{ stepUS, steps, stepTokens, others, weight float64 }

// pace fits time a step = c0 + c1 tokens + c2 others + c3 tokens others by least absolute deviations, and puts c1, c3 and
// the mean of c1 + c3 others over all tokens into the fit (metrics.md 4.9; the last term is ours: it halved the error
// of the estimate on six real runs).
func (f *PrefillFit) pace(streams []stream) bool {
	var x [][]float64
	var y, w []float64
	loaded := 0
	for _, s := range streams {
		x = append(x, []float64{1, s.stepTokens, s.others, s.stepTokens * s.others})
		y, w = append(y, s.stepUS), append(w, s.weight)
		if s.stepTokens > 0 {
			loaded++
		}
	}
	if len(streams) < minPaced || loaded < minLoaded {
		return false
	}
	c := stats.LAD(x, y, w)
	cost, tokens := 0.0, 0.0
	for _, s := range streams {
		n := s.weight * s.steps * s.stepTokens
		cost, tokens = cost+n*max(0, c[1]+c[3]*s.others), tokens+n
	}
	f.PaceUS, f.LoadUS, f.LoadedUS, f.Paced = &c[1], &c[3], cost/tokens, len(streams)
	f.TokenUS = max(f.AloneUS, f.LoadedUS)
	return true
}
