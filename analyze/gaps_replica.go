package analyze

import (
	"math"
	"slices"
	"sort"
)

// timeline is what went on on one replica besides a stream.
type timeline struct {
	name         string
	starts, ends []int64 // when streams began to decode and ended, as they came
	decoders     crowd   // of these; an edge before the first is the earliest window's
	windows      []span  // prefill_windows, as they came; then those of stretched_windows that lead
	waits        []span  // the same from the arrival on
	origin       int64   // from which its hours are counted
	prefill      cover   // of windows
	waiting      cover   // of waits
	usual        byCell[float64]
	shortest     float64 // of usual
	held         stretches
	tokens       work // of the view that works has read
}

// settle is called when all edges have been put in.
func (t *timeline) settle() {
	t.prefill, t.waiting = newCover(t.windows), newCover(t.waits)
	if len(t.starts) > 0 {
		t.origin = slices.Min(t.starts)
		for _, c := range []cover{t.prefill, t.waiting} {
			if len(c.from) > 0 { // nobody decodes yet, which is known from then on
				t.starts, t.ends = append(t.starts, c.from[0]), append(t.ends, c.from[0])
			}
		}
	}
	t.decoders = newCrowd(t.starts, t.ends)
	t.starts, t.ends, t.windows, t.waits = nil, nil, nil, nil
}

// hourOf is the start of the hour of the log, counted from the first stream of the replica.
func (t *timeline) hourOf(at int64) int64 { return at - (at-t.origin)%hourUS }

// covered adds up the covered time before a moment. Moments of one cursor only move on.
type covered struct {
	c     *cover
	next  int
	sum   int64 // at a moment it is sum, and the moment itself where that is covered
	moves int64 // 1 where it is
	until int64 // the edge at which that ends
}

func (c *cover) coveredAt(at int64) covered {
	return covered{c: c, next: sort.Search(len(c.from), func(i int) bool { return c.from[i] > at }), until: math.MinInt64}
}

func (m *covered) to(at int64) int64 {
	if at >= m.until {
		m.move(at)
	}
	return m.sum + m.moves*at
}

func (m *covered) move(at int64) {
	c := m.c
	for m.next < len(c.from) && c.from[m.next] <= at {
		m.next++
	}
	m.sum, m.moves, m.until = 0, 0, math.MaxInt64
	if m.next < len(c.from) {
		m.until = c.from[m.next]
	}
	if m.next == 0 {
		return
	}
	i := m.next - 1
	if at < c.to[i] {
		m.sum, m.moves, m.until = c.before[i]-c.from[i], 1, c.to[i]
	} else {
		m.sum = c.before[i] + c.to[i] - c.from[i]
	}
}

// streamClass puts numbers of streams from 8 on into four classes an octave, and from 64 on into steps of 16: the view placed_gaps.
func streamClass(streams int64) int64 {
	switch {
	case streams < 8:
		return streams
	case streams < 16:
		return streams - streams%2
	case streams < 32:
		return streams - streams%4
	case streams < 64:
		return streams - streams%8
	}
	return streams - streams%16
}

// byCell holds something for each hour and class of a replica.
type byCell[T any] struct {
	hours map[int64][]T // by place of the class
	hour  int64         // the one asked for last
	list  []T
}

// at is the place of the cell, made when there is none.
func (b *byCell[T]) at(hour, class int64) *T {
	i := place(class)
	if b.hours == nil || hour != b.hour || i >= len(b.list) {
		if b.hours == nil {
			b.hours = map[int64][]T{}
		}
		b.hour, b.list = hour, b.hours[hour]
		b.list = reaching(b.list, i)
		b.hours[hour] = b.list
	}
	return &b.list[i]
}

// reaching is the list made long enough to have a place i.
func reaching[T any](list []T, i int) []T {
	return append(list, make([]T, max(0, i+1-len(list)))...)
}

// usualAt is the usual length of a gap at a moment and a number of streams. Moments of one cursor only move on.
type usualAt struct {
	t       *timeline
	cells   []float64 // of the hour, by place of the class
	until   int64     // when it ends
	streams int64
	length  float64
	whole   int64 // length, rounded
}

func (t *timeline) usualAt() usualAt { return usualAt{t: t, until: math.MinInt64} }

func (u *usualAt) to(at, streams int64) {
	if at >= u.until || streams != u.streams {
		u.move(at, streams)
	}
}

func (u *usualAt) move(at, streams int64) {
	if at >= u.until {
		hour := u.t.hourOf(at)
		u.cells, u.until = u.t.usual.hours[hour], hour+hourUS
		if at < u.t.origin { // hours are cut towards it
			u.until = at
		}
	}
	u.length, u.streams = u.of(streams), streams
	u.whole = int64(math.Round(u.length))
}

// of is the usual length at another number of streams.
func (u *usualAt) of(streams int64) (length float64) {
	if i := place(streamClass(streams)); i < len(u.cells) {
		length = u.cells[i]
	}
	return length
}

// place is the number of a class among the classes, classAt its inverse.
func place(class int64) int {
	switch {
	case class < 8:
		return int(class)
	case class < 16:
		return int(8 + (class-8)/2)
	case class < 32:
		return int(12 + (class-16)/4)
	case class < 64:
		return int(16 + (class-32)/8)
	}
	return int(20 + (class-64)/16)
}

func classAt(place int) int64 {
	p := int64(place)
	switch {
	case p < 8:
		return p
	case p < 12:
		return 8 + (p-8)*2
	case p < 16:
		return 16 + (p-12)*4
	case p < 20:
		return 32 + (p-16)*8
	}
	return 64 + (p-20)*16
}
