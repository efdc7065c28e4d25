package decode

import "slices"

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
