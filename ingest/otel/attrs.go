package otel

import "reprise/ingest/decode"

// attrs are attributes by exact name; of a name given twice the first counts (ING-26).
type attrs struct {
	list  []attr
	names *nameTable // nil: the list is searched
	span  uint32     // of names
	signs [4]uint64  // of the names in the list, a bit each
	fill  fieldSet   // that they can fill
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
const maxSearched = 4

// sign tells most names that are not there from those that are: most of those asked for are not.
func sign(name string) (word int, bit uint64) {
	if name == "" {
		return 0, 1
	}
	n := 37*len(name) ^ int(name[len(name)-1])
	return n >> 6 & 3, 1 << (n & 63)
}

// indexed says that find need not search.
func (a *attrs) indexed() bool { return a.names != nil && a.names.span == a.span }

// find returns the attribute of that name; nil when there is none.
func (a *attrs) find(name string) *attr {
	if a.indexed() {
		if word, bit := sign(name); a.signs[word]&bit == 0 {
			return nil
		}
		if i, ok := a.names.find(name); ok {
			return &a.list[i]
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

// of are the names of a field that some attribute may have.
func (a *attrs) of(f field) []alias {
	if a.indexed() && a.fill&(1<<f) == 0 {
		return nil
	}
	return aliases[f]
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
