package otel

import "fmt"

// form says which kind of value a message has under each number; a number that it leaves out may be anything. Like pdata
// we refuse a message whole when any part of it is wrong, also one that nobody reads.
type form struct {
	parts [17]part
	old   part // field 1000, where the scopes stood before 2022
	nests bool // may hold itself
}

// part is one field: its wire type, what its message holds, the length of an id that is not empty.
type part struct {
	known bool
	kind  int8
	size  uint8
	of    *form
}

// part is what the form says of the field.
func (w *wire) part() *part {
	switch {
	case int(w.number) < len(w.form.parts):
		return &w.form.parts[w.number]
	case w.number == 1000:
		return &w.form.old
	}
	return &w.form.parts[0]
}

// wrong says in what the field is not as it should be, but for what is in its message.
func (p *part) wrong(w *wire) error {
	switch {
	case !p.known:
	case w.kind != p.kind:
		return fmt.Errorf("field %d of wire type %d, expected %d", w.number, w.kind, p.kind)
	case p.size != 0 && len(w.data) != 0 && len(w.data) != int(p.size):
		return fmt.Errorf("field %d of %d bytes, expected an id of %d", w.number, len(w.data), p.size)
	}
	return nil
}

// maxNesting is pdata's: of values in values.
const maxNesting = 100

// check returns what is wrong in a message that is not read any further, or not now.
func (f *form) check(b []byte, depth int) error {
	if f.nests {
		if depth++; depth > maxNesting {
			return fmt.Errorf("values nested deeper than %d levels", maxNesting)
		}
	}
	w := wire{rest: b, form: f}
	for w.next() {
		if of := w.part().of; of != nil {
			w.note(of.check(w.data, depth))
		}
	}
	return w.err
}

// forms are those of the messages that are read: export requests, which are TracesData and LogsData on the wire.
type forms struct{ export, block, resource, scope, name, record, event, link, status, keyValue *form }

// message is a field that holds another message.
func message(of *form) part { return part{known: true, kind: delimited, of: of} }

var tracesForms, logsForms = otlpForms()

func otlpForms() (traces, logs forms) {
	type fields = [17]part
	id := func(size uint8) part { return part{known: true, kind: delimited, size: size} }
	number, wide, narrow, text := part{known: true, kind: varint}, part{known: true, kind: fixed64}, part{known: true, kind: fixed32}, part{known: true, kind: delimited}

	keyValue, array, list := &form{nests: true}, &form{nests: true}, &form{nests: true}
	value := &form{nests: true, parts: fields{1: text, 2: number, 3: number, 4: wide, 5: message(array), 6: message(list), 7: text, 8: number}}
	keyValue.parts = fields{1: text, 2: message(value), 3: number}
	array.parts, list.parts = fields{1: message(value)}, fields{1: message(keyValue)}
	attributes := message(keyValue)

	traces = forms{keyValue: keyValue,
		event:  &form{parts: fields{1: wide, 2: text, 3: attributes, 4: number}},
		link:   &form{parts: fields{1: id(16), 2: id(8), 3: text, 4: attributes, 5: number, 6: narrow}},
		status: &form{parts: fields{2: text, 3: number}},
		name:   &form{parts: fields{1: text, 2: text, 3: attributes, 4: number}}}
	traces.resource = &form{parts: fields{1: attributes, 2: number, 3: message(&form{parts: fields{1: text, 2: text, 3: text, 4: text}})}}
	logs = traces
	traces.envelop(&form{parts: fields{1: id(16), 2: id(8), 3: text, 4: id(8), 5: text, 6: number, 7: wide, 8: wide, 9: attributes, 10: number,
		11: message(traces.event), 12: number, 13: message(traces.link), 14: number, 15: message(traces.status), 16: narrow}})
	logs.envelop(&form{parts: fields{1: wide, 2: number, 3: text, 5: message(value), 6: attributes, 7: number, 8: narrow, 9: id(16), 10: id(8), 11: wide, 12: text}})
	return traces, logs
}

// envelop makes the forms around those of records.
func (f *forms) envelop(record *form) {
	f.record = record
	f.scope = &form{parts: [17]part{1: message(f.name), 2: message(record), 3: {known: true, kind: delimited}}}
	f.block = &form{parts: [17]part{1: message(f.resource), 2: message(f.scope), 3: {known: true, kind: delimited}}, old: message(f.scope)}
	f.export = &form{parts: [17]part{1: message(f.block)}}
}
