package decode

// stretch is what stands in one place of record after record: members of one object, from the glue of the first to the
// end of the last value, all alike but for some scalars. Much of a record is such text. Where it comes again, what stays
// as it is is compared in large parts, and the nodes of the record it was found in are used again.
type stretch struct {
	parts []part
	nodes []Value
	last  *place // of its last member

	tried, failed int // how often it was, and how often most of it did not stand there
}

// part is text that stays as it is, up to a scalar that does not (a hole) or to the end of the stretch.
type part struct {
	text string
	from int32  // where it stood in that record
	node int    // the first of the nodes that begin in it
	to   int    // and the one behind the last of them, which is the hole
	hole bool   // false at the end
	ends []int  // nodes of parts before that end in it
	last *place // of the hole where it is a member of the object itself: what is read so far can be kept
}

// again reads the stretch that begins at p if it is what stands at i, and returns the index behind it and the place of
// its last member. Where only its begin stands there, it returns what it can keep of that; a nil place for nothing.
func (d *doc) again(p *place, i int) (end int, last *place) {
	s := p.same
	rest, had := s.parts[p.part:], len(d.nodes)
	if s.tried++; !d.stands(&rest[0], i) {
		d.fail(p)
		return 0, nil
	}
	kept := had
	first := had - rest[0].node // of the nodes of s
	d.grow(len(s.nodes) - rest[0].node)
	for j := range rest {
		part := &rest[j]
		if !d.stands(part, i) {
			break
		}
		v := &d.nodes[first+part.to-1]
		longer := v.to-v.from > 24 // in the record before
		d.put(s, part, first, int32(i)-part.from)
		i += len(part.text)
		if !part.hole {
			if c := d.src[i]; c == ',' || c == '}' || c == ' ' { // else a number may go on
				return i, s.last
			}
			break
		}
		to, err := d.scalar(v, i, longer)
		if err != nil {
			break
		}
		if v.to, i = int32(to), to; part.last != nil {
			kept, end, last = first+part.to, to, part.last
		}
	}
	if d.nodes = d.nodes[:kept]; kept-had < (len(s.nodes)-rest[0].node)/2 {
		d.fail(p)
	}
	return end, last
}

// fail notes that little of the stretch at p stood there, and gives it up where that is often so.
func (d *doc) fail(p *place) {
	s := p.same
	if s.failed++; s.failed > observed && s.failed > s.tried/2 {
		p.same = nil
	}
}

func (d *doc) stands(p *part, i int) bool {
	end := i + len(p.text)
	return end < len(d.src) && string(d.src[i:end]) == p.text
}

// put sets the nodes of a part: by bytes behind where they stood in the record they were found in. Often they are those of
// the record before, and only move.
func (d *doc) put(s *stretch, p *part, first int, by int32) {
	for k := p.node; k < p.to; k++ {
		v, old := &d.nodes[first+k], &s.nodes[k]
		if v.like != old {
			v.like, v.at, v.kind, v.long, v.key, v.keyTo = old, old.at, old.kind, old.long, 0, 0
			v.next = old.next - s.nodes[0].self + int32(first)
		}
		if v.from, v.to = old.from+by, old.to+by; old.keyTo > 0 {
			v.key, v.keyTo = old.key+by, old.keyTo+by
		}
	}
	for _, k := range p.ends {
		d.nodes[first+k].to = s.nodes[k].to + by
	}
}
