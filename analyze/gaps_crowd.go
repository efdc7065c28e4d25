package analyze

import (
	"math"
	"slices"
	"sort"
)

// crowd is the number of streams in decode on a replica over time: so many from an edge to the next.
type crowd struct {
	at      []int64
	streams []int64
}

// newCrowd sorts beginnings and ends, and puts them together.
func newCrowd(starts, ends []int64) (c crowd) {
	slices.Sort(starts)
	slices.Sort(ends)
	begun, ended := 0, 0
	for begun < len(starts) || ended < len(ends) {
		at := int64(math.MaxInt64)
		if begun < len(starts) {
			at = starts[begun]
		}
		if ended < len(ends) {
			at = min(at, ends[ended])
		}
		for ; begun < len(starts) && starts[begun] == at; begun++ {
		}
		for ; ended < len(ends) && ends[ended] == at; ended++ {
		}
		c.at, c.streams = append(c.at, at), append(c.streams, int64(begun-ended))
	}
	return c
}

// begun is the number of edges up to a moment.
func (c *crowd) begun(at int64) int {
	return sort.Search(len(c.at), func(i int) bool { return c.at[i] > at })
}

// before is the place of the last edge up to a moment, of the first if there is none.
func (c *crowd) before(at int64) int { return max(0, c.begun(at)-1) }

// now is the number of streams at a moment.
func (c *crowd) now(at int64) int64 {
	if i := c.begun(at); i > 0 {
		return c.streams[i-1]
	}
	return 0
}

// decoding counts the streams at a moment. Moments of one cursor only move on.
type decoding struct {
	c       *crowd
	next    int
	streams int64
	until   int64 // the edge at which that ends
}

func (c *crowd) decodingAt(at int64) decoding {
	return decoding{c: c, next: c.begun(at), until: math.MinInt64}
}

// to moves on and gives the number of streams; 1 before anything is known of the replica.
func (d *decoding) to(at int64) int64 {
	if at >= d.until {
		d.move(at)
	}
	return d.streams
}

func (d *decoding) move(at int64) {
	edges := d.c.at
	for d.next < len(edges) && edges[d.next] <= at {
		d.next++
	}
	d.streams, d.until = 1, math.MaxInt64
	if d.next > 0 {
		d.streams = d.c.streams[d.next-1]
	}
	if d.next < len(edges) {
		d.until = edges[d.next]
	}
}
