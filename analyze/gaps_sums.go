package analyze

import "context"

// lostGap is a gap with its part lost to others' prefills: the view lost_gaps.
type lostGap struct {
	from, to, excess int64
	lost, overlap    int64
	next             int // edges of the stretches up to from
}

// lost walks the gaps of a stream.
func (l *listed) lost(visit func(g *lostGap)) {
	t, from, usual := l.on, l.start, l.on.usualAt()
	now, next := t.decodingAt(from), t.held.before(from)
	before := now.to(from)
	var g lostGap
	for i, gap := range l.steps[1:] {
		to := from + gap
		usual.to(from, before)
		g = lostGap{from: from, to: to, next: next, excess: usual.excess(gap, l.load(i+1))}
		var covered int64
		covered, g.overlap, next = t.held.within(next, from, to)
		g.lost = min(g.excess, covered)
		visit(&g)
		from, before = to, now.to(to)
	}
}

// attributed says whether anything is known of the replica's prefills.
func (t *timeline) attributed() bool { return len(t.held.at) > 0 }

// sums gives what the gaps of each stream add up to, by bin if there is one: the view chunk_sums.
func (s *sweep) sums(ctx context.Context, args []*float64) error {
	bin := int64(0)
	if args[0] != nil {
		bin = int64(*args[0])
	}
	return s.streams(ctx, func(w int, l *listed) error {
		var err error
		var begun, ended, gaps, decode, excess, lost int64
		out := func() {
			var bins, known any
			if bin > 0 {
				bins = begun - begun%bin
			}
			if l.on.attributed() {
				known = lost
			}
			if gaps > 0 && err == nil {
				err = s.row(w, l.request, l.attempt, l.arrival, l.grp, l.tenant, l.on.name, bins, begun, ended, gaps, decode, excess, known)
			}
		}
		l.lost(func(g *lostGap) {
			if gaps > 0 && bin > 0 && g.from-g.from%bin != begun-begun%bin {
				out()
				gaps, decode, excess, lost = 0, 0, 0, 0
			}
			if gaps == 0 {
				begun = g.from
			}
			ended, gaps, decode, excess, lost = g.to, gaps+1, decode+g.to-g.from, excess+g.excess, lost+g.lost
		})
		out()
		return err
	})
}
