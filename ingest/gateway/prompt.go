package gateway

import (
	"bytes"
	"encoding/json"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// prompt fills the shape of the prompt and returns the body when bodies are kept.
func (p *payload) prompt(c *decode.Context, r *trace.Request) []byte {
	switch r.EndpointKind {
	case "embeddings", "rerank", "other":
		return nil
	}
	messages := decode.Nested(p.messages)
	if messages == nil {
		messages = p.messages // a bare prompt
	}
	if !shape(c, r, messages, &p.params) || !c.KeepBodies {
		return nil
	}
	return body(r, messages, p.params.Value)
}

// shape hashes the prompt: tools, instructions, then messages in order. False when there is no text to trust: none
// was logged, it was redacted, or LiteLLM cut it.
func shape(c *decode.Context, r *trace.Request, messages *decode.Value, asked *params) bool {
	s := shaper{hash: c.Hash, prompt: c.Prompt()}
	if len(asked.tools.GetArray()) > 0 {
		s.prompt.Add("tools", asked.tools.MarshalTo(nil))
	}
	for _, v := range [...]*decode.Value{asked.system, asked.instructions} {
		if v != nil {
			s.add("system", v, nil)
		}
	}
	s.messages(messages)
	if s.cut {
		r.AddQuality(trace.QModelTextCut)
	}
	if s.cut || s.redacted || s.count == 0 {
		return false
	}
	if s.users > 0 {
		r.Turn = trace.Ptr(s.users)
	}
	r.SystemPromptHash = s.prompt.SystemHash()
	r.PrefixHashIDs = s.prompt.Blocks()
	if !s.media {
		r.SystemPromptTokens = s.prompt.SystemTokens(r.InputTokens)
	}
	if value(r.SystemPromptTokens) > 0 {
		r.AddQuality(trace.QSystemEstimated)
	}
	return true
}

type shaper struct {
	hash                 *decode.Hasher
	prompt               *decode.Prompt
	buf                  []byte
	count, users         int32
	cut, redacted, media bool
}

// messages takes a list of {role, content} or a bare prompt.
func (s *shaper) messages(v *decode.Value) {
	list := v.GetArray()
	if list == nil && v.GetStringBytes() != nil {
		s.count++
		s.users++
		s.add("user", v, nil)
	}
	for _, m := range list {
		s.message(m)
	}
}

func (s *shaper) message(m *decode.Value) {
	s.count++
	role, content := roleOf(m.GetStringBytes("role")), m.Get("content")
	switch {
	case role != "":
		s.add(role, content, m.Get("tool_calls"))
	case m.GetStringBytes() != nil: // a list of bare prompts
		role = "user"
		s.add(role, m, nil)
	default: // an item of the Responses API, such as a tool's output
		s.end("", m.MarshalTo(nil))
	}
	if role == "user" && !toolResult(content) {
		s.users++
	}
}

// roleOf is string(role), without an allocation for the usual ones.
func roleOf(role []byte) string {
	for _, usual := range [...]string{"user", "assistant", "system", "tool", "developer"} {
		if string(role) == usual {
			return usual
		}
	}
	return string(role)
}

// toolResult says that a user message is no turn of the user: Anthropic sends the results of tools that way.
func toolResult(content *decode.Value) bool {
	for _, part := range content.GetArray() {
		if string(part.GetStringBytes("type")) != "tool_result" {
			return false
		}
	}
	return len(content.GetArray()) > 0
}

// add appends one message: its text parts joined, then its tool calls.
func (s *shaper) add(role string, content, calls *decode.Value) {
	instruction := calls == nil && content.Type() == decode.TypeString && (role == "system" || role == "developer")
	if instruction && s.prompt.Begins(role, content.Raw()) {
		return
	}
	s.parts(role, content, calls)
	if instruction && !s.cut && !s.redacted {
		s.prompt.Remember(content.Raw())
	}
}

func (s *shaper) parts(role string, content, calls *decode.Value) {
	text, parts, tools := content.GetStringBytes(), content.GetArray(), calls.GetArray()
	if len(parts)+len(tools) > 0 {
		s.buf = append(s.buf[:0], text...)
		for _, part := range parts {
			s.part(part)
		}
		if len(tools) > 0 {
			s.buf = calls.MarshalTo(s.buf)
		}
		text = s.buf
	}
	s.end(role, text)
}

func (s *shaper) end(role string, text []byte) {
	s.cut = s.cut || decode.LiteLLMCut(text)
	s.redacted = s.redacted || isRedacted(text)
	s.prompt.Add(role, text)
}

// part appends the text of a part; a part without (a tool call, a tool's result) as it is written. Pictures and sound
// enter as a short hash, so that two prompts with different ones do not count as equal.
func (s *shaper) part(part *decode.Value) {
	switch kind := part.GetStringBytes("type"); string(kind) {
	case "image", "image_url", "input_image", "audio", "input_audio", "video_url", "file", "input_file", "document":
		s.media = true
		s.buf = append(s.buf, s.hash.Text("part", string(part.MarshalTo(nil)))...)
		return
	}
	if text := part.Get("text"); text != nil {
		s.buf = append(s.buf, text.GetStringBytes()...)
		return
	}
	s.buf = part.MarshalTo(s.buf)
}

// isRedacted knows the two marks LiteLLM leaves where message logging is turned off.
func isRedacted(text []byte) bool {
	return bytes.HasPrefix(text, []byte("redacted-by-litellm")) || bytes.HasPrefix(text, []byte("redacted by litellm"))
}

// kept are the parameters that shape an answer: all that a kept body may hold. Users, headers and keys are not in it.
var kept = []string{"stream", "stream_options", "max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "top_p", "top_k",
	"min_p", "n", "stop", "seed", "presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias", "logprobs", "top_logprobs",
	"response_format", "tools", "tool_choice", "parallel_tool_calls", "reasoning_effort", "thinking", "system", "instructions"}

// body rebuilds the request body: model, prompt and the parameters in kept, in that order.
func body(r *trace.Request, messages, params *decode.Value) []byte {
	model, err := json.Marshal(r.ModelRequested)
	if err != nil { // strings always marshal
		return nil
	}
	b := append([]byte(`{"model":`), model...)
	b = messages.MarshalTo(append(append(append(b, `,"`...), promptKey(r.EndpointKind)...), `":`...))
	for _, key := range kept {
		if v := params.Get(key); v != nil {
			b = v.MarshalTo(append(append(append(b, `,"`...), key...), `":`...))
		}
	}
	return append(b, '}')
}

func promptKey(kind string) string {
	switch kind {
	case "responses":
		return "input"
	case "completions":
		return "prompt"
	}
	return "messages"
}
