package replay

import (
	"encoding/json"
	"fmt"
	"slices"
)

// bodyMaker makes request bodies. The same item gives the same bytes.
type bodyMaker struct {
	*prompter
	opt     *Options
	lengths string
	probing bool // recorded bodies keep their members, but not what is asked
}

// fields are the members of a JSON object in the order they are written.
type fields []field

type field struct {
	key   string
	value []byte // JSON
}

// set replaces a member or appends one; a value of null takes it out.
func (f *fields) set(key string, value []byte) {
	at := slices.IndexFunc(*f, func(x field) bool { return x.key == key })
	switch {
	case at >= 0 && string(value) == "null":
		*f = slices.Delete(*f, at, at+1)
	case at >= 0:
		(*f)[at].value = value
	case string(value) != "null":
		*f = append(*f, field{key, value})
	}
}

func (f fields) bytes() []byte {
	size := 2
	for _, x := range f {
		size += len(x.key) + len(x.value) + 4
	}
	b := append(make([]byte, 0, size), '{')
	for i, x := range f {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, quoted(x.key)...), ':'), x.value...)
	}
	return append(b, '}')
}

// built is a request body.
type built struct {
	bytes []byte
	text  prompt // in it; empty when the recorded body is sent
	free  bool   // the length of the answer was to be forced but must not be: it has to be of a form
	past  *past  // what was said up to here
}

// body returns the request body of an item that follows nothing.
func (m *bodyMaker) body(it *Item) (built, error) { return m.after(it, nil) }

// after returns the request body of an item; before is what was said in its session, nil when answers are not threaded.
func (m *bodyMaker) after(it *Item, before *past) (built, error) {
	f, b, err := m.content(it, before)
	if err != nil {
		return built{}, err
	}
	f.set("model", quoted(m.opt.model(it.Model)))
	if it.Endpoint != "embeddings" {
		f.stream(it)
		b.free = m.limit(&f, it)
		for _, x := range m.opt.Extra {
			f.set(x.Key, x.Value)
		}
	}
	b.bytes = f.bytes()
	return b, nil
}

// stream asks for a stream, or for none, and for its usage where that has to be asked for.
func (f *fields) stream(it *Item) {
	asked, options := "null", "null"
	if it.Stream {
		asked, options = "true", `{"include_usage":true}`
	}
	f.set("stream", []byte(asked))
	if it.Endpoint == "chat" || it.Endpoint == "completions" {
		f.set("stream_options", []byte(options))
	}
}

// content is the recorded body, or a synthetic prompt.
func (m *bodyMaker) content(it *Item, before *past) (f fields, b built, err error) {
	f = fields{{"model", nil}}
	if it.Body != nil {
		if f, err = m.recorded(it); err != nil {
			return nil, b, err
		}
	}
	if it.Body != nil && !m.probing {
		if before == nil {
			before = &past{}
		}
		f.relive(before.live)
		return f, built{past: before}, nil
	}
	b.text = m.make(it)
	b.past = b.text.goOn(before)
	m.ask(&f, it, &b)
	b.text.user = b.past.text
	return f, b, nil
}

// ask puts a synthetic prompt where an endpoint has it.
func (m *bodyMaker) ask(f *fields, it *Item, b *built) {
	system := quotedWords(b.text.system)
	if len(b.text.system) == 0 {
		system = []byte("null")
	}
	switch it.Endpoint {
	case "completions":
		f.set("prompt", quotedWords(b.text.user))
	case "embeddings":
		f.set("input", quotedWords(b.text.user))
	case "responses":
		f.set("instructions", system)
		f.set("input", talk(b.past.said...))
	case "messages":
		f.set("system", system)
		f.set("messages", talk(b.past.said...))
	default:
		turns := b.past.said
		if len(b.text.system) > 0 {
			turns = append([]said{{"system", system}}, turns...)
		}
		f.set("messages", talk(turns...))
	}
}

// said is a message: who, and the content as JSON.
type said struct {
	role    string
	content []byte
}

// talk is a list of messages as JSON.
func talk(turns ...said) []byte {
	size := 2
	for _, t := range turns {
		size += len(t.content) + len(t.role) + 24
	}
	b := append(make([]byte, 0, size), '[')
	for i, t := range turns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(append(append(b, `{"role":"`...), t.role...), `","content":`...), t.content...), '}')
	}
	return append(b, ']')
}

// recorded takes a recorded body apart, members in their recorded order.
func (m *bodyMaker) recorded(it *Item) (fields, error) {
	list, err := ParseFields(it.Body)
	if err != nil {
		return nil, fmt.Errorf("recorded body of %q: %w", it.RequestID, err)
	}
	var f fields
	for _, x := range list {
		f.set(x.Key, x.Value)
	}
	if m.salt != "" {
		m.saltBody(f)
	}
	return f, nil
}

// quoted is s as JSON text.
func quoted(s string) []byte {
	b, _ := json.Marshal(s)
	return b
}

// quotedWords is text that needs no escapes as JSON text.
func quotedWords(text []byte) []byte {
	b := append(make([]byte, 0, len(text)+2), '"')
	return append(append(b, text...), '"')
}
