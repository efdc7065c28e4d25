package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/analyze/stats"
)

// Limits within which two runs count as the same load (metrics.md part 6).
const (
	minPaired     = .80 // of the smaller run, and of each run's requests in the time of the pairs
	maxArrivalKS  = .05
	maxShiftMS    = 10.0 // arrivals that moved by less, or by less than this part of their mean distance, are equal
	maxShiftPart  = .10
	minRate       = .95 // and up to 1.05
	minInput      = .98 // and up to 1.02
	minSamePrompt = .95 // pairs whose input tokens agree within 2 %
	minOutput     = .95 // and up to 1.05
)

// Fidelity compares what the two runs were sent, over the pairs. nil: the logs do not tell.
type Fidelity struct {
	ArrivalKS    *float64 `json:"arrival_ks"`           // KS distance of the gaps between arrivals
	ArrivalShift *float64 `json:"arrival_shift_p95_ms"` // how far arrivals lie apart once the runs are aligned
	RateRatio    *float64 `json:"rate_ratio"`           // candidate / base
	InputRatio   *float64 `json:"input_ratio"`
	InputSame    *float64 `json:"input_same"`   // share of pairs whose input tokens agree within 2 %
	OutputRatio  *float64 `json:"output_ratio"` // of pairs that finished well in both
	OutputKS     *float64 `json:"output_ks"`
}

// checkLoad fills in Fidelity, WhyNot, and what must be withheld.
func (x *comparing) checkLoad() {
	x.withheld = map[metric]string{}
	if len(x.pairs) == 0 {
		x.no(helpIDs, "no request id is in both runs (base %d requests, candidate %d)", len(x.base.rows), len(x.cand.rows))
		return
	}
	x.checkShare()
	x.checkArrivals()
	x.checkInput()
	x.checkOutput()
	x.checkKinds()
	x.checkReplays("base", x.base)
	x.checkReplays("candidate", x.cand)
	x.checkCaches()
}

// checkCaches wants both caches as cold or as warm: what an earlier replay left in one is no merit of that target (RPL-23).
func (x *comparing) checkCaches() {
	name, warm, cold := "base", x.out.Sides["base"], x.out.Sides["cand"]
	if x.cand.warm() {
		name, warm, cold = "candidate", cold, warm
	}
	if x.base.warm() != x.cand.warm() && cachesDiffer(warm, cold) {
		x.no(helpSalt, "the target's cache was warm from earlier prompts in the %s run alone: %.0f %% of the input tokens came from it, %.0f %% in the other",
			name, 100**warm.CachedShare, 100**cold.CachedShare)
	}
}

// cachesDiffer says that caches served so different shares of the prompts that it shows in the times.
func cachesDiffer(a, b *Side) bool {
	return a.CachedShare != nil && b.CachedShare != nil && math.Abs(*a.CachedShare-*b.CachedShare) > .10
}

// checkReplays believes what a replay says about itself: latencies of an invalid one are those of the client.
func (x *comparing) checkReplays(name string, s *sideRows) {
	if len(s.doubts.gaps) > 0 {
		x.no(helpShards, "the %s run is not the whole replay that several clients were to make: %s", name, strings.Join(s.doubts.gaps, "; "))
	}
	if s.doubts.apart != "" {
		x.out.warn("clocks", "the %s run: %s", name, s.doubts.apart)
	}
	for _, r := range s.replays {
		why := strings.Join(r.Fidelity.Reasons, "; ")
		switch {
		case r.Incomplete != "":
			x.no(helpAgain, "the %s run is incomplete: %s", name, r.Incomplete)
		case r.Fidelity.Verdict == "INVALID":
			x.no(helpClient, "the replay of the %s run is invalid: %s", name, why)
		case r.Fidelity.Verdict == "DEGRADED":
			x.out.warn("degraded", "the replay of the %s run is degraded: %s", name, why)
		}
	}
}

// What would make two runs comparable, by what is wrong with them.
const (
	helpIDs    = "compare replays of one run or plan, or logs that keep request ids"
	helpSame   = "send the same requests to both: one plan, or the same --from, --to, --sample and --seed; narrow logs to the shared traffic with --from and --to"
	helpSpeed  = "replay both from one plan, at one --speed and --max-gap"
	helpTokens = "let the replay measure how the target counts (without --no-preflight), or keep bodies at ingest and replay those; two models with other tokenizers never count alike"
	helpAgain  = "replay again, to the end"
	helpShards = "put what all clients of one replay wrote into one folder, each once"
	helpSalt   = "replay that run again with a --salt of its own, or against an emptied cache"
	helpClient = "replay again from a quieter or larger machine or at a lower --speed; reprise selfcheck says what this client carries"
)

// no says why the runs do not compare, and what would make them.
func (x *comparing) no(help, format string, args ...any) {
	x.out.WhyNot = append(x.out.WhyNot, fmt.Sprintf(format, args...))
	if !slices.Contains(x.out.WouldHelp, help) {
		x.out.WouldHelp = append(x.out.WouldHelp, help)
	}
}

// checkShare wants most requests paired: of the smaller run, and of all that either run served meanwhile.
func (x *comparing) checkShare() {
	n := len(x.pairs)
	if small := min(len(x.base.rows), len(x.cand.rows)); float64(n) < minPaired*float64(small) {
		x.no(helpSame, "only %d of the %d requests of the smaller run are in both", n, small)
	}
	for name, side := range x.out.bothSides() {
		if in := side.InWindow; float64(n) < minPaired*float64(in) {
			x.no(helpSame, "the %s run served %d requests in the time of the pairs, of which %d are paired: it had another load", name, in, n)
		}
	}
}

// checkArrivals compares the pattern, not the clock: a replay runs on another day.
func (x *comparing) checkArrivals() {
	var b, c, shift []float64 // milliseconds since the first pair with arrivals, whichever that is
	var zero paired
	for _, p := range x.pairs {
		if p.base.arrival == nil || p.cand.arrival == nil {
			continue
		}
		if zero.base == nil {
			zero = p
		}
		tb, tc := *p.base.arrival-*zero.base.arrival, *p.cand.arrival-*zero.cand.arrival
		b, c, shift = append(b, float64(tb)/1e3), append(c, float64(tc)/1e3), append(shift, float64(tc-tb)/1e3)
	}
	if len(b) < 3 {
		x.out.warn("arrivals_unknown", "fewer than three pairs have an arrival time in both runs: whether the load was the same is unknown")
		return
	}
	gb, spanB := steps(b)
	gc, spanC := steps(c)
	f := &x.out.Fidelity
	d := stats.KS(gb, gc)
	f.ArrivalKS, f.ArrivalShift, f.RateRatio = &d, spread(shift), ratioOf(spanB, spanC)
	if *f.ArrivalShift <= max(maxShiftMS, maxShiftPart*spanB/float64(len(gb))) {
		return
	}
	if d > maxArrivalKS {
		x.no(helpSpeed, "arrivals differ: KS distance %.3f of the gaps between them (limit %.2f)", d, maxArrivalKS)
	}
	if r := f.RateRatio; r != nil && outside(*r, minRate) {
		x.no(helpSpeed, "the candidate got %.2f times the request rate of the base (limit %.2f to %.2f)", *r, minRate, 2-minRate)
	}
}

// steps returns the sorted distances of neighbours in time and the whole span.
func steps(t []float64) (gaps []float64, span float64) {
	slices.Sort(t)
	for i := 1; i < len(t); i++ {
		gaps = append(gaps, t[i]-t[i-1])
	}
	slices.Sort(gaps)
	return gaps, t[len(t)-1] - t[0]
}

// spread is the 95th percentile of the distance from the median.
func spread(v []float64) *float64 {
	mid := *quantileOf(v, .5)
	for i := range v {
		v[i] = math.Abs(v[i] - mid)
	}
	return quantileOf(v, .95)
}

func outside(ratio, low float64) bool { return ratio < low || ratio > 2-low }

func (x *comparing) checkInput() {
	var b, c, same, n float64
	for _, p := range x.pairs {
		if p.base.input == nil || p.cand.input == nil {
			continue
		}
		ib, ic := float64(*p.base.input), float64(*p.cand.input)
		b, c, n = b+ib, c+ic, n+1
		if math.Abs(ic-ib) <= .02*ib {
			same++
		}
	}
	f := &x.out.Fidelity
	f.InputRatio, f.InputSame = ratioOf(c, b), ratioOf(same, n)
	if r := f.InputRatio; r != nil && outside(*r, minInput) {
		x.no(helpTokens, "the candidate counted %.3f times the input tokens of the base (limit %.2f to %.2f)", *r, minInput, 2-minInput)
	} else if s := f.InputSame; s != nil && *s < minSamePrompt {
		x.no(helpTokens, "only %.1f %% of the pairs have the same input tokens within 2 %% (limit %.0f %%)", 100**s, 100*minSamePrompt)
	} else if d := x.count(func(p paired) bool { return p.base.derived && p.cand.derived }); s == nil && d > 0 && x.base.path != x.cand.path {
		x.no(helpIDs, "%d pairs have only a place in a file for an id, and no input tokens to tell whether they are the same requests", d)
	}
}

// checkOutput withholds what depends on how long the answers are.
func (x *comparing) checkOutput() {
	var b, c []float64
	var sumB, sumC float64
	for _, p := range x.with(bothLatency) {
		if p.base.output != nil && p.cand.output != nil {
			b, c = append(b, float64(*p.base.output)), append(c, float64(*p.cand.output))
			sumB, sumC = sumB+b[len(b)-1], sumC+c[len(c)-1]
		}
	}
	if x.out.Fidelity.OutputRatio = ratioOf(sumC, sumB); x.out.Fidelity.OutputRatio == nil {
		return
	}
	slices.Sort(b)
	slices.Sort(c)
	d, r := stats.KS(b, c), *x.out.Fidelity.OutputRatio
	x.out.Fidelity.OutputKS = &d
	if outside(r, minOutput) {
		x.withheld[e2e] = fmt.Sprintf("the candidate wrote %.2f times the output tokens of the base (limit %.2f to %.2f)", r, minOutput, 2-minOutput)
	}
}

// checkKinds withholds TTFT when the two runs mean different events by it.
func (x *comparing) checkKinds() {
	differ, n := 0, 0
	for _, p := range x.with(bothLatency) {
		if p.base.values[ttft] != nil && p.cand.values[ttft] != nil {
			n++
			if p.base.kind != p.cand.kind {
				differ++
			}
		}
	}
	if float64(differ) > .01*float64(n) {
		b, c := x.out.Sides["base"], x.out.Sides["cand"]
		x.withheld[ttft] = fmt.Sprintf("first token means %s in the base and %s in the candidate", names(b.TTFTKinds), names(c.TTFTKinds))
	}
}
