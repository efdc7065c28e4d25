package otel

import "fmt"

// form says which kind of value a message has under each number. A message is checked whole before anything of it is
// read, as pdata would refuse it whole; what no form names may be anything.
type form struct {
	parts [17]part          // parts[0] is field 1000, where the scopes stood before 2022
	nests bool              // may hold itself
	plain func([]byte) bool // true for most well-formed ones; nil without
}

// part is one field: its wire type, what its message holds, the length of an id that is not empty.
type part struct {
	known bool
	kind  int8
	of    *form
	size  int
}

// maxNesting is pdata's: of values in values.
const maxNesting = 100

// check returns what is wrong with a message.
func (f *form) check(b []byte, depth int) error {
	if f.nests {
		if depth++; depth > maxNesting {
			return fmt.Errorf("values nested deeper than %d levels", maxNesting)
		}
	}
	w := wire{rest: b}
	for w.next() {
		number := w.number
		if number == 1000 {
			number = 0
		} else if int(number) >= len(f.parts) {
			continue
		}
		p := &f.parts[number]
		switch {
		case !p.known:
		case w.kind != p.kind:
			return fmt.Errorf("field %d of wire type %d, expected %d", w.number, w.kind, p.kind)
		case p.size != 0 && len(w.data) != 0 && len(w.data) != p.size:
			return fmt.Errorf("field %d of %d bytes, expected an id of %d", w.number, len(w.data), p.size)
		case p.of != nil && (p.of.plain == nil || !p.of.plain(w.data)):
			if err := p.of.check(w.data, depth); err != nil {
				return err
			}
		}
	}
	return w.err
}

// The messages that are read: export requests, which are TracesData and LogsData on the wire.
var tracesForm, logsForm = otlpForms()

func otlpForms() (traces, logs *form) {
	type fields = [17]part
	message := func(f *form) part { return part{known: true, kind: bytes_, of: f} }
	id := func(size int) part { return part{known: true, kind: bytes_, size: size} }
	number, wide, narrow, text := part{known: true, kind: varint}, part{known: true, kind: fixed64}, part{known: true, kind: fixed32}, part{known: true, kind: bytes_}

	keyValue, array, list := &form{nests: true, plain: plainKeyValue}, &form{nests: true}, &form{nests: true}
	value := &form{nests: true, parts: fields{1: text, 2: number, 3: number, 4: wide, 5: message(array), 6: message(list), 7: text, 8: number}}
	keyValue.parts = fields{1: text, 2: message(value), 3: number}
	array.parts, list.parts = fields{1: message(value)}, fields{1: message(keyValue)}
	attributes := message(keyValue)

	entity := &form{parts: fields{1: text, 2: text, 3: text, 4: text}}
	resource := message(&form{parts: fields{1: attributes, 2: number, 3: message(entity)}})
	scope := message(&form{parts: fields{1: text, 2: text, 3: attributes, 4: number}})
	export := func(record *form) *form {
		records := message(&form{parts: fields{1: scope, 2: message(record), 3: text}})
		return &form{parts: fields{1: message(&form{parts: fields{0: records, 1: resource, 2: records, 3: text}})}}
	}
	event := &form{parts: fields{1: wide, 2: text, 3: attributes, 4: number}}
	link := &form{parts: fields{1: id(16), 2: id(8), 3: text, 4: attributes, 5: number, 6: narrow}}
	status := &form{parts: fields{2: text, 3: number}}
	return export(&form{parts: fields{1: id(16), 2: id(8), 3: text, 4: id(8), 5: text, 6: number, 7: wide, 8: wide, 9: attributes, 10: number,
			11: message(event), 12: number, 13: message(link), 14: number, 15: message(status), 16: narrow}}),
		export(&form{parts: fields{1: wide, 2: number, 3: text, 5: message(value), 6: attributes, 7: number, 8: narrow, 9: id(16), 10: id(8), 11: wide, 12: text}})
}
