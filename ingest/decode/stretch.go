package decode

import "slices"

// stretch is text that stands in one place of record after record: members of one object, from the glue of the first to
// the end of the last value. Much of a record is such text. Where it comes again, it is compared as a whole, and the nodes
// of the record it was found in are copied.
type stretch struct {
	text  string
	nodes []Value
	from  int32  // where it stood in that record
	last  *place // of its last member
}

// observed is how many records tell which values stay as they are (one of a few that take turns differs in so many), and
// period after how many records that is asked again.
const observed, period = 16, 4096

// maxSame bounds the text of a member that is compared.
const maxSame = 2 << 10

// seen is what was observed of a place in a period.
type seen struct {
	text   string
	times  int
	period int
	varies bool
}

// observe looks at a whole record if it is one of those that tell, and finds the stretches in the last of them.
func (d *doc) observe() {
	n := d.records % period
	if n <= 1 || n > 1+observed { // the first of all has no places
		return
	}
	for i := range d.nodes {
		if v := &d.nodes[i]; v.at.glue != "" {
			v.at.known.seen.add(d.src[int(v.from)-len(v.at.glue):v.to], 1+d.records/period)
		}
	}
	for i := range d.nodes {
		if v := &d.nodes[i]; n == 1+observed && v.kind == TypeObject && !d.escapedKey {
			d.stretches(v)
		}
	}
}

func (s *seen) add(text []byte, period int) {
	if s.period != period {
		*s = seen{period: period, varies: len(text) > maxSame}
		if !s.varies {
			s.text = string(text)
		}
	}
	s.times++
	s.varies = s.varies || string(text) != s.text
}

// same says that it may be in a stretch.
func (s *seen) same() bool { return !s.varies && s.times >= observed }

// stretches finds those among the members of an object: as many in a row as stay as they are.
func (d *doc) stretches(object *Value) {
	var first, last *Value
	for c := object.first(); c != nil; c = object.after(c) {
		if c.at.glue != "" && c.at.known.seen.same() {
			if last = c; first == nil {
				first = c
			}
			continue
		}
		d.remember(first, last)
		first, c.at.same = nil, nil
	}
	d.remember(first, last)
}

// remember makes a stretch of the members from first to last.
func (d *doc) remember(first, last *Value) {
	if first == nil {
		return
	}
	from := first.from - int32(len(first.at.glue))
	text := d.src[from:last.to]
	if s := first.at.same; s == nil || s.text != string(text) {
		first.at.same = &stretch{string(text), slices.Clone(d.nodes[first.self:last.next]), from, last.at}
	}
}

// again adds the nodes of a stretch if its text is what stands at i.
func (d *doc) again(s *stretch, i int) bool {
	end := i + len(s.text)
	if end >= len(d.src) || string(d.src[i:end]) != s.text {
		return false
	}
	if c := d.src[end]; c != ',' && c != '}' && c != ' ' { // a number may go on
		return false
	}
	n, by := len(d.nodes), int32(i)-s.from
	d.grow(len(s.nodes))
	for k := range s.nodes {
		old, v := &s.nodes[k], &d.nodes[n+k]
		v.at, v.kind, v.long = old.at, old.kind, old.long
		v.from, v.to, v.next = old.from+by, old.to+by, old.next-s.nodes[0].self+int32(n)
		if v.key, v.keyTo = 0, 0; old.keyTo > 0 {
			v.key, v.keyTo = old.key+by, old.keyTo+by
		}
	}
	return true
}
