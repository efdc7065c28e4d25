package decode

import (
	"bytes"
	"slices"
)

// element is an object of an array that comes again and again, each time alike but for its last scalar:
// {"key": "http.route", "value": {"stringValue": "/v1"}}. A span holds dozens of such attributes, in one of few orders.
// The text around the scalar is compared as a whole and the nodes are those it was found with.
type element struct {
	stretch
	next   followers
	longer bool // the scalar, last time
}

// followers are the elements that came at one point of late, the last first.
type followers [4]*element

// elements are those of the arrays at one place.
type elements struct {
	first  followers
	known  map[string]*element // by the text before the scalar
	missed int                 // how much more often another came than one of them
}

// Bounds: of the text before the scalar, of the nodes, of what is learnt for one place, and of the patience with it.
const maxBegin, maxElementNodes, maxElements, maxMissed = 256, 8, 512, 1024

// elements reads on at i, where an element of an array begins, and returns the index behind the last one that is known, or
// where the first that is not goes on.
func (d *doc) elements(i int, in *open) (int, error) {
	at := d.element(in)
	if at.known != nil && at.known.elements != nil {
		for end := d.usual(i, in, at.known.elements); end > 0; end = d.usual(i, in, at.known.elements) {
			if i = end; d.at(i) != ',' {
				return i, nil
			}
			i = d.space(i + 1)
		}
	}
	return d.value(i, 0, 0, at)
}

// usual reads the element at i and returns the index behind it, if it is one that came here of late; 0, and nothing done,
// otherwise.
func (d *doc) usual(i int, in *open, all *elements) (end int) {
	next := &all.first
	if in.element != nil {
		next = &in.element.next
	}
	for k, e := range next {
		if e == nil {
			break
		}
		if end = d.repeat(e, i); end > 0 {
			if k > 0 {
				next.forward(k)
			}
			in.element = e
			all.missed = max(all.missed-1, 0)
			return end
		}
	}
	return 0
}

// forward makes the element at k the first.
func (f *followers) forward(k int) {
	e := f[k]
	copy(f[1:k+1], f[:k])
	f[0] = e
}

// repeat adds the nodes of e, if it stands at i.
func (d *doc) repeat(e *element, i int) (end int) {
	begin, rest := &e.parts[0], &e.parts[1]
	if !d.stands(begin, i) {
		return 0
	}
	first, from := len(d.nodes), i+len(begin.text)
	if c := d.src[from]; c == '{' || c == '[' {
		return 0
	}
	d.grow(len(e.nodes))
	d.put(&e.stretch, begin, first, int32(i)-begin.from)
	v := &d.nodes[first+begin.to-1]
	to, err := d.scalar(v, from, e.longer)
	if err != nil || !d.stands(rest, to) {
		d.nodes = d.nodes[:first]
		return 0
	}
	v.to, e.longer = int32(to), to-from > 40
	d.put(&e.stretch, rest, first, int32(to)-rest.from)
	return to + len(rest.text)
}

// closed looks at v, which just ended: if it is an element of an array, it is learnt.
func (d *doc) closed(v *Value) {
	if len(d.open) == 0 || v.kind != TypeObject {
		return
	}
	in := &d.open[len(d.open)-1]
	if in.object || v.at == &d.nowhere {
		return
	}
	before, last := in.element, &d.nodes[len(d.nodes)-1]
	in.element = nil
	if k := v.at.known; len(d.nodes)-int(v.self) <= maxElementNodes && last.kind < TypeArray && last.from-v.from <= maxBegin {
		if k.elements == nil {
			k.elements = &elements{known: map[string]*element{}}
		}
		if in.element = k.elements.learn(d, v, last); in.element == nil {
			return
		}
		next := &k.elements.first
		if before != nil {
			next = &before.next
		}
		next[len(next)-1] = in.element
		next.forward(len(next) - 1)
	}
}

// learn returns the element v, of which last is the last scalar; nil if it is not to be learnt.
func (all *elements) learn(d *doc, v, last *Value) *element {
	begin, rest := d.src[v.from:last.from], d.src[last.to:v.to]
	if all.missed++; all.missed > maxMissed {
		return nil
	}
	e := all.known[string(begin)]
	if e != nil && e.parts[1].text == string(rest) {
		return e
	}
	if len(all.known) == maxElements || bytes.IndexByte(begin, '\\') >= 0 { // an escaped key is noted
		return nil
	}
	n := len(d.nodes) - int(v.self)
	e = &element{stretch: stretch{nodes: slices.Clone(d.nodes[v.self:])}}
	e.parts = []part{{text: string(begin), from: v.from, to: n, hole: true}, {text: string(rest), from: last.to, node: n, to: n}}
	e.close()
	all.known[e.parts[0].text] = e
	return e
}
