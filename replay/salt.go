package replay

import (
	"encoding/json"
	"slices"
)

// saltBody puts the salt's words in front of the first text of the prompt: the system prompt where it has a member of its own,
// else the first message or the prompt.
func (m *bodyMaker) saltBody(f fields) {
	w := &wordWriter{p: m.prompter, total: saltWords}
	w.put(seed("salt", m.salt), saltWords)
	for _, key := range []string{"instructions", "system", "messages", "input", "prompt"} {
		for i := range f {
			if f[i].key != key || string(f[i].value) == "null" {
				continue
			}
			f[i].value = salted(w.out.user, f[i].value)
			return
		}
	}
}

// salted is a prompt, a content or a list of messages with words in front.
func salted(salt []byte, value json.RawMessage) json.RawMessage {
	var list []map[string]json.RawMessage
	if json.Unmarshal(value, &list) != nil || len(list) == 0 || list[0]["content"] == nil {
		return prepend(salt, value)
	}
	list[0]["content"] = prepend(salt, list[0]["content"])
	out, _ := json.Marshal(list)
	return out
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
