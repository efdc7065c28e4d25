package decode

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// Value is a parsed JSON value: one node of a flat list in document order. It points into the text it was parsed from
// and lives until its Parser's next call: copy what you keep. All methods accept nil, which is "not there".
//
// Why not a JSON library: most bytes of a log are message text that only needs skipping. This reader finds the end of a
// string with a vectorised search and unescapes only what is asked for; fastjson, its oracle in the tests, copies and
// walks every byte.
type Value struct {
	doc        *doc
	kind       Type
	key, keyTo int32 // raw key without quotes, inside an object
	from, to   int32 // the value's own text; for a string with its quotes
	self, next int32 // indices of this node and of the one behind all that is in it
}

type doc struct {
	src   []byte
	nodes []Value
	text  []byte   // unescaped strings
	list  []*Value // arrays handed out
}

// Type is the kind of a JSON value.
type Type uint8

// The kinds. The zero Type is no kind.
const (
	_ Type = iota
	TypeNull
	TypeFalse
	TypeTrue
	TypeNumber
	TypeString
	TypeArray
	TypeObject
)

func (t Type) String() string {
	return [...]string{"nothing", "null", "false", "true", "number", "string", "array", "object"}[t]
}

// Parser parses records one after the other, reusing its memory.
type Parser struct{ doc doc }

// maxDepth bounds nesting: deeper text is an attack or a mistake.
const maxDepth = 300

// Parse parses one JSON text into a value of its own. Nesting beyond 300 levels is an error.
func Parse(b []byte) (*Value, error) { return new(Parser).ParseBytes(bytes.Clone(b)) }

// ParseBytes parses one JSON text. The value points into b.
func (p *Parser) ParseBytes(b []byte) (*Value, error) {
	d := &p.doc
	d.src, d.nodes, d.text, d.list = b, d.nodes[:0], d.text[:0], d.list[:0]
	i, err := d.value(d.space(0), 0)
	if err != nil {
		return nil, err
	}
	if i = d.space(i); i < len(b) {
		return nil, fmt.Errorf("unexpected text behind the value at byte %d", i)
	}
	return &d.nodes[0], nil
}

var errEnd = errors.New("text ends too early")

func (d *doc) space(i int) int {
	for i < len(d.src) && (d.src[i] == ' ' || d.src[i] == '\n' || d.src[i] == '\t' || d.src[i] == '\r') {
		i++
	}
	return i
}

// value adds the value at i to the nodes and returns the index behind it.
func (d *doc) value(i, depth int) (int, error) {
	if i >= len(d.src) {
		return i, errEnd
	}
	n := len(d.nodes)
	d.nodes = append(d.nodes, Value{doc: d, from: int32(i), self: int32(n)})
	kind, end, err := Type(0), i, error(nil)
	switch c := d.src[i]; {
	case c == '"':
		kind = TypeString
		end, err = d.quoted(i)
	case c == '{' || c == '[':
		if depth >= maxDepth {
			return i, fmt.Errorf("nested deeper than %d levels", maxDepth)
		}
		kind = TypeArray
		if c == '{' {
			kind = TypeObject
		}
		end, err = d.children(i+1, depth, c)
	case c == '-' || c >= '0' && c <= '9':
		kind = TypeNumber
		end, err = d.number(i)
	default:
		kind, end, err = d.word(i)
	}
	v := &d.nodes[n]
	v.kind, v.to, v.next = kind, int32(end), int32(len(d.nodes))
	return end, err
}

// children reads the members of an object or array up to its closing bracket.
func (d *doc) children(i, depth int, open byte) (int, error) {
	closing := open + 2 // '{' and '}', '[' and ']' stand two apart
	if i = d.space(i); i < len(d.src) && d.src[i] == closing {
		return i + 1, nil
	}
	for {
		key, keyTo := 0, 0
		if open == '{' {
			if i >= len(d.src) || d.src[i] != '"' {
				return i, d.expected("a key", i)
			}
			end, err := d.quoted(i)
			if err != nil {
				return i, err
			}
			key, keyTo = i+1, end-1
			if i = d.space(end); i >= len(d.src) || d.src[i] != ':' {
				return i, d.expected("a colon", i)
			}
			i = d.space(i + 1)
		}
		n := len(d.nodes)
		end, err := d.value(i, depth+1)
		if err != nil {
			return end, err
		}
		d.nodes[n].key, d.nodes[n].keyTo = int32(key), int32(keyTo)
		i = d.space(end)
		switch {
		case i >= len(d.src):
			return i, errEnd
		case d.src[i] == closing:
			return i + 1, nil
		case d.src[i] != ',':
			return i, d.expected("a comma", i)
		}
		i = d.space(i + 1)
	}
}

func (d *doc) expected(what string, i int) error {
	if i >= len(d.src) {
		return errEnd
	}
	return fmt.Errorf("expected %s at byte %d, got %q", what, i, d.src[i:min(i+10, len(d.src))])
}

// quoted returns the index behind the string that opens at i: the first quote with an even number of backslashes
// before it.
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

func (d *doc) number(i int) (int, error) {
	start := i
	if d.src[i] == '-' {
		i++
	}
	digits := i
	for ; i < len(d.src); i++ {
		if c := d.src[i]; (c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' {
			break
		}
	}
	if i == digits || d.src[digits] < '0' || d.src[digits] > '9' {
		return i, d.expected("a number", start)
	}
	return i, nil
}

func (d *doc) word(i int) (Type, int, error) {
	for _, w := range [...]struct {
		text string
		kind Type
	}{{"null", TypeNull}, {"true", TypeTrue}, {"false", TypeFalse}} {
		if bytes.HasPrefix(d.src[i:], []byte(w.text)) {
			return w.kind, i + len(w.text), nil
		}
	}
	return 0, i, d.expected("a value", i)
}

// Type returns the kind; 0 for nil.
func (v *Value) Type() Type {
	if v == nil {
		return 0
	}
	return v.kind
}

// Get returns the value at the path of keys (exact names, the first of equal ones) and array indices; nil when there
// is none.
func (v *Value) Get(path ...string) *Value {
	for _, key := range path {
		v = v.member(key)
	}
	return v
}

func (v *Value) member(key string) *Value {
	switch v.Type() {
	case TypeObject:
		for c := v.first(); c != nil; c = v.after(c) {
			if int(c.keyTo-c.key) == len(key) && string(v.doc.src[c.key:c.keyTo]) == key {
				return c
			}
		}
		return v.escapedMember(key)
	case TypeArray:
		n, err := strconv.Atoi(key)
		for c := v.first(); err == nil && c != nil; c = v.after(c) {
			if n == 0 {
				return c
			}
			n--
		}
	}
	return nil
}

// escapedMember looks among the keys that are written with escapes: rare, so only when the plain search failed.
func (v *Value) escapedMember(key string) *Value {
	for c := v.first(); c != nil; c = v.after(c) {
		raw := v.doc.src[c.key:c.keyTo]
		if bytes.IndexByte(raw, '\\') >= 0 && string(v.doc.unescape(raw)) == key {
			return c
		}
	}
	return nil
}

// first returns the first child: children follow their parent directly.
func (v *Value) first() *Value {
	if v.self+1 == v.next {
		return nil
	}
	return &v.doc.nodes[v.self+1]
}

// after returns the sibling behind c inside v.
func (v *Value) after(c *Value) *Value {
	if c.next == v.next {
		return nil
	}
	return &v.doc.nodes[c.next]
}
