package public

import (
	"encoding/json"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// talk is a conversation on its way through: its text goes into hashes and, when bodies are kept, into a body.
type talk struct {
	prompt *decode.Prompt
	keep   bool
	count  int    // messages
	users  int32  // of them from the user
	kept   []byte // messages as JSON
	defs   []byte // tools as JSON
	left   int    // bytes that the requests of this conversation may still take
}

// maxTalk bounds what the requests of one conversation take together: each repeats the prompts before it, so a long one
// grows with the square of its length. Behind it prefixes and bodies are left out.
const maxTalk = 64 << 20

func newTalk(c *decode.Context) *talk {
	return &talk{prompt: c.Hash.Prompt(), keep: c.KeepBodies, left: maxTalk}
}

// add appends a message: text, or anything else as JSON.
func (t *talk) add(role string, content *decode.Value) {
	text := content.GetStringBytes()
	if text == nil && content != nil && content.Type() != decode.TypeNull {
		text = content.MarshalTo(nil)
	}
	t.prompt.Add(role, text)
	t.count++
	if role == "user" {
		t.users++
	}
	if !t.keep {
		return
	}
	if len(t.kept) > 0 {
		t.kept = append(t.kept, ',')
	}
	t.kept = append(append(append(t.kept, `{"role":`...), quoted([]byte(role))...), `,"content":`...)
	if content.Type() == decode.TypeArray {
		t.kept = append(append(t.kept, text...), '}')
		return
	}
	t.kept = append(append(t.kept, quoted(text)...), '}')
}

// quoted writes a text as JSON; bytes that are no UTF-8 are replaced.
func quoted(text []byte) []byte {
	b, _ := json.Marshal(string(text)) // text always marshals
	return b
}

// tools puts tool definitions in front.
func (t *talk) tools(v *decode.Value) {
	if len(v.GetArray()) > 0 {
		t.defs = v.MarshalTo(nil)
		t.prompt.Add("tools", t.defs)
	}
}

// messages appends a list of role and content, or a bare text.
func (t *talk) messages(v *decode.Value) {
	if v.Type() == decode.TypeString {
		t.add("user", v)
	}
	for _, m := range v.GetArray() {
		if m.Type() == decode.TypeString {
			t.add("user", m)
			continue
		}
		t.add(decode.Text(m, "role"), m.Get("content"))
		if calls := m.Get("tool_calls"); len(calls.GetArray()) > 0 {
			t.prompt.Add("tool_calls", calls.MarshalTo(nil))
			t.keep = false // role and content alone do not rebuild it
		}
	}
}

// fill gives a request the shape of all that was added so far.
func (t *talk) fill(r *trace.Request) {
	if t.users > 0 {
		r.Turn = trace.Ptr(t.users)
	}
	r.SystemPromptHash = t.prompt.SystemHash()
	if t.left > 0 {
		r.PrefixHashIDs = t.prompt.Blocks()
		t.left -= 8 * len(r.PrefixHashIDs)
	}
	if r.SystemPromptTokens = t.prompt.SystemTokens(r.InputTokens); r.SystemPromptTokens != nil && *r.SystemPromptTokens > 0 {
		r.AddQuality(trace.QSystemEstimated)
	}
}

// body is the request that would send all that was added so far; nil unless bodies are kept.
func (t *talk) body(r *trace.Request) []byte {
	if t.left -= len(t.kept); !t.keep || len(t.kept) == 0 || t.left < 0 {
		return nil
	}
	b := []byte{'{'}
	if r.ModelRequested != "" {
		b = append(append(append(b, `"model":`...), quoted([]byte(r.ModelRequested))...), ',')
	}
	b = append(append(b, `"messages":[`...), t.kept...)
	b = append(b, ']')
	if t.defs != nil {
		b = append(append(b, `,"tools":`...), t.defs...)
	}
	return append(b, '}')
}
