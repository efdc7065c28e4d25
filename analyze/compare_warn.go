package analyze

import (
	"math"
	"slices"
)

// warn says what does not forbid the comparison but may explain a difference.
func (x *comparing) warn() {
	c := x.out
	b, n := c.Sides["base"], c.Sides["cand"]
	if !slices.Equal(b.Vantages, n.Vantages) {
		c.warn("vantage", "the runs were seen from different places (%s, %s): part of any difference is only that", names(b.Vantages), names(n.Vantages))
	}
	if cachesDiffer(b, n) && x.base.warm() == x.cand.warm() { // else checkCaches says more
		c.warn("cache", "%.0f %% of the input tokens came from the prefix cache in the base, %.0f %% in the candidate: one of them may have been warm",
			100**b.CachedShare, 100**n.CachedShare)
	}
	if b.InWindow > 0 && n.InWindow > 0 && outside(float64(n.InWindow)/float64(b.InWindow), minRate) {
		c.warn("other_traffic", "the base run served %d requests in the time of the pairs, the candidate %d: one had more load than the pairs show, or its log lost some", b.InWindow, n.InWindow)
	}
	if fb, fn := x.unserved(baseOf), x.unserved(candOf); math.Abs(fb-fn) > .05 {
		c.warn("failures", "%.1f %% of the pairs were not served in the base, %.1f %% not in the candidate: latency speaks of those that both served", 100*fb, 100*fn)
	}
	if c.Base != c.Cand {
		c.warn("run_to_run", "the intervals do not hold how far two runs of one target differ: repeat the base run and compare the two (A/A) to know that")
	}
	x.warnClient("base", x.base)
	x.warnClient("candidate", x.cand)
	for name, side := range c.bothSides() {
		if side.SendLagP99 != nil && *side.SendLagP99 > x.lagLimit() {
			c.warn("late_client", "%s: the client sent 1 %% of the requests more than %.1f ms late, which counts as latency of the target", name, *side.SendLagP99)
		}
		if side.Copied > 0 {
			c.warn("ids_repeat", "%s: %d ids stand for several calls and are not paired", name, side.Copied)
		}
	}
	if n := x.count(func(p paired) bool { return bothLatency(p) && p.base.estimated != p.cand.estimated }); n > 0 {
		c.warn("token_counts", "%d pairs have output tokens that the server counted in one run and the gateway estimated in the other: TPOT may differ for that alone", n)
	}
}

// warnClient tells of a replay by a client that nobody has measured.
func (x *comparing) warnClient(name string, s *sideRows) {
	if len(s.replays) > 0 && s.client() == nil {
		x.out.warn("no_selfcheck", "%s: what the client that sent it can do was never measured (reprise selfcheck)", name)
	}
}

// lagLimit is metrics.md part 6: 5 ms, or 5 % of the TTFT that the SLO allows.
func (x *comparing) lagLimit() float64 {
	limit := 5.0
	for _, t := range x.Scope.SLO.Terms {
		if t.Metric == "ttft" {
			limit = max(limit, .05*float64(t.Bound)/1e3)
		}
	}
	return limit
}

func (x *comparing) unserved(of picker) float64 {
	return float64(x.count(func(p paired) bool { return !of(p).ok() })) / max(1, float64(len(x.pairs)))
}

func (x *comparing) count(has func(paired) bool) int { return len(x.with(has)) }
