package engine

import (
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// LlamaCPP is recorded answers of llama.cpp's server with their timings object.
func LlamaCPP() decode.Format {
	return decode.Format{Name: "llamacpp", Title: "llama.cpp answers with timings", About: aboutLlamaCPP,
		Units:   "durations in ms; created is whole unix seconds at the END",
		Defects: "prompt_n leaves out cached tokens; builds before late 2025 have no cache_n, and without usage the input is unknown there. Proxies drop timings from streams",
		Example: `{"id":"chatcmpl-1","object":"chat.completion","created":1795961900,"model":"m","choices":[{"finish_reason":"stop","index":0}],"usage":{"prompt_tokens":107,"completion_tokens":27},"timings":{"cache_n":0,"prompt_n":107,"prompt_ms":35.8,"predicted_n":27,"predicted_ms":22.61}}`,
		Detect:  detectLlamaCPP, JSON: llamaCPP}
}

const aboutLlamaCPP = `One JSON object an answer (OpenAI's shape or /completion's own), with llama.cpp's timings. Objects of a stream without
timings are skipped (stream_chunk).
Can contain: prefill and decode time, tokens, cached tokens, model, finish reason, a start to a second. Cannot: the wait
for a slot (queue_unseen), so no end_us and no first_us: without the wait they would look better than any caller saw;
failures, tenants.

prefill_us     prompt_ms; decode_us predicted_ms.
arrival        created less the two (arrival_derived); /completion's own shape has no stamp: unknown.
input_tokens   usage.prompt_tokens, else cache_n + prompt_n, else unknown.
`

func detectLlamaCPP(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		t := v.Get("timings")
		n := decode.One(decode.Has(t, "prompt_ms") && decode.Has(t, "predicted_ms")) + decode.One(decode.Has(v, "choices") || decode.Has(v, "content")) + decode.One(decode.Has(v, "object") || decode.Has(v, "stop_type"))
		if decode.Has(t, "predicted_n") {
			best = max(best, n)
		}
	}
	return best
}

func llamaCPP(c *decode.Context, v *decode.Value) error {
	t := v.GetObject("timings")
	if t == nil {
		if v.Get("object") == nil && v.Get("content") == nil {
			return c.Reject("no_timings", "expected an object with timings, got none")
		}
		c.Skip("stream_chunk")
		return nil
	}
	r := newRow(c, "llamacpp", decode.Text(v, "id"))
	r.ResponseID, r.ModelServed = decode.Text(v, "id"), decode.Text(v, "model")
	r.PrefillUS, r.DecodeUS = stage(r, micros(t.Get("prompt_ms"), time.Millisecond)), stage(r, micros(t.Get("predicted_ms"), time.Millisecond))
	r.AddQuality(trace.QQueueUnseen)
	if r.PrefillUS != nil && r.DecodeUS != nil {
		r.ErrorClass = trace.ClassOK
		if created := micros(v.Get("created"), time.Second); created != nil && *created > 0 {
			r.TimePrecision, r.Arrival = 1e6, trace.Ptr(*created-*r.PrefillUS-*r.DecodeUS)
			r.AddQuality(trace.QArrivalDerived)
		}
	}
	llamaTokens(r, v, t)
	llamaKind(r, v)
	c.Emit(r, nil)
	return nil
}

func llamaTokens(r *trace.Request, v, t *decode.Value) {
	r.TokensSource, r.OutputTokens = "usage", decode.Int(t, "predicted_n")
	prompt, cached := decode.Int(t, "prompt_n"), decode.Int(t, "cache_n")
	if r.InputTokens = decode.Int(v, "usage", "prompt_tokens"); r.InputTokens == nil && prompt != nil && cached != nil && *prompt >= 0 && *cached >= 0 {
		r.InputTokens = trace.Ptr(min(*prompt, 1<<62) + min(*cached, 1<<62-1))
		r.AddQuality(trace.QCachedExclusive)
	}
	if r.CachedInputTokens = cached; cached == nil && r.InputTokens != nil && prompt != nil && *prompt >= 0 && *prompt <= *r.InputTokens {
		r.CachedInputTokens = trace.Ptr(*r.InputTokens - *prompt)
	}
}

// llamaKind reads the shape: chat, completions, or /completion's own.
func llamaKind(r *trace.Request, v *decode.Value) {
	switch object := decode.Text(v, "object"); object {
	case "chat.completion", "chat.completion.chunk":
		r.EndpointKind, r.Stream = "chat", trace.Ptr(object == "chat.completion.chunk")
	case "text_completion":
		r.EndpointKind = "completions"
	}
	for _, choice := range v.GetArray("choices") {
		r.FinishReason = decode.FinishReason(decode.Text(choice, "finish_reason"))
	}
	if v.Get("content") != nil {
		r.EndpointKind = "completions"
		switch decode.Text(v, "stop_type") {
		case "eos", "word":
			r.FinishReason = "stop"
		case "limit":
			r.FinishReason = "length"
		}
	}
}
