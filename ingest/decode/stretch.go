package decode

import "slices"

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

// observed is how many records tell which values stay as they are (one of a few that take turns differs in so many), and
// period after how many records that is asked again.
const observed, period = 16, 4096

// maxSame bounds the text of a member that is compared, maxNodes the nodes of all stretches.
const maxSame, maxNodes = 2 << 10, 4096

// seen is what was observed of a place in a period.
type seen struct {
	text   string
	nodes  int32 // of the value
	times  int
	period int
	varies bool // the text
	grows  bool // or shrinks: the number of nodes varies
}

// observe looks at a whole record if it is one of those that tell, and finds the stretches in the last of them.
func (d *doc) observe() {
	n := d.records % period
	if n <= 1 || n > 1+observed { // the first of all has no places
		return
	}
	for i := range d.nodes {
		if v := &d.nodes[i]; v.at.glue != "" {
			v.at.known.seen.add(d.src[int(v.from)-len(v.at.glue):v.to], v.next-v.self, 1+d.records/period)
		}
	}
	if n < 1+observed {
		return
	}
	for _, p := range d.starts {
		p.same = nil
	}
	d.starts = d.starts[:0]
	if !d.escapedKey && len(d.nodes) <= maxNodes {
		d.stretches(&d.nodes[0])
	}
}

func (s *seen) add(text []byte, nodes int32, period int) {
	if s.period != period {
		*s = seen{period: period, nodes: nodes, varies: len(text) > maxSame}
		if !s.varies {
			s.text = string(text)
		}
	}
	s.times++
	s.varies = s.varies || string(text) != s.text
	s.grows = s.grows || nodes != s.nodes
}

// same says that the text of the member stays as it is.
func (v *Value) same() bool {
	return v.at.glue != "" && !v.at.known.seen.varies && v.at.known.seen.times >= observed
}

// alike says that the value may be in a stretch: it stays as it is, or nothing of it but scalars changes.
func (v *Value) alike() bool {
	if v.same() {
		return true
	}
	member := v.at.glue != ""
	if v.at == &v.doc.nowhere || member && (v.at.known.seen.times < observed || v.at.known.seen.grows) || !member && v.kind == TypeArray {
		return false
	}
	if v.kind != TypeObject && v.kind != TypeArray {
		return true
	}
	for c := v.first(); c != nil; c = v.after(c) {
		if !c.alike() {
			return false
		}
	}
	return true
}

// stretches finds those among the members of an object, as many in a row as are alike, and those inside of the others.
func (d *doc) stretches(in *Value) {
	if in.kind != TypeObject && in.kind != TypeArray {
		return
	}
	var first, last *Value
	for c := in.first(); c != nil; c = in.after(c) {
		if in.kind == TypeObject && c.at.glue != "" && c.alike() {
			if last = c; first == nil {
				first = c
			}
			continue
		}
		d.remember(in, first, last)
		first = nil
		d.stretches(c)
	}
	d.remember(in, first, last)
}

// worth is how many nodes a stretch with holes must have: with fewer it takes as long as reading them one by one.
const worth = 8

// remember makes a stretch of the members of an object from first to last; of few, of those that stay as they are.
func (d *doc) remember(in, first, last *Value) {
	if first == nil {
		return
	}
	if last.next-first.self >= worth {
		d.keep(first, last)
		return
	}
	var from, to *Value
	for c := first; c != nil && c.self <= last.self; c = in.after(c) {
		if !c.same() {
			d.keep(from, to)
			from = nil
			continue
		}
		if to = c; from == nil {
			from = c
		}
	}
	d.keep(from, to)
}

// keep makes a stretch of the members from first to last, if there are any.
func (d *doc) keep(first, last *Value) {
	if first == nil {
		return
	}
	s := &stretch{nodes: slices.Clone(d.nodes[first.self:last.next]), last: last.at}
	s.cut(d.src, first.from-int32(len(first.at.glue)), last.to)
	for i := range s.parts { // it can begin behind each hole among the members
		if i == 0 || s.parts[i-1].last != nil {
			at := s.nodes[s.parts[i].node].at
			at.same, at.part = s, int16(i)
			d.starts = append(d.starts, at)
		}
	}
}

// cut makes the parts of the text of s, which stands in src.
func (s *stretch) cut(src []byte, from, to int32) {
	base, member := s.nodes[0].self, 0
	for k := 0; k < len(s.nodes); {
		v, p := &s.nodes[k], part{from: from, node: s.begun()}
		if p.to = k + 1; k == member {
			member, p.last = int(v.next-base), v.at
		}
		switch {
		case v.same():
			k = int(v.next - base)
			continue
		case v.kind == TypeObject || v.kind == TypeArray:
		default:
			p.text, p.hole = string(src[from:v.from]), true
			s.parts, from = append(s.parts, p), v.to
		}
		k++
	}
	if from < to {
		s.parts = append(s.parts, part{text: string(src[from:to]), from: from, node: s.begun(), to: len(s.nodes)})
	}
	s.close()
}

// begun is how many nodes begin in the parts so far.
func (s *stretch) begun() int {
	if len(s.parts) == 0 {
		return 0
	}
	return s.parts[len(s.parts)-1].to
}

// close finds the parts in which objects and arrays end that begin in another.
func (s *stretch) close() {
	begin := 0
	for k := range s.nodes {
		for k >= s.parts[begin].to {
			begin++
		}
		end := begin
		for end+1 < len(s.parts) && s.nodes[k].to > s.parts[end+1].from {
			end++
		}
		if end > begin {
			s.parts[end].ends = append(s.parts[end].ends, k)
		}
	}
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
