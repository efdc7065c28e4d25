package analyze

import (
	"cmp"
	"slices"
	"sort"
)

// stretches are the windows of one replica as edges in order: in how many windows the time after each lies, windows of one step of the engine counted once.
type stretches struct {
	at     []int64
	active []int32
	hit    [][]int64 // by victim, nil without: what its gaps lost between each edge and the next, in parts of a microsecond
}

// hitParts are the parts of a microsecond that losses are added up in: whole numbers, so that the order does not matter.
const hitParts = 1 << 16

func newStretches(windows []span) stretches {
	type edge struct {
		at     int64
		change int32
	}
	var edges []edge
	for _, w := range windows {
		edges = append(edges, edge{w.from, 1}, edge{w.to, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var s stretches
	active := int32(0)
	for _, e := range edges {
		active += e.change
		if n := len(s.at); n > 0 && s.at[n-1] == e.at {
			s.active[n-1] = active
			continue
		}
		s.at, s.active = append(s.at, e.at), append(s.active, active)
	}
	return s
}

// before is the number of edges up to a moment.
func (s *stretches) before(at int64) int {
	return sort.Search(len(s.at), func(i int) bool { return s.at[i] > at })
}

// within moves next, the number of edges up to from, on to the end of the gap, and gives the time of the gap in which there are windows, once and added up over windows.
func (s *stretches) within(next int, from, to int64) (covered, overlap int64, after int) {
	for {
		end := to
		if next < len(s.at) {
			end = min(to, s.at[next])
		}
		if next > 0 && s.active[next-1] > 0 {
			covered += end - from
			overlap += int64(s.active[next-1]) * (end - from)
		}
		if next == len(s.at) || s.at[next] > to {
			return covered, overlap, next
		}
		from = end
		next++
	}
}
