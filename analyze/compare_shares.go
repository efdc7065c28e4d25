package analyze

import "reprise/analyze/stats"

// ShareDelta compares the share of pairs with some property, such as having failed or being good.
type ShareDelta struct {
	N       int        `json:"n"` // pairs for which both runs tell
	Base    *float64   `json:"base"`
	Cand    *float64   `json:"cand"`
	Diff    *float64   `json:"diff"`
	DiffCI  [2]float64 `json:"diff_ci"` // two-sided 95 %, clusters resampled
	Gained  int        `json:"gained"`  // pairs that have it in the candidate only
	Lost    int        `json:"lost"`    // in the base only
	P       float64    `json:"p"`       // McNemar, exact
	Verdict string     `json:"verdict"`

	Noise *NoiseDelta `json:"noise,omitempty"` // as in Delta; a share has no ratio
}

// harm says when a change of a share counts: the share of bad ones may rise by Tolerated and still be non-inferior; a
// rise is worse when it is certain to be above Worse.
type harm struct{ tolerated, worse float64 }

// share compares has over pairs. sign is 1 when having it is bad, -1 when it is good.
func (x *comparing) share(pairs []paired, has func(*logical) bool, sign float64, h harm) ShareDelta {
	d := ShareDelta{N: len(pairs), Verdict: Inconclusive, P: 1}
	if len(pairs) == 0 {
		return d
	}
	labels, _, n := clusters(pairs)
	base, cand, whole := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, p := range pairs {
		b, c := has(p.base), has(p.cand)
		base[labels[i]] += indicator(b)
		cand[labels[i]] += indicator(c)
		whole[labels[i]]++
		if c && !b {
			d.Gained++
		} else if b && !c {
			d.Lost++
		}
	}
	c := x.bootstrap(n).Shares(base, cand, whole)
	d.Base, d.Cand, d.Diff, d.DiffCI = &c.Base, &c.Cand, &c.Diff.Value, [2]float64{c.Diff.Lo, c.Diff.Hi}
	d.P = stats.McNemar(d.Gained, d.Lost)
	d.Verdict = d.verdict(c.Diff, sign, h)
	return d
}

// verdict wants both tests to agree before it speaks: McNemar is exact but takes requests as independent, the bootstrap
// knows that they come in clusters.
func (d ShareDelta) verdict(e stats.Estimate, sign float64, h harm) string {
	if sign < 0 { // look at the harm
		e = stats.Estimate{Lo: -e.Hi, Hi: -e.Lo, Upper: -e.Lower}
	}
	switch {
	case d.P <= .05 && e.Hi < 0:
		return Better
	case d.P <= .05 && e.Lo > h.worse:
		return Worse
	case e.Upper <= h.tolerated && (d.N >= minPairs || d.Gained+d.Lost == 0):
		return NonInferior
	}
	return Inconclusive
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Failing more often is worse however little; a rise of a hundredth may go unseen.
var failing = harm{tolerated: .01}

// failures compares how many pairs the service failed; cancelled ones and errors of the caller are no failures.
func (x *comparing) failures() ShareDelta {
	known := func(l *logical) bool { return l.status != "unknown" && l.status != "in_flight" }
	return x.share(x.with(func(p paired) bool { return known(p.base) && known(p.cand) }), (*logical).failed, 1, failing)
}
