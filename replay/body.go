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
}

// body returns the request body of an item.
func (m *bodyMaker) body(it *Item) (built, error) {
	f, text, err := m.content(it)
	if err != nil {
		return built{}, err
	}
	f.set("model", quoted(m.opt.model(it.Model)))
	if it.Endpoint == "embeddings" {
		return built{bytes: f.bytes(), text: text}, nil
	}
	f.stream(it)
	free := m.limit(&f, it)
	for _, x := range m.opt.Extra {
		f.set(x.Key, x.Value)
	}
	return built{f.bytes(), text, free}, nil
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
func (m *bodyMaker) content(it *Item) (fields, prompt, error) {
	if it.Body != nil && !m.probing {
		f, err := m.recorded(it)
		return f, prompt{}, err
	}
	f := fields{{"model", nil}}
	if it.Body != nil {
		var err error
		if f, err = m.recorded(it); err != nil {
			return nil, prompt{}, err
		}
	}
	text := m.make(it)
	switch it.Endpoint {
	case "completions":
		f.set("prompt", quotedWords(text.user))
	case "embeddings":
		f.set("input", quotedWords(text.user))
	case "responses":
		if len(text.system) > 0 {
			f.set("instructions", quotedWords(text.system))
		}
		f.set("input", talk(said{"user", quotedWords(text.user)}))
	case "messages":
		if len(text.system) > 0 {
			f.set("system", quotedWords(text.system))
		}
		f.set("messages", talk(said{"user", quotedWords(text.user)}))
	default:
		f.set("messages", talk(text.turns()...))
	}
	return f, text, nil
}

// said is a message: who, and the content as JSON.
type said struct {
	role    string
	content []byte
}

// turns are the messages of a prompt.
func (p prompt) turns() []said {
	user := said{"user", quotedWords(p.user)}
	if len(p.system) == 0 {
		return []said{user}
	}
	return []said{{"system", quotedWords(p.system)}, user}
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
