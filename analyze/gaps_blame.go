package analyze

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync/atomic"
)

// blame spreads what each gap lost over the windows that overlap it: the view chunk_blame.
func (s *sweep) blame(ctx context.Context, _ []*float64) error {
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
	return s.engine.chunks(ctx, "SELECT replica, request_id, CAST(attempt AS INTEGER), CAST(start_us AS BIGINT), CAST(end_us AS BIGINT), CAST(arrival_us AS BIGINT) FROM ("+s.reads["stretched_windows"]+")", 1, func(_ int, c *chunk) error {
		replica, request, attempt, from, to, arrival := c.column(0), c.column(1), c.column(2), c.column(3), c.column(4), c.column(5)
		for row := range c.rows {
			held := &s.replicas[replica.text(row)].held
			first, last := held.before(peek[int64](from, row))-1, held.before(peek[int64](to, row))-1
			for v, hit := range held.hit {
				if parts := hit[last] - hit[first]; parts*1000 > hitParts {
					if err := s.row(0, request.text(row), peek[int32](attempt, row), peek[int64](arrival, row), names[v], float64(parts)/hitParts); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}
