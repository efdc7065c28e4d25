package public

import (
	"fmt"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// Agentic are the agent conversations of MLCommons' endpoints benchmark.
func Agentic() decode.Format {
	return decode.Format{Name: "mlcommons-agentic", Title: "MLCommons agentic conversations (JSON lines)", About: aboutAgentic,
		Units: "delay_seconds: seconds before the next call, not read; no other times", Defects: "none known",
		Example: `{"conversation_id": "django__django-16899", "turn": 2, "role": "assistant", "content": "done"}`, Detect: detectAgentic,
		Group: func() decode.Group { return decode.Group{JSON: new(agent).decode} }}
}

const aboutAgentic = `One JSON object a message: conversation_id, turn, role, content, tool_calls, tool_results, delay_seconds; system and
tools in the first. Each message of the assistant is one request; the others are skipped as prompt_message.
Can contain: instructions, prompts that grow, turns. Cannot: arrivals, latency, lengths in tokens: characters are not
tokens, so input_tokens and output_tokens are unknown. Text is hashed; bodies are not kept: messages alone do not make
one.

arrival        unknown: delay_seconds, the pause before a call, counts from an answer whose time nobody wrote down.
turn           number of the call within its conversation.
prompt         the messages before, without the reasoning. Messages of a conversation must follow each other, with turn
               counting up from 1; behind a gap the shape is unknown until the next conversation.
error_class    ok: there is an answer. request_id is FILE:LINE.
`

func detectAgentic(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		if keyed(v, "conversation_id", "turn", "role") == 3 {
			best = max(best, 3+keyed(v, "delay_seconds", "tool_results", "reasoning_content"))
		}
	}
	return best
}

// agent is the conversation that is being read.
type agent struct {
	id    string
	turn  int64 // of the last message; 0 when the messages before are not all known
	calls int32
	*talk
}

func (a *agent) decode(c *decode.Context, v *decode.Value) error {
	id, role, turn := decode.Text(v, "conversation_id"), decode.Text(v, "role"), decode.Int(v, "turn")
	if id == "" || role == "" || turn == nil || *turn < 1 {
		return c.Reject("bad_message", "expected conversation_id, role and turn, got %q, %q and %q", id, role, decode.Text(v, "turn"))
	}
	switch {
	case *turn == 1:
		*a = agent{id: id, talk: newTalk(c)}
		a.tools(v.Get("tools"))
		if s := v.Get("system"); s != nil {
			a.add("system", s)
		}
	case a.id != id || a.turn == 0 || *turn != a.turn+1:
		*a = agent{id: id}
	}
	if a.talk != nil {
		a.turn = *turn
	}
	if role == "assistant" {
		a.answer(c)
	} else {
		c.Skip("prompt_message")
	}
	if a.talk != nil {
		for _, key := range []string{"content", "tool_calls", "tool_results"} {
			if part := v.Get(key); part != nil {
				a.add(role, part)
			}
		}
	}
	return nil
}

func (a *agent) answer(c *decode.Context) {
	r := traced(c, "mlcommons-agentic")
	r.SessionID, r.ErrorClass, r.EndpointKind = fmt.Sprintf("%s:%s", c.File, a.id), trace.ClassOK, "chat"
	if a.talk != nil {
		a.calls++
		a.fill(r)
		r.Turn = trace.Ptr(a.calls)
	}
	c.Emit(r, nil)
}
