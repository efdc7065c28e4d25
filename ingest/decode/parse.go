package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
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

// scalar reads the text, number or word at i and returns the index behind it. longer says that a text is likely to be
// longer than a few words.
func (d *doc) scalar(v *Value, i int, longer bool) (end int, err error) {
	v.long = false
	switch c := d.at(i); {
	case c == '"':
		v.kind = TypeString
		if v.long = longer; !longer {
			end = d.short(i)
		}
		if end == 0 {
			end, err = d.quoted(i)
			v.long = true
		}
	case c == '-' || c >= '0' && c <= '9':
		v.kind = TypeNumber
		if d.python {
			end, err = d.pythonNumber(i)
		} else {
			end, err = d.number(i)
		}
	case d.python:
		v.kind, end, err = d.pythonValue(i)
	default:
		v.kind, end, err = d.word(i)
	}
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
		return i + 1, nil
	} else if begun {
		if c != ',' {
			return i, d.expected("a comma", i)
		}
		i = d.space(i + 1)
	}
	if !top.object {
		return d.value(i, 0, 0, d.element(top))
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

// short returns the index behind the string that opens at i when it is short and without a backslash, else 0. It looks
// at words of 8 bytes: most keys and many values end before a vectorised search has started.
func (d *doc) short(i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i++
	for range 5 {
		if i+8 > len(d.src) {
			return 0
		}
		w := binary.LittleEndian.Uint64(d.src[i:])
		q, b := w^('"'*ones), w^('\\'*ones)
		q, b = (q-ones)&^q&highs, (b-ones)&^b&highs // the lowest bit set is right, higher ones may not be
		if q != 0 && (b == 0 || q&-q < b&-b) {
			return i + bits.TrailingZeros64(q)/8 + 1
		} else if b != 0 {
			return 0
		}
		i += 8
	}
	return 0
}

// quoted returns the index behind the string that opens at i: the first quote with an even number of backslashes before
// it.
func (d *doc) quoted(i int) (int, error) {
	s := d.src[i+1:]
	for off := 0; ; off++ {
		n := bytes.IndexByte(s[off:], '"')
		if n < 0 {
			return len(d.src), errEnd
		}
		off += n
		k := off
		for k > 0 && s[k-1] == '\\' {
			k--
		}
		if (off-k)%2 == 0 {
			return i + 1 + off + 1, nil
		}
	}
}

// ofNumber are the bytes that a number is made of.
var ofNumber = [256]bool{'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'.': true, 'e': true, 'E': true, '+': true, '-': true}

func (d *doc) number(i int) (int, error) {
	start := i
	if d.src[i] == '-' {
		i++
	}
	digits := i
	for i < len(d.src) && ofNumber[d.src[i]] {
		i++
	}
	if i == digits || d.src[digits] < '0' || d.src[digits] > '9' {
		return i, d.expected("a number", start)
	}
	return i, nil
}

func (d *doc) word(i int) (Type, int, error) {
	s := d.src[min(i, len(d.src)):]
	switch {
	case len(s) >= 4 && string(s[:4]) == "null":
		return TypeNull, i + 4, nil
	case len(s) >= 4 && string(s[:4]) == "true":
		return TypeTrue, i + 4, nil
	case len(s) >= 5 && string(s[:5]) == "false":
		return TypeFalse, i + 5, nil
	}
	return 0, i, d.expected("a value", i)
}
