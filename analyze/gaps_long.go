package analyze

import "context"

// stalledUS is how much a stalled gap is above its usual length at least.
const stalledUS = 1e5

// longGap is a gap over 3 x its usual length: the view long_gaps.
type longGap struct {
	span
	k              int
	usual          float64
	excess         int64
	streams, later int64   // when it began, when it ended
	usualLater     float64 // for these
}

// over is how much it is above its usual length.
func (g *longGap) over() float64 { return float64(g.to-g.from) - g.usual }

// long walks those gaps of a stream that are over 3 x the usual length, and above it by so much at least.
func (l *listed) long(above float64, visit func(g *longGap) error) error {
	from, usual, now := l.start, l.on.usualAt(), l.on.decoders.decodingAt(l.start)
	least := int64(3 * l.on.shortest) // cursors do not move on for others
	for i, gap := range l.steps[1:] {
		to := from + gap
		if gap > least {
			before := now.to(from)
			usual.to(from, before)
			if base := usual.length; float64(gap) > 3*base && float64(gap)-base >= above {
				after := now.to(to)
				g := longGap{span{from, to}, i + 2, base, usual.excess(gap, l.load(i+1)), before, after, usual.of(after)}
				if err := visit(&g); err != nil {
					return err
				}
			}
		}
		from = to
	}
	return nil
}

// longSpans are the long gaps by replica, without those that keep does not want.
func (s *sweep) longSpans(ctx context.Context, above float64, keep func(g *longGap) bool) (map[*timeline][]span, error) {
	parts := make([]map[*timeline][]span, s.workers)
	for w := range parts {
		parts[w] = map[*timeline][]span{}
	}
	err := s.streams(ctx, func(w int, l *listed) error {
		spans := parts[w][l.on]
		err := l.long(above, func(g *longGap) error {
			if keep(g) {
				spans = append(spans, g.span)
			}
			return nil
		})
		parts[w][l.on] = spans
		return err
	})
	for _, p := range parts[1:] {
		for t, spans := range p {
			parts[0][t] = append(parts[0][t], spans...)
		}
	}
	return parts[0], err
}

// stood gives the stalled gaps and what went on in each: the view stood_gaps.
func (s *sweep) stood(ctx context.Context, _ []*float64) error {
	if err := s.works(ctx, "stretched_windows"); err != nil {
		return err
	}
	spans, err := s.longSpans(ctx, stalledUS, func(*longGap) bool { return true })
	if err != nil {
		return err
	}
	stalls := map[*timeline]*crowd{}
	for t, list := range spans {
		var starts, ends []int64
		for _, g := range list {
			starts, ends = append(starts, g.from), append(ends, g.to)
		}
		held := newCrowd(starts, ends)
		stalls[t] = &held
	}
	return s.streams(ctx, func(w int, l *listed) error {
		t := l.on
		inPrefill, waiting := t.prefill.coveredAt(l.start), t.waiting.coveredAt(l.start)
		return l.long(stalledUS, func(g *longGap) error {
			prefilled, waited := inPrefill.to(g.from), waiting.to(g.from)
			clean := inPrefill.to(g.to)-prefilled < 100
			var covered, overlap int64
			var tokens float64
			if g.excess > 0 {
				covered, overlap, _ = t.held.within(t.held.before(g.from), g.from, g.to)
				tokens = t.tokens.upto(g.to) - t.tokens.upto(g.from)
			}
			middle := g.from + (g.to-g.from)/2
			return s.row(w, t.name, l.request, l.attempt, l.arrival, l.grp, l.tenant, int64(g.k), g.from, g.to, g.to-g.from, g.streams, streamClass(g.streams), clean,
				waiting.to(g.to)-waited, g.usual, g.usualLater, g.excess, covered, overlap, tokens, stalls[t].now(middle), t.decoders.now(middle))
		})
	})
}
