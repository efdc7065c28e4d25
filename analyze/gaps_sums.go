package analyze

import (
	"context"
	"strings"
)

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

// lostSums add up gaps, of which what is lost is known or not.
type lostSums struct {
	streams, gaps, decode, excess, lost int64
	stalled, byPrefill                  int64 // how many stalled, and how many of these have the label prefill
	stalledExcess, stalledLost          int64
}

func (s *lostSums) add(g *lostGap) {
	s.gaps, s.decode, s.excess, s.lost = s.gaps+1, s.decode+g.to-g.from, s.excess+g.excess, s.lost+g.lost
	gap := float64(g.to - g.from)
	if gap < stalledUS {
		return
	}
	if over := gap - g.usual; over >= stalledUS && gap > 3*g.usual {
		s.stalled, s.stalledExcess, s.stalledLost = s.stalled+1, s.stalledExcess+g.excess, s.stalledLost+g.lost
		if float64(g.excess) >= .5*over && float64(g.lost) >= .5*float64(g.excess) {
			s.byPrefill++
		}
	}
}

func (s *lostSums) merge(x *lostSums) {
	s.streams, s.gaps, s.decode, s.excess, s.lost = s.streams+x.streams, s.gaps+x.gaps, s.decode+x.decode, s.excess+x.excess, s.lost+x.lost
	s.stalled, s.byPrefill, s.stalledExcess, s.stalledLost = s.stalled+x.stalled, s.byPrefill+x.byPrefill, s.stalledExcess+x.stalledExcess, s.stalledLost+x.stalledLost
}

// sumKey names what is added up; bin is 0 without bins.
type sumKey struct {
	grp, tenant string
	bin         int64
}

// sumTally holds the sums of streams of which nothing is known to be lost, and of the others; each worker has one.
type sumTally map[sumKey]*[2]lostSums

// put adds a part of a stream, if there is anything in it.
func (t sumTally) put(key sumKey, known int, sum *lostSums) {
	if sum.gaps == 0 {
		return
	}
	into := t[key]
	if into == nil {
		into = &[2]lostSums{}
		key.grp, key.tenant = strings.Clone(key.grp), strings.Clone(key.tenant)
		t[key] = into
	}
	into[known].merge(sum)
}

// sums gives what the gaps of all streams add up to by group and tenant, and by bin if there is one: the view chunk_sums.
func (s *sweep) sums(ctx context.Context, args []*float64) error {
	bin := int64(0)
	if args[0] != nil {
		bin = int64(*args[0])
	}
	parts := make([]sumTally, s.workers)
	for w := range parts {
		parts[w] = sumTally{}
	}
	if err := s.streams(ctx, func(w int, l *listed) error {
		parts[w].stream(l, bin)
		return nil
	}); err != nil {
		return err
	}
	for _, p := range parts[1:] {
		for key, sums := range p {
			for known := range sums {
				parts[0].put(key, known, &sums[known])
			}
		}
	}
	for key, sums := range parts[0] {
		if err := s.sumRow(key, sums, bin); err != nil {
			return err
		}
	}
	return nil
}

func (t sumTally) stream(l *listed, bin int64) {
	known := 0
	if l.on.attributed() {
		known = 1
	}
	key, sum := sumKey{grp: l.grp, tenant: l.tenant}, lostSums{streams: 1}
	l.lost(func(g *lostGap) {
		if bin > 0 && g.from-g.from%bin != key.bin {
			t.put(key, known, &sum)
			key.bin, sum = g.from-g.from%bin, lostSums{streams: 1}
		}
		sum.add(g)
	})
	t.put(key, known, &sum)
}

func (s *sweep) sumRow(key sumKey, sums *[2]lostSums, bin int64) error {
	var bins, known, lost any
	if bin > 0 {
		bins = key.bin
	}
	if k := sums[1]; k.streams > 0 {
		known, lost = k.decode, k.lost
	}
	sum := sums[0]
	sum.merge(&sums[1])
	return s.row(0, key.grp, key.tenant, bins, sum.streams, sum.gaps, sum.decode, known, sum.excess, lost, sum.stalled, sum.byPrefill, sum.stalledExcess, sum.stalledLost)
}
