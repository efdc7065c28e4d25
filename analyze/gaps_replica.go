package analyze

import (
	"math"
	"slices"
	"sort"
)

// timeline is what went on on one replica besides a stream.
type timeline struct {
	name         string
	starts, ends []int64 // when streams began to decode and ended, sorted
	windows      []span  // prefill_windows, as they came; then those of stretched_windows that lead
	waits        []span  // the same from the arrival on
	first        int64   // earliest of all edges
	origin       int64   // from which its hours are counted
	prefill      cover   // of windows
	waiting      cover   // of waits
	usual        byCell[float64]
	held         stretches
	tokens       work // of the view that works has read
}

// settle is called when all edges have been put in.
func (t *timeline) settle() {
	slices.Sort(t.starts)
	slices.Sort(t.ends)
	t.first = int64(1<<63 - 1)
	if len(t.starts) > 0 {
		t.first, t.origin = t.starts[0], t.starts[0]
	}
	t.prefill, t.waiting = newCover(t.windows), newCover(t.waits)
	for _, c := range []cover{t.prefill, t.waiting} {
		if len(c.from) > 0 {
			t.first = min(t.first, c.from[0])
		}
	}
	t.windows, t.waits = nil, nil
}

// hourOf is the start of the hour of the log, counted from the first stream of the replica.
func (t *timeline) hourOf(at int64) int64 { return at - (at-t.origin)%hourUS }

// decoding counts the streams at a moment. Moments of one cursor only move on.
type decoding struct {
	t            *timeline
	begun, ended int
	streams      int64
	until        int64 // the edge at which that ends
}

func (t *timeline) decodingAt(at int64) decoding {
	return decoding{t: t, begun: sort.Search(len(t.starts), func(i int) bool { return t.starts[i] > at }),
		ended: sort.Search(len(t.ends), func(i int) bool { return t.ends[i] > at }), until: math.MinInt64}
}

// to moves on and gives the number of streams; 1 before anything is known of the replica.
func (d *decoding) to(at int64) int64 {
	if at >= d.until {
		d.move(at)
	}
	return d.streams
}

func (d *decoding) move(at int64) {
	d.until = math.MaxInt64
	for ; d.begun < len(d.t.starts); d.begun++ {
		if d.t.starts[d.begun] > at {
			d.until = d.t.starts[d.begun]
			break
		}
	}
	for ; d.ended < len(d.t.ends); d.ended++ {
		if d.t.ends[d.ended] > at {
			d.until = min(d.until, d.t.ends[d.ended])
			break
		}
	}
	if d.streams = int64(d.begun - d.ended); at < d.t.first {
		d.streams, d.until = 1, min(d.until, d.t.first)
	}
}

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

// get is what the cell holds; it changes nothing but what is remembered of the last call, so that copies of one may be read side by side.
func (b *byCell[T]) get(hour, class int64) (v T) {
	if b.list == nil || hour != b.hour {
		b.hour, b.list = hour, b.hours[hour]
	}
	if i := place(class); i < len(b.list) {
		v = b.list[i]
	}
	return v
}

// usualAt is the usual length of a gap at a moment and a number of streams. Moments of one cursor only move on.
type usualAt struct {
	t       *timeline
	of      byCell[float64]
	streams int64
	until   int64 // when the hour ends
	length  float64
	whole   int64 // length, rounded
}

func (t *timeline) usualAt() usualAt { return usualAt{t: t, of: t.usual, until: math.MinInt64} }

func (u *usualAt) to(at, streams int64) {
	if at >= u.until || streams != u.streams {
		u.move(at, streams)
	}
}

func (u *usualAt) move(at, streams int64) {
	hour := u.t.hourOf(at)
	u.length, u.streams, u.until = u.of.get(hour, streamClass(streams)), streams, hour+hourUS
	u.whole = int64(math.Round(u.length))
	if at < u.t.origin { // hours are cut towards it
		u.until = at
	}
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
