package decode

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// Parser parses records one after the other, reusing its memory.
type Parser struct{ doc doc }

// maxDepth bounds nesting: deeper text is an attack or a mistake.
const maxDepth = 300

// maxKept bounds the memory that is kept for the next record: one long text must not be paid for ever after.
const maxKept = 1 << 20

// Parse parses one JSON text into a value of its own. Nesting beyond 300 levels is an error.
func Parse(b []byte) (*Value, error) { return new(Parser).ParseBytes(bytes.Clone(b)) }

// ParseBytes parses one JSON text. The value points into b.
func (p *Parser) ParseBytes(b []byte) (*Value, error) { return p.doc.parse(b) }

// maxOpen bounds nesting in the language of the document.
func (d *doc) maxOpen() int {
	if d.python {
		return maxPython
	}
	return maxDepth
}

func (d *doc) parse(b []byte) (*Value, error) {
	d.src, d.nodes, d.open = b, d.nodes[:0], d.open[:0]
	d.text, d.list, d.escapedKey = d.text[:0], d.list[:0], false
	if cap(d.text) > maxKept {
		d.text = nil
	}
	i, err := d.value(d.space(0), 0, 0, d.root())
	for err == nil && len(d.open) > 0 {
		i, err = d.member(i)
	}
	if err != nil {
		return nil, err
	}
	if i = d.space(i); i < len(b) {
		return nil, fmt.Errorf("unexpected text behind the value at byte %d", i)
	}
	d.observe()
	return &d.nodes[0], nil
}

var errEnd = errors.New("text ends too early")

func (d *doc) expected(what string, i int) error {
	if i >= len(d.src) {
		return errEnd
	}
	return fmt.Errorf("expected %s at byte %d, got %q", what, i, d.src[i:min(i+10, len(d.src))])
}

func (d *doc) at(i int) byte {
	if i < len(d.src) {
		return d.src[i]
	}
	return 0
}

func (d *doc) space(i int) int {
	for i < len(d.src) && d.src[i] <= ' ' && (d.src[i] == ' ' || d.src[i] == '\n' || d.src[i] == '\t' || d.src[i] == '\r') {
		i++
	}
	return i
}

// value adds the value at i to the nodes and returns the index behind it, or behind the bracket that opens it.
func (d *doc) value(i, key, keyTo int, at *place) (int, error) {
	v := d.node()
	v.at, v.from, v.key, v.keyTo = at, int32(i), int32(key), int32(keyTo)
	if c := d.at(i); c == '{' || c == '[' {
		if v.kind, v.long = TypeArray, false; c == '{' {
			v.kind = TypeObject
		}
		if most := d.maxOpen(); len(d.open) >= most {
			return i, fmt.Errorf("nested deeper than %d levels", most)
		}
		d.open = append(d.open, open{node: v.self, object: c == '{', at: at})
		return i + 1, nil
	}
	end, err := d.scalar(v, i, false)
	v.to = int32(end)
	return end, err
}

// node adds a node. Nodes are used again by the next record: doc and self are always set, next stays self+1 unless the
// node is closed as an object or array.
func (d *doc) node() *Value {
	n := len(d.nodes)
	if d.nodes = d.nodes[:min(n+1, cap(d.nodes))]; len(d.nodes) == n {
		d.grow(1)
	}
	v := &d.nodes[n]
	v.next = int32(n + 1)
	if v.like != nil {
		v.like = nil
	}
	return v
}

// grow adds n nodes.
func (d *doc) grow(n int) {
	had := len(d.nodes)
	if had+n > cap(d.nodes) {
		d.nodes = slices.Grow(d.nodes, had+n+16)
		for i := range d.nodes[had:cap(d.nodes)] {
			d.nodes[:cap(d.nodes)][had+i] = Value{doc: d, self: int32(had + i)}
		}
	}
	d.nodes = d.nodes[:had+n]
}

// member goes on behind a bracket that opens or behind a value: it reads the next value of the innermost open object or
// array, or closes it.
func (d *doc) member(i int) (int, error) {
	top := &d.open[len(d.open)-1]
	if p := top.comes(); p != nil {
		if p.same != nil {
			if end, last := d.again(p, i); last != nil {
				top.last = last
				return end, nil
			}
		}
		if d.glued(p, i) {
			top.last, d.escapedKey = p, d.escapedKey || p.escaped
			return d.value(i+len(p.glue), i+int(p.key), i+int(p.keyTo), p)
		}
	}
	from, v, begun := i, &d.nodes[top.node], len(d.nodes) > int(top.node)+1
	if i = d.space(i); i >= len(d.src) {
		return i, errEnd
	}
	if c := d.src[i]; c == '}' && top.object || c == ']' && !top.object {
		v.to, v.next = int32(i+1), int32(len(d.nodes))
		d.open = d.open[:len(d.open)-1]
		d.closed(v)
		return i + 1, nil
	} else if begun {
		if c != ',' {
			return i, d.expected("a comma", i)
		}
		i = d.space(i + 1)
	}
	if !top.object {
		return d.elements(i, top)
	}
	keyTo, end, err := d.key(i)
	if err != nil {
		return end, err
	}
	top.last = d.learn(top, from, i+1, keyTo, end)
	return d.value(end, i+1, keyTo, top.last)
}

// key returns where the key at i ends and where its value begins.
func (d *doc) key(i int) (keyTo, value int, err error) {
	if d.python {
		keyTo, err = d.pythonText(i)
		return d.colon(keyTo, err)
	}
	if d.at(i) != '"' {
		return i, i, d.expected("a key", i)
	}
	end := d.short(i)
	if end == 0 {
		if end, err = d.quoted(i); err != nil {
			return i, i, err
		}
		d.escapedKey = d.escapedKey || bytes.IndexByte(d.src[i:end], '\\') >= 0
	}
	return d.colon(end, nil)
}

// colon reads what is between a key that ends at end and its value.
func (d *doc) colon(end int, err error) (keyTo, value int, _ error) {
	if err != nil {
		return end, end, err
	}
	colon := d.space(end)
	if d.at(colon) != ':' {
		return end, colon, d.expected("a colon", colon)
	}
	return end - 1, d.space(colon + 1), nil
}
