package analyze

import (
	"cmp"
	"slices"
	"sort"
)

// span is a piece of time, half open, in microseconds since 1970.
type span struct{ from, to int64 }

// cover is the time that windows cover, as blocks that do not touch, and the time before each.
type cover struct {
	from, to, before []int64
}

func newCover(spans []span) cover {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var c cover
	sum := int64(0)
	for _, s := range spans {
		if n := len(c.to); n > 0 && s.from <= c.to[n-1] {
			sum += max(0, s.to-c.to[n-1])
			c.to[n-1] = max(c.to[n-1], s.to)
			continue
		}
		c.from, c.to, c.before = append(c.from, s.from), append(c.to, s.to), append(c.before, sum)
		sum += s.to - s.from
	}
	return c
}

// upto is the covered time before x.
func (c cover) upto(x int64) int64 {
	i := sort.Search(len(c.from), func(i int) bool { return c.from[i] > x }) - 1
	if i < 0 {
		return 0
	}
	return c.before[i] + min(x, c.to[i]) - c.from[i]
}

func (c cover) within(from, to int64) int64 { return c.upto(to) - c.upto(from) }

// move turns an instant around in its hour by at least 10 s and at most the whole less 10 s. The last hour ends with
// the last window; one that is too short stays where it is.
func (c cover) move(at int64, turn float64) int64 {
	if len(c.from) == 0 || at < c.from[0] {
		return at
	}
	start := at - (at-c.from[0])%hourUS
	length := min(hourUS, max(c.to[len(c.to)-1], at)-start)
	if length < 4*minShiftUS {
		return at
	}
	return start + (at-start+minShiftUS+int64(turn*float64(length-2*minShiftUS)))%length
}

func sortedKeys(m map[string]cover) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
