package public

import (
	"fmt"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// Conversations are data sets of recorded conversations: ShareGPT, LMSYS-Chat-1M, WildChat.
func Conversations() decode.Format {
	return decode.Format{Name: "conversations", Title: "recorded conversations: ShareGPT, LMSYS-Chat, WildChat (JSON)", About: aboutConversations,
		Units: "no times", Defects: "some ShareGPT conversations begin with an answer",
		Example: `{"id": "QWJhYvA_0", "conversations": [{"from": "human", "value": "Why?"}, {"from": "gpt", "value": "Because."}]}`,
		Detect:  detectConversations, JSON: conversation}
}

const aboutConversations = `One JSON object a conversation, in lines or in a list: conversations[] of {from, value} (ShareGPT), or conversation[] of
{role, content} with conversation_id and model (LMSYS-Chat-1M, WildChat). Each answer is one request.
Can contain: how prompts share their beginning, turns, models. Cannot: arrivals, latency, lengths in tokens: characters
are not tokens, so input_tokens and output_tokens are unknown. Text is hashed; --keep-bodies keeps it.

arrival        unknown. Without lengths there is nothing to plan.
session_id     the conversation's id, else FILE:LINE; turn counts the messages of the user.
request_id     FILE:LINE:N for the N-th message. error_class is ok: there is an answer.
Answers without a message before them (some ShareGPT conversations begin with one) are skipped as no_prompt, conversations
without an answer as no_answer.
`

func detectConversations(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		n := 0
		switch {
		case v.Get("conversations", "0", "value") != nil && v.Get("conversations", "0", "from") != nil:
			n = 3
		case v.Get("conversation", "0", "role") != nil && v.Get("conversation", "0", "content") != nil:
			n = 2
			if decode.Has(v, "conversation_id") || decode.Has(v, "conversation_hash") {
				n++
			}
		}
		best = max(best, n)
	}
	return best
}

func conversation(c *decode.Context, v *decode.Value) error {
	list, keys := v.GetArray("conversations"), [2]string{"from", "value"}
	if list == nil {
		list, keys = v.GetArray("conversation"), [2]string{"role", "content"}
	}
	if list == nil {
		return c.Reject("no_messages", "expected conversations or conversation, got an object with neither")
	}
	t, answers := newTalk(c), 0
	for i, m := range list {
		role := speaker(decode.Text(m, keys[0]))
		if role == "assistant" {
			answers++
			if t.count == 0 {
				c.Skip("no_prompt")
			} else {
				answered(c, v, t, i+1)
			}
		}
		t.add(role, m.Get(keys[1]))
	}
	if answers == 0 {
		c.Skip("no_answer")
	}
	return nil
}

// answered emits the request that the n-th message answers.
func answered(c *decode.Context, v *decode.Value, t *talk, n int) {
	r := traced(c, "conversations")
	r.SessionID, r.ModelRequested = decode.Text(v, "conversation_id"), decode.Text(v, "model")
	for _, id := range []string{decode.Text(v, "conversation_hash"), decode.Text(v, "id"), r.RequestID} {
		if r.SessionID == "" {
			r.SessionID = id
		}
	}
	r.RequestID = fmt.Sprintf("%s:%d", r.RequestID, n)
	r.RootRequestID, r.ErrorClass, r.EndpointKind = r.RequestID, trace.ClassOK, "chat"
	t.fill(r)
	c.Emit(r, t.body(r))
}

// speaker gives the roles of ShareGPT their usual names.
func speaker(from string) string {
	switch from {
	case "human":
		return "user"
	case "gpt", "chatgpt", "bing", "bard", "model":
		return "assistant"
	}
	return from
}
