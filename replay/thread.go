package replay

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"reprise/replay/wire"
)

// past is what was said in a session before a call: with recorded bodies the answers of the target by the place of the
// message they stand in for, with synthetic prompts the whole talk.
type past struct {
	live []liveAnswer
	said []said // without the system prompt
	text []byte // the same as plain words
	size int    // words of a prompt with all of that, the system prompt, too
}

type liveAnswer struct {
	at   int // index in the recorded messages
	text string
}

// thread gives what item i has to hold when it follows p and the target answered out; nil when answers are not threaded. An
// answer without text, a recorded history that was rewritten, and a recorded tool call (whose result the next messages hold)
// leave what was recorded.
func (r *run) thread(p *prepared, i int, out *wire.Outcome) *past {
	if !r.opt.ThreadAnswers {
		return nil
	}
	it, next := &r.plan.Items[p.index], &r.plan.Items[i]
	then, ok := &past{}, false
	switch {
	case out.Class != wire.ClassOK || out.Text == "":
		if it.Body != nil && p.past != nil {
			then.live = p.past.live
		}
	case it.Body != nil && next.Body != nil:
		var at int
		if at, ok = answerAt(it, next); ok {
			then.live = append(slices.Clone(p.past.live), liveAnswer{at, out.Text})
		}
	case it.Body == nil && next.Body == nil && talks(it.Endpoint) && it.Endpoint == next.Endpoint:
		then.said = append(slices.Clone(p.past.said), said{"assistant", quoted(out.Text)})
		then.text = append(append(slices.Clip(p.past.text), ' '), out.Text...)
		then.size = p.past.size + r.bodies.wordsOf(out)
		return then // prepare sees whether the next prompt is longer than that
	}
	r.tally.threads(ok)
	return then
}

// wordsOf is the length of an answer in words of a prompt.
func (m *bodyMaker) wordsOf(out *wire.Outcome) int {
	if out.Usage.Output == nil {
		return len(strings.Fields(out.Text))
	}
	return int(math.Round(float64(*out.Usage.Output) / m.cal.TokensPerWord))
}

// message is what threading looks at of a recorded one.
type message struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls json.RawMessage `json:"tool_calls"`
}

// messagesOf are the messages of a recorded body, and the member they are in; nil when there is no such list.
func messagesOf(body []byte) (list []message, key string) {
	var b struct{ Messages, Input json.RawMessage }
	if json.Unmarshal(body, &b) != nil {
		return nil, ""
	}
	raw, key := b.Messages, "messages"
	if raw == nil {
		raw, key = b.Input, "input"
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil, ""
	}
	return list, key
}

// answerAt finds the place in the messages of next where the answer to it stands: behind all that it asked, which must still be
// there.
func answerAt(it, next *Item) (int, bool) {
	asked, _ := messagesOf(it.Body)
	now, _ := messagesOf(next.Body)
	n := len(asked)
	if n == 0 || len(now) <= n || !slices.EqualFunc(asked, now[:n], message.says) {
		return 0, false
	}
	_, plain := now[n].text()
	return n, plain && now[n].Role == "assistant" && len(now[n].ToolCalls) <= len("null")
}

// says compares roles and texts; marks of a client's cache may move from one turn to the next.
func (m message) says(other message) bool {
	a, _ := m.text()
	b, _ := other.text()
	return m.Role == other.Role && a == b && bytes.Equal(m.ToolCalls, other.ToolCalls)
}

// text is the text of a message, and whether there is nothing else in it.
func (m message) text() (all string, plain bool) {
	if json.Unmarshal(m.Content, &all) == nil {
		return all, true
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(m.Content, &parts) != nil {
		return string(m.Content), false
	}
	plain = true
	for _, p := range parts {
		plain = plain && strings.HasSuffix(p.Type, "text")
		all += p.Type + "\x00" + p.Text + "\x00"
	}
	return all, plain
}

// relive puts the target's answers into recorded messages.
func (f fields) relive(live []liveAnswer) {
	for i := range f {
		var list []json.RawMessage
		if len(live) == 0 || f[i].key != "messages" && f[i].key != "input" || json.Unmarshal(f[i].value, &list) != nil {
			continue
		}
		for _, a := range live {
			if a.at < len(list) {
				one := talk(said{"assistant", quoted(a.text)})
				list[a.at] = one[1 : len(one)-1]
			}
		}
		f[i].value = append(append([]byte{'['}, bytes.Join(raw(list), []byte(","))...), ']')
	}
}

func raw(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}

// goOn is the talk that a synthetic prompt is, with its user's words in the last turn. Where it follows a talk so far, that comes
// first, and of the words that the prompt would have alone those behind that many are what the user says now. A prompt that
// is not longer than the talk so far stands alone: the client had cut the history.
func (p prompt) goOn(before *past) *past {
	alone := &past{said: []said{{"user", quotedWords(p.user)}}, text: p.user, size: p.size()}
	if before == nil || len(before.said) == 0 {
		return alone
	}
	rest := before.size
	if len(p.system) > 0 {
		rest -= bytes.Count(p.system, []byte(" ")) + 1
	}
	user := p.user
	for ; rest > 0; rest-- {
		_, behind, more := bytes.Cut(user, []byte(" "))
		if !more {
			return alone
		}
		user = behind
	}
	all := append(append(append([]byte(nil), before.text...), ' '), user...)
	return &past{said: append(slices.Clone(before.said), said{"user", quotedWords(user)}), text: all, size: alone.size}
}

// size is the number of words of a prompt.
func (p prompt) size() (n int) {
	for _, part := range [][]byte{p.system, p.user} {
		if len(part) > 0 {
			n += bytes.Count(part, []byte(" ")) + 1
		}
	}
	return n
}
