package otel

import (
	"bytes"
	"strconv"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// prompt fills the shape of the prompt (hashes, lengths, turn) and returns the request body when bodies are kept. No
// shape is given when there is no text to trust: none was recorded, it was redacted, or a limit cut it (ING-28).
func (b *build) prompt() []byte {
	switch b.r.EndpointKind {
	case "embeddings", "rerank", "other":
		return nil
	}
	s := shaper{m: b.m, hash: b.c.Hash, prompt: b.c.Prompt(), keep: b.c.KeepBodies, buf: b.m.prompt}
	s.read(b.s)
	b.m.prompt = s.buf
	r := b.r
	if s.cut {
		r.AddQuality(trace.QModelTextCut)
	}
	if s.cut || s.redacted || s.count == 0 {
		return nil
	}
	if s.users > 0 {
		r.Turn = trace.Ptr(s.users)
	}
	r.SystemPromptHash, r.PrefixHashIDs = s.prompt.SystemHash(), s.prompt.Blocks()
	if !s.media {
		r.SystemPromptTokens = s.prompt.SystemTokens(r.InputTokens)
	}
	if value0(r.SystemPromptTokens) > 0 {
		r.AddQuality(trace.QSystemEstimated)
	}
	return s.body(r)
}

// shaper feeds messages to the hashes: role and text, in order, exactly as the decoder of LiteLLM's log does, so that
// one call has one hash in both.
type shaper struct {
	m             *memory
	hash          *decode.Hasher
	prompt        *decode.Prompt
	buf, last     []byte // room for a text; that of the last message
	count, users  int32
	cut, redacted bool
	media         bool // something that is not text has tokens too
	calls         bool // tool calls or results: text alone does not rebuild the body
	keep          bool
	kept          []byte // messages as JSON, for the body
}

// add takes one message.
func (s *shaper) add(role string, text []byte) {
	s.last = text
	s.redacted = s.redacted || bytes.Equal(text, []byte("__REDACTED__")) || bytes.HasPrefix(text, []byte("redacted-by-litellm")) ||
		bytes.HasPrefix(text, []byte("redacted by litellm"))
	s.cut = s.cut || decode.LiteLLMCut(text)
	s.prompt.Add(role, text)
	if role == "tools" {
		s.calls = true
		return
	}
	s.count++
	if role == "user" || role == "human" {
		s.users++
	}
	if s.keep {
		s.kept = append(comma(s.kept, len(s.kept)), `{"role":`...)
		s.kept = append(appendQuoted(s.kept, []byte(role)), `,"content":`...)
		s.kept = append(appendQuoted(s.kept, text), '}')
	}
}

// body rebuilds the request where text is all there is to it.
func (s *shaper) body(r *trace.Request) []byte {
	if !s.keep || s.media || s.calls || r.EndpointKind == "completions" && s.count > 1 {
		return nil
	}
	b := appendQuoted([]byte(`{"model":`), []byte(firstOf(r.ModelRequested, r.ModelServed)))
	switch r.EndpointKind {
	case "completions":
		b = appendQuoted(append(b, `,"prompt":`...), s.last) // the one message
	case "responses":
		b = append(append(append(b, `,"input":[`...), s.kept...), ']')
	default:
		b = append(append(append(b, `,"messages":[`...), s.kept...), ']')
	}
	if r.MaxTokens != nil {
		b = strconv.AppendInt(append(b, `,"max_tokens":`...), *r.MaxTokens, 10)
	}
	if r.Stream != nil {
		b = strconv.AppendBool(append(b, `,"stream":`...), *r.Stream)
	}
	return append(b, '}')
}
