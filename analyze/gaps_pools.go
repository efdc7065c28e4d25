package analyze

import (
	"context"
	"math"
	"slices"
)

// lengths are chunk gaps of one cell in microseconds, short ones in half the memory; a gap is an int32 in the log and the sum of some when merged.
type lengths struct {
	short blocks[uint16]
	long  blocks[uint32]
}

func (l *lengths) add(gap int64) {
	if uint64(gap) < 1<<16 {
		l.short.add(uint16(gap))
	} else {
		l.long.add(uint32(gap))
	}
}

// blocks is a list that is never copied to grow.
type blocks[T uint16 | uint32] struct {
	full [][]T
	last []T
}

const lengthsBlock = 4096

func (b *blocks[T]) add(v T) {
	if len(b.last) == lengthsBlock {
		b.full, b.last = append(b.full, b.last), make([]T, 0, lengthsBlock)
	}
	b.last = append(b.last, v)
}

// pooled are the lengths of several cells.
type pooled struct {
	short [][]uint16
	long  [][]uint32
}

func (p *pooled) put(l *lengths) {
	p.short = append(append(p.short, l.short.full...), l.short.last)
	p.long = append(append(p.long, l.long.full...), l.long.last)
}

// gapPools are the lengths of one replica: clean ones by hour and class of streams, and the others as long as there is no clean one.
type gapPools struct {
	cells byCell[*lengths]
	other lengths
	clean bool
}

func (p *gapPools) cell(hour, class int64) *lengths {
	c := p.cells.at(hour, class)
	if *c == nil {
		*c = &lengths{}
	}
	return *c
}

// pools gives number and median of the clean gaps by hour and class of streams: the view gap_pools.
func (s *sweep) pools(ctx context.Context, _ []*float64) error {
	each := make([]map[*timeline]*gapPools, s.workers)
	for w := range each {
		each[w] = map[*timeline]*gapPools{}
	}
	if err := s.streams(ctx, func(worker int, l *listed) error {
		p := each[worker][l.on]
		if p == nil {
			p = &gapPools{}
			each[worker][l.on] = p
		}
		p.put(l)
		return nil
	}); err != nil {
		return err
	}
	for _, t := range s.inOrder() {
		var parts []*gapPools
		for _, m := range each {
			if p := m[t]; p != nil {
				parts = append(parts, p)
			}
		}
		if err := s.poolRows(t, parts); err != nil {
			return err
		}
	}
	return nil
}

func (p *gapPools) put(l *listed) {
	t, from := l.on, l.start
	now, inPrefill := t.decoders.decodingAt(from), t.prefill.coveredAt(from)
	before, prefilled := now.to(from), inPrefill.to(from)
	var cell *lengths
	var hour int64
	hourEnd := int64(math.MinInt64)
	for _, gap := range l.steps[1:] {
		if from >= hourEnd || from < t.origin { // hours are cut towards it
			hour = t.hourOf(from)
			cell, hourEnd = p.cell(hour, streamClass(before)), hour+hourUS
		}
		to := from + gap
		after, prefilledTo := now.to(to), inPrefill.to(to)
		switch {
		case prefilledTo-prefilled < 100:
			cell.add(gap)
			if !p.clean {
				p.clean, p.other = true, lengths{}
			}
		case !p.clean:
			p.other.add(gap)
		}
		if after != before {
			cell = p.cell(hour, streamClass(after))
		}
		from, before, prefilled = to, after, prefilledTo
	}
}

type cellKey struct {
	hour  int64
	place int
}

func (s *sweep) poolRows(t *timeline, parts []*gapPools) error {
	cells, classes, all, other := map[cellKey]*pooled{}, map[int]*pooled{}, pooled{}, pooled{}
	for _, p := range parts {
		for hour, list := range p.cells.hours {
			for place, l := range list {
				if l == nil {
					continue
				}
				key := cellKey{hour, place}
				if cells[key] == nil {
					cells[key] = &pooled{}
				}
				if classes[place] == nil {
					classes[place] = &pooled{}
				}
				cells[key].put(l)
				classes[place].put(l)
				all.put(l)
			}
		}
		other.put(&p.other)
	}
	for key, p := range cells {
		n, median := p.quantile(.5)
		if err := s.row(0, t.name, key.hour, classAt(key.place), n, median, nil); err != nil {
			return err
		}
	}
	for place, p := range classes {
		n, median := p.quantile(.5)
		if err := s.row(0, t.name, nil, classAt(place), n, median, nil); err != nil {
			return err
		}
	}
	if len(parts) == 0 {
		return nil
	}
	n, median := all.quantile(.5)
	var low any
	if n == 0 {
		_, low = other.quantile(.1)
	}
	return s.row(0, t.name, nil, nil, n, median, low)
}

// quantile counts the lengths and gives their quantile of type 7, nil without any.
func (p *pooled) quantile(q float64) (n int64, value any) {
	short := held(p.short)
	if n = short + held(p.long); n == 0 {
		return 0, nil
	}
	at := func(rank float64) float64 {
		if r := int64(rank); r >= short {
			return float64(longRanked(p.long, r-short))
		}
		return float64(shortRanked(p.short, int64(rank)))
	}
	h := float64(n-1) * q
	low := at(math.Floor(h))
	high := low
	if math.Ceil(h) > math.Floor(h) {
		high = at(math.Ceil(h))
	}
	return n, low + (high-low)*(h-math.Floor(h))
}

func held[T any](blocks [][]T) (n int64) {
	for _, b := range blocks {
		n += int64(len(b))
	}
	return n
}

// shortRanked is the length of that rank, from 0.
func shortRanked(blocks [][]uint16, rank int64) uint16 {
	if len(blocks) == 1 {
		slices.Sort(blocks[0])
		return blocks[0][rank]
	}
	var counts [1 << 16]int64
	for _, b := range blocks {
		for _, v := range b {
			counts[v]++
		}
	}
	v, _ := counted(&counts, rank)
	return v
}

// longRanked is the length of that rank: by its upper half, then by the lower.
func longRanked(blocks [][]uint32, rank int64) uint32 {
	var counts [1 << 16]int64
	for _, b := range blocks {
		for _, v := range b {
			counts[v>>16]++
		}
	}
	upper, rank := counted(&counts, rank)
	counts = [1 << 16]int64{}
	for _, b := range blocks {
		for _, v := range b {
			if uint16(v>>16) == upper {
				counts[v&0xffff]++
			}
		}
	}
	lower, _ := counted(&counts, rank)
	return uint32(upper)<<16 | uint32(lower)
}

// counted is the number of that rank among those counted, and the rank among its equals.
func counted(counts *[1 << 16]int64, rank int64) (uint16, int64) {
	v := uint16(0)
	for ; rank >= counts[v]; v++ {
		rank -= counts[v]
	}
	return v, rank
}
