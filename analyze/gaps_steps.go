package analyze

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// cleanSteps are the clean gaps of a group at one class of streams.
type cleanSteps struct {
	lengths
	streams int64 // when they began, added up
}

// steps gives number and median of the clean gaps of each group by class of streams: the view clean_steps.
func (s *sweep) steps(ctx context.Context, _ []*float64) error {
	parts := make([]map[string][]cleanSteps, s.workers) // by place of the class
	for w := range parts {
		parts[w] = map[string][]cleanSteps{}
	}
	if err := s.streams(ctx, func(w int, l *listed) error {
		list := parts[w][l.grp]
		l.clean(func(gap, streams int64) {
			i := place(streamClass(streams))
			list = reaching(list, i)
			list[i].add(gap)
			list[i].streams += streams
		})
		parts[w][strings.Clone(l.grp)] = list
		return nil
	}); err != nil {
		return err
	}
	groups := map[string]bool{}
	for _, p := range parts {
		for grp := range p {
			groups[grp] = true
		}
	}
	for _, grp := range slices.Sorted(maps.Keys(groups)) {
		if err := s.stepRows(grp, parts); err != nil {
			return err
		}
	}
	return nil
}

// clean walks the gaps of a stream that lie outside of prefills.
func (l *listed) clean(visit func(gap, streams int64)) {
	t, from := l.on, l.start
	now, inPrefill := t.decoders.decodingAt(from), t.prefill.coveredAt(from)
	before := inPrefill.to(from)
	for _, gap := range l.steps[1:] {
		streams, after := now.to(from), inPrefill.to(from+gap)
		if after-before < 100 {
			visit(gap, streams)
		}
		from, before = from+gap, after
	}
}

func (s *sweep) stepRows(grp string, parts []map[string][]cleanSteps) error {
	var pools []pooled // by place
	var streams []int64
	for _, p := range parts {
		for i, c := range p[grp] {
			pools, streams = reaching(pools, i), reaching(streams, i)
			pools[i].put(&c.lengths)
			streams[i] += c.streams
		}
	}
	for i := range pools {
		n, median := pools[i].quantile(.5)
		if n == 0 {
			continue
		}
		if err := s.row(0, grp, classAt(i), n, median, float64(streams[i])/float64(n)); err != nil {
			return err
		}
	}
	return nil
}
