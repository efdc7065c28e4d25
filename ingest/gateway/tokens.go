package gateway

import (
	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// usage fills the token counts from the first of the objects that has any. asked: the caller wanted the usage of the
// stream, so the counts are the server's own.
func usage(r *trace.Request, ok bool, asked bool, objects ...*decode.Value) {
	for _, u := range objects {
		if !counts(r, u, ok) {
			continue
		}
		r.TokensSource = "usage"
		if r.Stream != nil && *r.Stream && !asked && !detailed(u) {
			r.TokensSource, r.ReasoningTokens = "estimated", nil // it cannot see reasoning either
		}
		return
	}
}

// counts reads one usage object in OpenAI's two spellings or Anthropic's; false when it holds no counts. Zeros are
// counts only where they can be: no call has an empty prompt, and failures hold zeros for "unknown".
func counts(r *trace.Request, u *decode.Value, ok bool) bool {
	in, out := either(u, "prompt_tokens", "input_tokens"), either(u, "completion_tokens", "output_tokens")
	if in != nil && *in == 0 {
		in = nil
	}
	if out != nil && *out == 0 && (in == nil || !ok) {
		out = nil
	}
	if in == nil && out == nil {
		return false
	}
	prompt, completion := u.Get("prompt_tokens_details"), u.Get("completion_tokens_details")
	if prompt == nil {
		prompt = u.Get("input_tokens_details")
	}
	if completion == nil {
		completion = u.Get("output_tokens_details")
	}
	r.InputTokens, r.OutputTokens = in, out
	r.CachedInputTokens = orElse(decode.Int(prompt, "cached_tokens"), u, "cache_read_input_tokens")
	r.CacheWriteTokens = orElse(either(prompt, "cache_write_tokens", "cache_creation_tokens"), u, "cache_creation_input_tokens")
	r.ReasoningTokens = decode.Int(completion, "reasoning_tokens")
	if in != nil && !decode.Has(u, "prompt_tokens") && decode.Has(u, "cache_read_input_tokens") { // Anthropic's own: exclusive
		r.InputTokens = trace.Ptr(*in + value(r.CachedInputTokens) + value(r.CacheWriteTokens))
		r.AddQuality(trace.QCachedExclusive)
	}
	return true
}

// detailed says that the object came from a server: LiteLLM's own count knows nothing of the prompt's parts (it does
// fill completion_tokens_details, with zeros).
func detailed(u *decode.Value) bool {
	return u.Get("prompt_tokens_details").GetObject() != nil || u.Get("input_tokens_details").GetObject() != nil ||
		decode.Int(u, "cache_read_input_tokens") != nil
}

func either(v *decode.Value, name, other string) *int64 { return orElse(decode.Int(v, name), v, other) }

func orElse(n *int64, v *decode.Value, key string) *int64 {
	if n != nil {
		return n
	}
	return decode.Int(v, key)
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func maxTokens(params *decode.Value) *int64 {
	return orElse(either(params, "max_tokens", "max_completion_tokens"), params, "max_output_tokens")
}

// asked says that the caller wanted the usage of the stream.
func asked(params *decode.Value) bool {
	b := decode.Bool(params, "stream_options", "include_usage")
	return b != nil && *b
}

// finish gives the finish reason. LiteLLM 1.79 says "stop" of every stream that asked for usage (489 of 554 of such
// streams had really run into their limit), so that word means nothing there.
func finish(r *trace.Request, response, params *decode.Value) string {
	f := finishOf(response)
	if f == "stop" && r.Stream != nil && *r.Stream && asked(params) {
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
