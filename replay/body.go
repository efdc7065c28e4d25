package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
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

// body returns the request body of an item and the prompt in it; the prompt is empty when the recorded body is sent.
func (m *bodyMaker) body(it *Item) ([]byte, prompt, error) {
	f, text, err := m.content(it)
	if err != nil {
		return nil, prompt{}, err
	}
	f.set("model", quoted(m.opt.model(it.Model)))
	if it.Stream {
		f.set("stream", []byte("true"))
		f.set("stream_options", []byte(`{"include_usage":true}`))
	} else {
		f.set("stream", []byte("null"))
		f.set("stream_options", []byte("null"))
	}
	m.limit(&f, it)
	for _, x := range m.opt.Extra {
		f.set(x.Key, x.Value)
	}
	return f.bytes(), text, nil
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
	if it.Endpoint == "completions" {
		f.set("prompt", quotedWords(text.user))
		return f, text, nil
	}
	messages := []byte{'['}
	if len(text.system) > 0 {
		messages = append(append(append(messages, `{"role":"system","content":`...), quotedWords(text.system)...), "},"...)
	}
	messages = append(append(append(messages, `{"role":"user","content":`...), quotedWords(text.user)...), "}]"...)
	f.set("messages", messages)
	return f, text, nil
}

// recorded takes a recorded body apart, members in their recorded order.
func (m *bodyMaker) recorded(it *Item) (fields, error) {
	d := json.NewDecoder(bytes.NewReader(it.Body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("recorded body of %q: expected a JSON object", it.RequestID)
	}
	var f fields
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return nil, fmt.Errorf("recorded body of %q: %w", it.RequestID, err)
		}
		f.set(key.(string), value)
	}
	if m.salt != "" {
		m.saltBody(f)
	}
	return f, nil
}

// saltBody puts the salt's words in front of the first message (or the prompt), when that is plain text.
func (m *bodyMaker) saltBody(f fields) {
	w := &wordWriter{p: m.prompter, total: saltWords}
	w.put(seed("salt", m.salt), saltWords)
	for i := range f {
		switch f[i].key {
		case "prompt":
			f[i].value = prepend(w.out.user, f[i].value)
		case "messages":
			var list []map[string]json.RawMessage
			if json.Unmarshal(f[i].value, &list) == nil && len(list) > 0 {
				list[0]["content"] = prepend(w.out.user, list[0]["content"])
				f[i].value, _ = json.Marshal(list)
			}
		}
	}
}

// prepend puts words in front of a message's content, which is text or a list of parts.
func prepend(salt []byte, content json.RawMessage) json.RawMessage {
	var text string
	var parts []json.RawMessage
	switch {
	case json.Unmarshal(content, &text) == nil:
		return quoted(string(salt) + " " + text)
	case json.Unmarshal(content, &parts) == nil:
		part := append(append([]byte(`{"type":"text","text":`), quotedWords(salt)...), '}')
		list, _ := json.Marshal(slices.Insert(parts, 0, part))
		return list
	}
	return content
}

// limit sets how long the answer may, or must, be. Forcing uses the switches of vLLM, SGLang and llama.cpp (ignore_eos,
// min_tokens), and leaves answers alone that have to be of a form (a JSON schema, a forced tool call): forced past their
// end they would be broken.
func (m *bodyMaker) limit(f *fields, it *Item) {
	out := it.OutputTokens
	if m.opt.Cancel == CancelRecorded && it.CancelUS != nil && it.MaxTokens != nil {
		out = max(out, *it.MaxTokens) // what was recorded is only the part before the hang-up
	}
	own := f.take("max_tokens")
	if v := f.take("max_completion_tokens"); v != nil {
		own = v
	}
	switch {
	case m.lengths == LengthsRecorded:
		own = strconv.AppendInt(nil, out, 10)
		if !f.formed() {
			f.set("min_tokens", own)
			f.set("ignore_eos", []byte("true"))
		}
	case it.MaxTokens != nil:
		own = strconv.AppendInt(nil, *it.MaxTokens, 10)
	}
	if own != nil {
		f.set(m.opt.MaxTokensField, own)
	}
}

// take removes a member and returns its value, nil when there is none.
func (f *fields) take(key string) []byte {
	for _, x := range *f {
		if x.key == key {
			f.set(key, []byte("null"))
			return x.value
		}
	}
	return nil
}

// formed says whether the answer has to be of a form.
func (f fields) formed() bool {
	for _, x := range f {
		var format struct{ Type string }
		switch {
		case x.key == "response_format" && json.Unmarshal(x.value, &format) == nil && format.Type != "text",
			x.key == "tool_choice" && string(x.value) != `"auto"` && string(x.value) != `"none"`:
			return true
		}
	}
	return false
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
