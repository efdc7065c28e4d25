package analyze

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
)

// lostGap is a gap with its part lost to others' prefills: the view lost_gaps.
type lostGap struct {
	from, to, excess int64
	lost, overlap    int64
	next             int // edges of the stretches up to from
}

// lost walks the gaps of a stream.
func (l *listed) lost(visit func(g *lostGap)) {
	t, from, usual := l.on, l.start, l.on.usual
	now, next := t.decodingAt(from), t.held.before(from)
	before := now.to(from)
	var g lostGap
	for i, gap := range l.steps[1:] {
		to := from + gap
		g = lostGap{from: from, to: to, next: next, excess: excess(gap, usual.get(t.hourOf(from), streamClass(before)), l.load(i+1))}
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
func (s *sweep) sums(ctx context.Context, binUS *int64) error {
	bin := int64(0)
	if binUS != nil {
		bin = *binUS
	}
	return s.streams(ctx, func(_ int, l *listed) error {
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
				err = s.row(l.request, l.attempt, l.grp, l.tenant, l.on.name, bins, begun, ended, gaps, decode, excess, known)
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

// counter counts whole numbers, small ones in pages.
type counter struct {
	pages []*[1024]int64
	large map[int64]int64
}

func (c *counter) add(v, n int64) {
	p := int(v >> 10)
	if uint64(v) >= 1<<24 {
		if c.large == nil {
			c.large = map[int64]int64{}
		}
		c.large[v] += n
		return
	}
	if p >= len(c.pages) {
		c.pages = append(c.pages, make([]*[1024]int64, p+1-len(c.pages))...)
	}
	if c.pages[p] == nil {
		c.pages[p] = &[1024]int64{}
	}
	c.pages[p][v&1023] += n
}

// each gives the numbers that were counted, in order.
func (c *counter) each(visit func(v, n int64) error) error {
	for p, page := range c.pages {
		if page == nil {
			continue
		}
		for i, n := range page {
			if n > 0 {
				if err := visit(int64(p<<10|i), n); err != nil {
					return err
				}
			}
		}
	}
	for _, v := range slices.Sorted(maps.Keys(c.large)) {
		if err := visit(v, c.large[v]); err != nil {
			return err
		}
	}
	return nil
}

// gapTally counts by group; each worker has one.
type gapTally map[string]*counter

func (t gapTally) of(grp string) *counter {
	c := t[grp]
	if c == nil {
		c = &counter{}
		t[strings.Clone(grp)] = c
	}
	return c
}

// joined adds up what the workers counted.
func joined(parts []gapTally) gapTally {
	for _, p := range parts[1:] {
		for grp, c := range p {
			into := parts[0].of(grp)
			_ = c.each(func(v, n int64) error { into.add(v, n); return nil })
		}
	}
	return parts[0]
}

func gapTallies(workers int) []gapTally {
	out := make([]gapTally, workers)
	for i := range out {
		out[i] = gapTally{}
	}
	return out
}

// counts counts the gaps as they were and without what they lost: the view chunk_counts.
func (s *sweep) counts(ctx context.Context, _ *int64) error {
	observed, without, unknown := gapTallies(s.workers), gapTallies(s.workers), gapTallies(s.workers)
	if err := s.streams(ctx, func(w int, l *listed) error {
		seen, rest := observed[w].of(l.grp), without[w].of(l.grp)
		known := l.on.attributed()
		l.lost(func(g *lostGap) {
			seen.add(g.to-g.from, 1)
			if known {
				rest.add(g.to-g.from-g.lost, 1)
			}
		})
		if !known {
			unknown[w].of(l.grp).add(0, int64(len(l.steps)-1))
		}
		return nil
	}); err != nil {
		return err
	}
	for variant, t := range map[string]gapTally{"observed": joined(observed), "without prefill": joined(without)} {
		if err := t.rows(func(grp string, v, n int64) error { return s.row(grp, variant, v, n) }); err != nil {
			return err
		}
	}
	return joined(unknown).rows(func(grp string, _, n int64) error { return s.row(grp, "without prefill", nil, n) })
}

func (t gapTally) rows(row func(grp string, v, n int64) error) error {
	for _, grp := range slices.Sorted(maps.Keys(t)) {
		if err := t[grp].each(func(v, n int64) error { return row(grp, v, n) }); err != nil {
			return err
		}
	}
	return nil
}

// all counts the chunk gaps of every stream, and streams by their longest: the view gap_counts.
func (s *sweep) all(ctx context.Context, _ *int64) error {
	parts, longest := gapTallies(s.workers), gapTallies(s.workers)
	if err := s.engine.chunks(ctx, "SELECT grp, CAST(steps AS BIGINT[]) FROM ("+s.reads["gap_lists"]+")", s.workers, func(w int, c *chunk) error {
		grp, steps := c.column(0), c.list(1)
		for row := range c.rows {
			list, _ := steps.longs(row)
			into, most := parts[w].of(grp.text(row)), int64(0)
			for _, gap := range list[1:] {
				into.add(gap, 1)
				most = max(most, gap)
			}
			longest[w].of(grp.text(row)).add(most, 1)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := joined(parts).rows(func(grp string, v, n int64) error { return s.row(grp, "gap", v, n) }); err != nil {
		return err
	}
	return joined(longest).rows(func(grp string, v, n int64) error { return s.row(grp, "longest", v, n) })
}

// blame spreads what each gap lost over the windows that overlap it: the view chunk_blame.
func (s *sweep) blame(ctx context.Context, _ *int64) error {
	names, places := []string{}, map[string]int{} // of victims; of the victim of a tenant
	if err := s.engine.chunks(ctx, "SELECT victim, tenant FROM ("+s.reads["victims"]+")", 1, func(_ int, c *chunk) error {
		victim, tenant := c.column(0), c.column(1)
		for row := range c.rows {
			i := slices.Index(names, victim.text(row))
			if i < 0 {
				i = len(names)
				names = append(names, strings.Clone(victim.text(row)))
			}
			places[strings.Clone(tenant.text(row))] = i
		}
		return nil
	}); err != nil {
		return err
	}
	for _, t := range s.replicas {
		for range names {
			t.held.hit = append(t.held.hit, make([]int64, len(t.held.at)))
		}
	}
	if err := s.streams(ctx, func(_ int, l *listed) error {
		if v, ok := places[l.tenant]; ok {
			l.lost(func(g *lostGap) { l.on.held.spread(v, g) })
		}
		return nil
	}); err != nil {
		return err
	}
	return s.blameRows(ctx, names)
}

// spread adds what the gap lost to the victim's part of the time in which windows overlap it.
func (s *stretches) spread(victim int, g *lostGap) {
	if g.lost == 0 {
		return
	}
	byTime, from := float64(g.lost)/float64(g.overlap)*hitParts, g.from
	for next := g.next; ; next++ {
		end := g.to
		if next < len(s.at) {
			end = min(end, s.at[next])
		}
		if next > 0 && s.active[next-1] > 0 && end > from {
			atomic.AddInt64(&s.hit[victim][next-1], int64(math.Round(byTime*float64(end-from))))
		}
		if next == len(s.at) || s.at[next] > g.to {
			return
		}
		from = end
	}
}

func (s *sweep) blameRows(ctx context.Context, names []string) error {
	for _, t := range s.replicas {
		for _, hit := range t.held.hit {
			sum := int64(0)
			for i, n := range hit { // of the time before each edge
				hit[i], sum = sum, sum+n
			}
		}
	}
	return s.engine.chunks(ctx, "SELECT replica, request_id, CAST(attempt AS INTEGER), CAST(start_us AS BIGINT), CAST(end_us AS BIGINT) FROM ("+s.reads["stretched_windows"]+")", 1, func(_ int, c *chunk) error {
		replica, request, attempt, from, to := c.column(0), c.column(1), c.column(2), c.column(3), c.column(4)
		for row := range c.rows {
			held := &s.replicas[replica.text(row)].held
			first, last := held.before(peek[int64](from, row))-1, held.before(peek[int64](to, row))-1
			for v, hit := range held.hit {
				if parts := hit[last] - hit[first]; parts*1000 > hitParts {
					if err := s.row(request.text(row), peek[int32](attempt, row), names[v], float64(parts)/hitParts); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}
