package analyze

import "context"

// lostGap is a gap with its part lost to others' prefills: the view lost_gaps.
type lostGap struct {
	from, to, excess int64
	usual            float64
	lost, overlap    int64
	next             int // edges of the stretches up to from
}

// lost walks the gaps of a stream.
func (l *listed) lost(visit func(g *lostGap)) {
	held, from, usual, now := &l.on.held, l.start, l.on.usualAt(), l.on.decoders.decodingAt(l.start)
	next := held.before(from)
	var g lostGap
	for i, gap := range l.steps[1:] {
		to := from + gap
		usual.to(from, now.to(from))
		g = lostGap{from: from, to: to, usual: usual.length, excess: usual.excess(gap, l.load(i+1))}
		if g.excess > 0 { // else nothing of it is lost
			for next < len(held.at) && held.at[next] <= from {
				next++
			}
			g.next = next
			g.lost, g.overlap, next = held.within(next, from, to)
			g.lost = min(g.lost, g.excess)
		}
		visit(&g)
		from = to
	}
}

// attributed says whether anything is known of the replica's prefills.
func (t *timeline) attributed() bool { return len(t.held.at) > 0 }

// lostSums add up gaps.
type lostSums struct {
	begun, ended, gaps, decode, excess, lost int64
	stalled, byPrefill                       int64 // how many stalled, and how many of these have the label prefill
	stalledExcess, stalledLost               int64
}

func (s *lostSums) add(g *lostGap) {
	if s.gaps == 0 {
		s.begun = g.from
	}
	s.ended, s.gaps, s.decode, s.excess, s.lost = g.to, s.gaps+1, s.decode+g.to-g.from, s.excess+g.excess, s.lost+g.lost
	gap := float64(g.to - g.from)
	if over := gap - g.usual; over >= stalledUS && gap > 3*g.usual {
		s.stalled, s.stalledExcess, s.stalledLost = s.stalled+1, s.stalledExcess+g.excess, s.stalledLost+g.lost
		if float64(g.excess) >= .5*over && float64(g.lost) >= .5*float64(g.excess) {
			s.byPrefill++
		}
	}
}

// sums gives what the gaps of each stream add up to, by bin if there is one: the view chunk_sums.
func (s *sweep) sums(ctx context.Context, args []*float64) error {
	bin := int64(0)
	if args[0] != nil {
		bin = int64(*args[0])
	}
	return s.streams(ctx, func(w int, l *listed) error {
		var err error
		var sum lostSums
		l.lost(func(g *lostGap) {
			if sum.gaps > 0 && bin > 0 && err == nil && g.from-g.from%bin != sum.begun-sum.begun%bin {
				err = s.sumRow(w, l, &sum, bin)
				sum = lostSums{}
			}
			sum.add(g)
		})
		if sum.gaps == 0 || err != nil {
			return err
		}
		return s.sumRow(w, l, &sum, bin)
	})
}

func (s *sweep) sumRow(w int, l *listed, sum *lostSums, bin int64) error {
	var bins, lost any
	if bin > 0 {
		bins = sum.begun - sum.begun%bin
	}
	if l.on.attributed() {
		lost = sum.lost
	}
	return s.row(w, l.request, l.attempt, l.arrival, l.grp, l.tenant, l.on.name, bins, sum.begun, sum.ended, sum.gaps, sum.decode, sum.excess, lost,
		sum.stalled, sum.byPrefill, sum.stalledExcess, sum.stalledLost)
}
