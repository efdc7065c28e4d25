package bench

import (
	"bytes"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// answer is what recorded chunks of one answer tell together.
type answer struct {
	usage         *decode.Value
	finish, model string
	id            string
}

// chunk reads one recorded chunk: a JSON object, or events of a stream ("data: {...}"). It says whether the chunk held
// tokens: content, reasoning or a tool call that is not empty. known is false when nothing in it could be read.
func (a *answer) chunk(text []byte) (tokens, known bool) {
	for _, line := range bytes.Split(text, []byte("\n")) {
		line = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data:")))
		if string(line) == "[DONE]" {
			known = true
		}
		if len(line) == 0 || line[0] != '{' {
			continue
		}
		v, err := decode.Parse(line)
		if err != nil {
			continue
		}
		known = true
		tokens = a.object(v) || tokens
	}
	return tokens, known
}

func (a *answer) object(v *decode.Value) (tokens bool) {
	if u := v.Get("usage"); u.GetObject() != nil {
		a.usage = u
	}
	if model := decode.Text(v, "model"); model != "" {
		a.model = model
	}
	if id := decode.Text(v, "id"); id != "" {
		a.id = id
	}
	for _, choice := range v.GetArray("choices") {
		if f := decode.Text(choice, "finish_reason"); f != "" {
			a.finish = decode.FinishReason(f)
		}
		d := choice.Get("delta")
		for _, part := range []*decode.Value{choice.Get("text"), d.Get("content"), d.Get("reasoning_content"), d.Get("reasoning")} {
			tokens = tokens || len(part.GetStringBytes()) > 0
		}
		tokens = tokens || len(d.GetArray("tool_calls")) > 0
	}
	return tokens
}

// fill stores what the chunks said; counts of the server win over the tool's own.
func (a *answer) fill(r *trace.Request) {
	r.FinishReason, r.ModelServed, r.ResponseID = a.finish, a.model, a.id
	if in, out := decode.Int(a.usage, "prompt_tokens"), decode.Int(a.usage, "completion_tokens"); in != nil && out != nil {
		r.InputTokens, r.OutputTokens, r.TokensSource = in, out, "usage"
		r.CachedInputTokens = decode.Int(a.usage, "prompt_tokens_details", "cached_tokens")
		r.ReasoningTokens = decode.Int(a.usage, "completion_tokens_details", "reasoning_tokens")
	}
}

// asked fills what the request body says: the model, the limit, whether it asked for a stream.
func asked(r *trace.Request, body *decode.Value) {
	r.ModelRequested = decode.Text(body, "model")
	if r.MaxTokens = decode.Int(body, "max_completion_tokens"); r.MaxTokens == nil {
		r.MaxTokens = decode.Int(body, "max_tokens")
	}
	if s := decode.Bool(body, "stream"); s != nil {
		r.Stream = s
	}
	switch {
	case body.Get("messages") != nil:
		r.EndpointKind = "chat"
	case body.Get("prompt") != nil:
		r.EndpointKind = "completions"
	}
}

// recorded fills the chunk times from stamps. texts, where the tool kept the chunks, has an element a stamp: chunks that
// are known to hold no tokens are left out then. A stamp that is none or goes back drops them all.
func recorded(r *trace.Request, a *answer, start int64, stamps []*int64, texts []*decode.Value) {
	empty, content := make([]bool, len(stamps)), false
	for i, t := range texts {
		tokens, known := a.chunk(chunkText(t))
		if content = content || tokens; i < len(empty) {
			empty[i] = known && !tokens
		}
	}
	kind, offsets, last := trace.TTFTAny, make([]int64, 0, len(stamps)), start
	if content = content && len(texts) == len(stamps); content {
		kind = trace.TTFTContent
	}
	for i, at := range stamps {
		if at == nil || *at < last {
			return
		}
		if last = *at; !content || !empty[i] {
			offsets = append(offsets, *at-start)
		}
	}
	setChunks(r, kind, offsets)
}

// chunkText is the text of a kept chunk, which is a string or an object with it.
func chunkText(v *decode.Value) []byte {
	if v.GetObject() != nil {
		return v.GetStringBytes("response")
	}
	return v.GetStringBytes()
}
