package analyze

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
)

// stops are the stalled gaps of one replica by their beginning: for each, when the run of such gaps began that it is of, and until when one of those so far lasts.
type stops struct {
	gaps         []span
	begin, until []int64
}

// settle is called when all gaps are in. Gaps of one run are less than 2 ms apart.
func (s *stops) settle() {
	slices.SortFunc(s.gaps, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for i, g := range s.gaps {
		begin, until := g.from, g.to
		if i > 0 {
			until = max(until, s.until[i-1])
			if g.from <= s.until[i-1]+2000 {
				begin = s.begin[i-1]
			}
		}
		s.begin, s.until = append(s.begin, begin), append(s.until, until)
	}
}

// runAt is when the run began in which a moment lies, the moment itself if it lies in none.
func (s *stops) runAt(at int64) int64 {
	if i := sort.Search(len(s.gaps), func(i int) bool { return s.gaps[i].from > at }); i > 0 && s.until[i-1] > at {
		return s.begin[i-1]
	}
	return at
}

// stretched moves prefill windows back to the step of the engine that they cut: the view stretched_windows.
func (s *sweep) stretched(ctx context.Context, args []*float64) error {
	above, stretch := args[0], args[1]
	held := map[*timeline]*stops{}
	for _, t := range s.replicas {
		held[t] = &stops{}
	}
	if above != nil {
		spans, err := s.longSpans(ctx, *above, func(g *longGap) bool { return float64(g.excess) >= .5*g.over() })
		if err != nil {
			return err
		}
		for t, gaps := range spans {
			held[t].gaps = gaps
			held[t].settle()
		}
	}
	const columns = "replica, request_id, CAST(attempt AS INTEGER), tenant, model, CAST(arrival_us AS BIGINT), source, CAST(start_us AS BIGINT), CAST(end_us AS BIGINT), CAST(tokens AS DOUBLE), CAST(share AS DOUBLE), CAST(leads AS BOOLEAN), CAST(floor_us AS BIGINT)"
	return s.apart(ctx, "prefill_windows", columns, func(w int, t *timeline, c []column, row int) error {
		fitted, end, from := peek[int64](c[7], row), peek[int64](c[8], row), peek[int64](c[12], row)
		if c[6].text(row) == "fitted" {
			from = max(from, held[t].runAt(fitted))
		} else {
			from = max(from, fitted)
		}
		if stretch != nil {
			from = max(from, end-int64(math.Round(*stretch*float64(end-fitted))))
		}
		return s.row(w, c[1].text(row), peek[int32](c[2], row), c[3].text(row), c[4].text(row), t.name, peek[int64](c[5], row), c[6].text(row),
			fitted, end, peek[float64](c[9], row), peek[float64](c[10], row), peek[bool](c[11], row), min(fitted, from))
	})
}
