package otel

import (
	"encoding/binary"
	"strings"
)

// nameTable numbers the names of attributes as they come, so that what an indexed span has is found by number. Spans of a
// kind have the same names in the same order: most are known by what came before, without a hash.
type nameTable struct {
	known   map[string]*name
	guess   [1024]*name // by the end of the text, see guess: quicker than known
	last    *name       // of the attribute before
	at      []position
	span    uint32         // counts the spans indexed; attrs of others are searched
	unknown map[string]int // where names stand that are not in the table, which is full
}

// name is one that attributes had.
type name struct {
	text   string
	number int
	after  *name  // the name that came behind it last time
	word   int    // in attrs.signs, and
	sign   uint64 // there
	fields fieldSet
}

// position is where in a span's list a name stands, if span is that span's number.
type position struct {
	span uint32
	at   int32
}

// maxNames bounds the table, maxNameBytes a name in it.
const maxNames, maxNameBytes = 8192, 256

// index prepares a for find, when the list is complete. It holds until the next call.
func (m *memory) index(a *attrs) {
	if len(a.list) <= maxSearched {
		return
	}
	t := &m.names
	t.begin()
	a.names, a.span, a.fill = t, t.span, 0
	for i := range a.list {
		n := t.name(a.list[i].name)
		if n == nil {
			n = t.stray(a.list[i].name, i)
		} else if p := &t.at[n.number]; p.span != t.span {
			*p = position{t.span, int32(i)}
		}
		a.signs[n.word] |= n.sign
		a.fill |= n.fields
	}
}

// begin forgets the span before.
func (t *nameTable) begin() {
	if t.span++; t.span == 0 || t.known == nil { // after four thousand million
		*t = nameTable{known: map[string]*name{}, last: &name{}, span: 1}
	}
	t.unknown = nil
}

// name is the one that text is; nil if there is no room for it.
func (t *nameTable) name(text string) *name {
	before := t.last
	if n := before.after; n != nil && n.text == text {
		t.last = n
		return n
	}
	n := t.look(text)
	if n == nil {
		return nil
	}
	before.after, t.last = n, n
	return n
}

func newName(text string) *name {
	n := &name{text: text, fields: fieldsOf[text]}
	n.word, n.sign = sign(text)
	return n
}

// look returns the name that text is, which it adds where there is room; nil where there is none.
func (t *nameTable) look(text string) *name {
	g := &t.guess[guess(text)]
	if n := *g; n != nil && n.text == text {
		return n
	}
	n := t.known[text]
	if n == nil {
		if len(t.known) == maxNames || len(text) > maxNameBytes {
			return nil
		}
		n = newName(strings.Clone(text))
		n.number, t.at = len(t.at), append(t.at, position{})
		t.known[n.text] = n
	}
	*g = n
	return n
}

// guess is where in nameTable.guess a name may be.
func guess(text string) uint64 {
	h, b := uint64(len(text)), raw(text)
	if n := len(b); n >= 8 {
		h ^= binary.LittleEndian.Uint64(b[max(0, n-16):])*31 ^ binary.LittleEndian.Uint64(b[n-8:])
	} else if n > 0 {
		h ^= uint64(b[0])<<16 ^ uint64(b[n-1])<<8
	}
	return h * 0x9e3779b97f4a7c15 >> 54
}

// stray notes where a name stands that has no number.
func (t *nameTable) stray(text string, i int) *name {
	if t.unknown == nil {
		t.unknown = map[string]int{}
	}
	if _, twice := t.unknown[text]; !twice {
		t.unknown[text] = i
	}
	return newName(text)
}

// find returns where the name stands in the list of the span indexed last. What is asked for is in the table from then on:
// the next time no hash is needed to see that the span has none.
func (t *nameTable) find(text string) (i int, ok bool) {
	if n := t.look(text); n != nil {
		p := t.at[n.number]
		return int(p.at), p.span == t.span
	}
	i, ok = t.unknown[text]
	return i, ok
}

// fieldSet are fields, a bit each.
type fieldSet uint32

const _ = fieldSet(1) << (fields - 1) // must fit

// fieldsOf are the fields that each alias can fill.
var fieldsOf = func() map[string]fieldSet {
	all := map[string]fieldSet{}
	for f, list := range aliases {
		for _, a := range list {
			all[a.name] |= 1 << f
		}
	}
	return all
}()
