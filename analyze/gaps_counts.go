package analyze

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
)

// counter counts whole numbers: small ones in pages, which the nearest cache has room for as long as counts are short; what such a count does not hold stands in large.
type counter struct {
	pages []*[1024]uint32
	large map[int64]int64
}

const largeGap = 1 << 24

func (c *counter) addLarge(v, n int64) {
	if c.large == nil {
		c.large = map[int64]int64{}
	}
	c.large[v] += n
}

func (c *counter) add(v, n int64) {
	p := int(v >> 10)
	if uint64(v) >= largeGap {
		c.addLarge(v, n)
		return
	}
	if p >= len(c.pages) {
		c.pages = append(c.pages, make([]*[1024]uint32, p+1-len(c.pages))...)
	}
	if c.pages[p] == nil {
		c.pages[p] = &[1024]uint32{}
	}
	short := &c.pages[p][v&1023]
	if n += int64(*short); n > math.MaxUint32 {
		c.addLarge(v, n)
		n = 0
	}
	*short = uint32(n)
}

// merged counts chunk gaps, of which a chunk that comes within so much of the first of its group joins the group, and gives the longest, -1 without any.
func (c *counter) merged(gaps []int32, within int64) int64 {
	since, most := int64(0), int64(-1)
	for _, gap := range gaps {
		if since += int64(gap); since <= within {
			continue
		}
		if p := uint64(since) >> 10; p < uint64(len(c.pages)) && c.pages[p] != nil && c.pages[p][since&1023] < math.MaxUint32 {
			c.pages[p][since&1023]++
		} else {
			c.add(since, 1)
		}
		most, since = max(most, since), 0
	}
	return most
}

// each gives the numbers that were counted, in order.
func (c *counter) each(visit func(v, n int64) error) error {
	for p, page := range c.pages {
		if page == nil {
			continue
		}
		for i, short := range page {
			v := int64(p<<10 | i)
			if n := int64(short) + c.large[v]; n > 0 {
				if err := visit(v, n); err != nil {
					return err
				}
			}
		}
	}
	for _, v := range slices.Sorted(maps.Keys(c.large)) {
		if uint64(v) < largeGap {
			continue
		}
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
func (s *sweep) counts(ctx context.Context, _ []*float64) error {
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
		if err := t.rows(func(grp string, v, n int64) error { return s.row(0, grp, variant, v, n) }); err != nil {
			return err
		}
	}
	return joined(unknown).rows(func(grp string, _, n int64) error { return s.row(0, grp, "without prefill", nil, n) })
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
func (s *sweep) all(ctx context.Context, _ []*float64) error {
	parts, longest := gapTallies(s.workers), gapTallies(s.workers)
	// as recorded: merging them here costs nothing, in SQL a look at each list
	const columns = "grp, CAST(merge_us AS BIGINT), CAST(gaps_us AS INTEGER[])"
	if err := s.engine.chunks(ctx, "SELECT "+columns+" FROM ("+s.reads["requests"]+") WHERE latency AND streamed AND len(gaps_us) >= 2", s.workers, func(w int, c *chunk) error {
		grp, within, gaps := c.column(0), c.column(1), c.list(2)
		for row := range c.rows {
			list, _ := elements[int32](gaps, row)
			if most := parts[w].of(grp.text(row)).merged(list[1:], peek[int64](within, row)); most >= 0 {
				longest[w].of(grp.text(row)).add(most, 1)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := joined(parts).rows(func(grp string, v, n int64) error { return s.row(0, grp, "gap", v, n) }); err != nil {
		return err
	}
	return joined(longest).rows(func(grp string, v, n int64) error { return s.row(0, grp, "longest", v, n) })
}
