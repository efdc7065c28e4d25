package otel

import (
	"hash/maphash"
	"math/bits"

	"reprise/ingest/decode"
)

// attrs are attributes by exact name; of a name given twice the first counts (ING-26).
type attrs struct {
	list  []attr
	table []uint32  // by hash of the name: where it stands in list, from 1; nil: the list is searched
	signs [4]uint64 // of the names in the table, a bit each
}

type attr struct {
	name string
	value
}

// value is an attribute's value, not converted until it is asked for: most values of most spans are prompt text that
// nobody looks at.
type value struct {
	json  *decode.Value // nil: proto
	proto []byte        // a checked AnyValue
}

func (a *attrs) put(name string, v *decode.Value) {
	a.list = append(a.list, attr{name, value{json: v}})
}

// maxSearched is how many attributes are found faster by looking at each.
const maxSearched = 8

var seed = maphash.MakeSeed()

// index makes the table, when the list is complete.
func (m *memory) index(a *attrs) {
	if len(a.list) <= maxSearched {
		return
	}
	n, size := len(m.slots), 2<<bits.Len(uint(len(a.list)))
	m.slots = append(m.slots, make([]uint32, size)...)
	a.table = m.slots[n : n+size : n+size]
	for i := range a.list {
		if at := a.slot(a.list[i].name); *at == 0 {
			*at = uint32(i + 1)
		}
		word, bit := sign(a.list[i].name)
		a.signs[word] |= bit
	}
}

// sign tells most names that are not there from those that are: most of those asked for are not.
func sign(name string) (word int, bit uint64) {
	if name == "" {
		return 0, 1
	}
	n := 37*len(name) ^ int(name[len(name)-1])
	return n >> 6 & 3, 1 << (n & 63)
}

// slot is where the table has the name, or would have it.
func (a *attrs) slot(name string) *uint32 {
	mask := uint64(len(a.table) - 1)
	for h := maphash.String(seed, name); ; h++ {
		if at := &a.table[h&mask]; *at == 0 || a.list[*at-1].name == name {
			return at
		}
	}
}

func (a *attrs) find(name string) *attr {
	if a.table != nil {
		if word, bit := sign(name); a.signs[word]&bit == 0 {
			return nil
		}
		if at := *a.slot(name); at != 0 {
			return &a.list[at-1]
		}
		return nil
	}
	for i := range a.list {
		if a.list[i].name == name {
			return &a.list[i]
		}
	}
	return nil
}

func (a *attrs) has(name string) bool { return a.find(name) != nil }

// raw returns the value as text: strings as they are, numbers and booleans as written, lists and maps as JSON. "" when
// there is none.
func (a *attrs) raw(name string) string {
	return a.find(name).raw()
}

func (a *attr) raw() string {
	if a == nil {
		return ""
	}
	return a.value.text()
}

// text is raw without the words that stand for nothing.
func (a *attrs) text(name string) string { return known(a.raw(name)) }

func known(s string) string {
	switch s {
	case "None", "null", "-":
		return ""
	}
	return s
}
