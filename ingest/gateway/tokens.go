package gateway

import (
	"cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// usage fills the token counts from the first of the objects that has any. asked: the caller wanted the usage of the
// stream, so the counts are the server's own.
func usage(r *trace.Request, ok bool, asked bool, objects ...*decode.Value) {
	for _, o := range objects {
		u := readTokens(o)
		if !u.counts(r, ok) {
			continue
		}
		r.TokensSource = "usage"
		if r.Stream != nil && *r.Stream && !asked && !u.detailed() {
			r.TokensSource, r.ReasoningTokens = "estimated", nil // it cannot see reasoning either
		}
		return
	}
}

// tokens are the members of a usage object, in OpenAI's two spellings or Anthropic's.
type tokens struct {
	prompt, input, completion, output                     *decode.Value
	promptParts, inputParts, completionParts, outputParts *decode.Value
	cacheRead, cacheWrite                                 *decode.Value
}

var tokenKeys = decode.NewKeys("prompt_tokens", "input_tokens", "completion_tokens", "output_tokens",
	"prompt_tokens_details", "input_tokens_details", "completion_tokens_details", "output_tokens_details",
	"cache_read_input_tokens", "cache_creation_input_tokens")

func readTokens(v *decode.Value) (u tokens) {
	v.Members(tokenKeys, &u.prompt, &u.input, &u.completion, &u.output,
		&u.promptParts, &u.inputParts, &u.completionParts, &u.outputParts, &u.cacheRead, &u.cacheWrite)
	return u
}

// counts fills the counts; false when there are none. Zeros are counts only where they can be: no call has an empty
// prompt, and failures hold zeros for "unknown".
func (u *tokens) counts(r *trace.Request, ok bool) bool {
	in, out := firstInt(u.prompt, u.input), firstInt(u.completion, u.output)
	if in != nil && *in == 0 {
		in = nil
	}
	if out != nil && *out == 0 && (in == nil || !ok) {
		out = nil
	}
	if in == nil && out == nil {
		return false
	}
	prompt, completion := cmp.Or(u.promptParts, u.inputParts), cmp.Or(u.completionParts, u.outputParts)
	r.InputTokens, r.OutputTokens = in, out
	r.CachedInputTokens = firstInt(prompt.Get("cached_tokens"), u.cacheRead)
	r.CacheWriteTokens = firstInt(prompt.Get("cache_write_tokens"), prompt.Get("cache_creation_tokens"), u.cacheWrite)
	r.ReasoningTokens = decode.Int(completion, "reasoning_tokens")
	if in != nil && u.prompt == nil && u.cacheRead != nil { // Anthropic's own: exclusive
		r.InputTokens = trace.Ptr(*in + value(r.CachedInputTokens) + value(r.CacheWriteTokens))
		r.AddQuality(trace.QCachedExclusive)
	}
	return true
}

// detailed says that the object came from a server: LiteLLM's own count knows nothing of the prompt's parts (it does
// fill completion_tokens_details, with zeros).
func (u *tokens) detailed() bool {
	return u.promptParts.GetObject() != nil || u.inputParts.GetObject() != nil || decode.Int(u.cacheRead) != nil
}

// firstInt is the first integer.
func firstInt(values ...*decode.Value) *int64 {
	for _, v := range values {
		if n := decode.Int(v); n != nil {
			return n
		}
	}
	return nil
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// finish gives the finish reason. LiteLLM 1.79 says "stop" of every stream that asked for usage (489 of 554 of such
// streams had really run into their limit), so that word means nothing there.
func finish(r *trace.Request, response *decode.Value, asked *params) string {
	f := finishOf(response)
	if f == "stop" && r.Stream != nil && *r.Stream && asked.usage() {
		return ""
	}
	return f
}

// finishOf reads the finish reason of a chat, messages or responses answer.
func finishOf(response *decode.Value) string {
	s := decode.Text(response, "choices", "0", "finish_reason")
	if s == "" {
		s = firstText(response.Get("stop_reason"), response.Get("incomplete_details", "reason"))
	}
	if s == "" && decode.Text(response, "object") == "response" && decode.Text(response, "status") == "completed" {
		return "stop"
	}
	return decode.FinishReason(s)
}
