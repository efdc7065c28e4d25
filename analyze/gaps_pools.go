package analyze

import (
	"context"
	"math"
	"slices"
)

// lengths are chunk gaps of one cell in microseconds; a gap is an int32 in the log and the sum of some when merged.
type lengths struct {
	full [][]uint32
	last []uint32
}

const lengthsBlock = 4096

func (l *lengths) add(gap int64) {
	if len(l.last) == lengthsBlock {
		l.full, l.last = append(l.full, l.last), make([]uint32, 0, lengthsBlock)
	}
	l.last = append(l.last, uint32(gap))
}

func (l *lengths) blocks() [][]uint32 {
	if l == nil {
		return nil
	}
	return append(slices.Clip(l.full), l.last)
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
	now, inPrefill := t.decodingAt(from), t.prefill.coveredAt(from)
	before, prefilled := now.to(from), inPrefill.to(from)
	var cell *lengths
	hourEnd := int64(math.MinInt64)
	for _, gap := range l.steps[1:] {
		if from >= hourEnd || from < t.origin { // hours are cut towards it
			cell, hourEnd = nil, t.hourOf(from)+hourUS
		}
		to := from + gap
		after, prefilledTo := now.to(to), inPrefill.to(to)
		if cell == nil {
			cell = p.cell(t.hourOf(from), streamClass(before))
		}
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
			p.cell(t.hourOf(from), streamClass(after))
			cell = nil
		}
		from, before, prefilled = to, after, prefilledTo
	}
}

type cellKey struct {
	hour  int64
	place int
}

func (s *sweep) poolRows(t *timeline, parts []*gapPools) error {
	cells, classes, all, other := map[cellKey][][]uint32{}, map[int][][]uint32{}, [][]uint32{}, [][]uint32{}
	for _, p := range parts {
		for hour, list := range p.cells.hours {
			for place, l := range list {
				if l == nil {
					continue
				}
				key := cellKey{hour, place}
				cells[key] = append(cells[key], l.blocks()...)
				classes[place] = append(classes[place], l.blocks()...)
				all = append(all, l.blocks()...)
			}
		}
		other = append(other, p.other.blocks()...)
	}
	for key, blocks := range cells {
		n, median := lengthQuantile(blocks, .5)
		if err := s.row(0, t.name, key.hour, classAt(key.place), n, median, nil); err != nil {
			return err
		}
	}
	for place, blocks := range classes {
		n, median := lengthQuantile(blocks, .5)
		if err := s.row(0, t.name, nil, classAt(place), n, median, nil); err != nil {
			return err
		}
	}
	if len(parts) == 0 {
		return nil
	}
	n, median := lengthQuantile(all, .5)
	var low any
	if n == 0 {
		_, low = lengthQuantile(other, .1)
	}
	return s.row(0, t.name, nil, nil, n, median, low)
}

// lengthQuantile counts the lengths and gives their quantile of type 7, nil without any.
func lengthQuantile(blocks [][]uint32, p float64) (n int64, value any) {
	for _, b := range blocks {
		n += int64(len(b))
	}
	if n == 0 {
		return 0, nil
	}
	h := float64(n-1) * p
	low := float64(ranked(blocks, int64(math.Floor(h))))
	high := low
	if math.Ceil(h) > math.Floor(h) {
		high = float64(ranked(blocks, int64(math.Ceil(h))))
	}
	return n, low + (high-low)*(h-math.Floor(h))
}

// ranked is the length of that rank, from 0: by its upper half, then by the lower.
func ranked(blocks [][]uint32, rank int64) uint32 {
	if len(blocks) == 1 {
		slices.Sort(blocks[0])
		return blocks[0][rank]
	}
	var counts [1 << 16]int64
	for _, b := range blocks {
		for _, v := range b {
			counts[v>>16]++
		}
	}
	upper := uint32(0)
	for ; rank >= counts[upper]; upper++ {
		rank -= counts[upper]
	}
	counts = [1 << 16]int64{}
	for _, b := range blocks {
		for _, v := range b {
			if v>>16 == upper {
				counts[v&0xffff]++
			}
		}
	}
	lower := uint32(0)
	for ; rank >= counts[lower]; lower++ {
		rank -= counts[lower]
	}
	return upper<<16 | lower
}
