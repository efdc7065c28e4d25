package decode

// Value is a parsed JSON value: one node of a flat list in document order. It points into the text it was parsed from
// and lives until its Parser's next call: copy what you keep (Text and Int do). All methods accept nil, which is "not
// there".
//
// Why not a JSON library: most bytes of a log are message text that only needs skipping. This reader finds the end of a
// string with a vectorised search and unescapes only what is asked for; fastjson, its oracle in the tests, copies and
// walks every byte.
type Value struct {
	doc        *doc
	at         *place // where records have this member
	from, to   int32  // the value's own text; for a string with its quotes
	key, keyTo int32  // raw key without quotes, inside an object
	self, next int32  // indices of this node and of the one behind all that is in it
	kind       Type
	long       bool   // a string that may hold escapes: short ones with some count as long
	like       *Value // of the stretch it is in: but for places in the text, the same
}

type doc struct {
	src   []byte
	nodes []Value
	open  []open
	text  []byte   // unescaped strings
	list  []*Value // arrays handed out
	kept  arena

	escapedKey bool // some key is written with escapes
	python     bool // see PythonParser

	record          *place // of whole records
	nowhere         place  // of members that are not remembered
	records, places int
	starts          []*place // of stretches
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

// Type returns the kind; 0 for nil.
func (v *Value) Type() Type {
	if v == nil {
		return 0
	}
	return v.kind
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
