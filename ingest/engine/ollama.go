package engine

import (
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// Ollama is recorded answers of Ollama's own API, one object a line.
func Ollama() decode.Format {
	return decode.Format{Name: "ollama", Title: "Ollama answers (/api/chat, /api/generate)", About: aboutOllama,
		Units:   "durations in ns; created_at of the last object is the END",
		Defects: "before 2024-07 prompt_eval_count left out cached tokens and was missing when all were (ollama#2068, #5370): such a row has too few input tokens or none",
		Example: `{"model":"llama3.2","created_at":"2024-07-22T20:33:28.123648Z","response":"","done":true,"done_reason":"stop","total_duration":5589157167,"load_duration":3013701500,"prompt_eval_count":46,"prompt_eval_duration":1160282000,"eval_count":113,"eval_duration":1325948000}`,
		Detect:  detectOllama, JSON: ollama}
}

const aboutOllama = `One JSON object an answer: the last object of a stream, or the only one. The objects of a stream before it (done:
false) carry no id and are skipped (stream_chunk).
Can contain: end and duration (so the arrival: arrival_derived), prefill and decode time, tokens, model, finish reason.
Cannot: the first token at the client, waiting (total - load - prefill - decode holds it and more), tenants, failures.

prefill_us     prompt_eval_duration; decode_us eval_duration; load_duration has no column.
input_tokens   prompt_eval_count; cached_input_tokens prompt_eval_cached_count (newer versions).
request_id     FILE:LINE.
`

func detectOllama(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		n := decode.One(decode.Has(v, "total_duration")) + decode.One(decode.Has(v, "eval_count")) + decode.One(decode.Has(v, "prompt_eval_duration"))
		if decode.Has(v, "done") && decode.Has(v, "created_at") && n > 0 {
			best = max(best, n+1)
		}
	}
	return best
}

func ollama(c *decode.Context, v *decode.Value) error {
	done := decode.Bool(v, "done")
	switch {
	case done == nil:
		return c.Reject("not_ollama", "expected done: true or false, got %q", decode.Text(v, "done"))
	case !*done:
		c.Skip("stream_chunk")
		return nil
	}
	if reason := decode.Text(v, "done_reason"); reason == "load" || reason == "unload" {
		c.Skip("no_generation")
		return nil
	}
	r := newRow(c, "ollama", "")
	end, naive, err := decode.Time(decode.Text(v, "created_at"), c.Zone)
	if err != nil {
		return c.Reject("bad_time", "created_at: %v", err)
	}
	if naive {
		r.AddQuality(trace.QNaiveTime)
	}
	if took := micros(v.Get("total_duration"), time.Nanosecond); took != nil && *took > 0 {
		endAt(r, end, took)
		r.ErrorClass = trace.ClassOK
	}
	r.ModelServed, r.FinishReason = decode.Text(v, "model"), decode.FinishReason(decode.Text(v, "done_reason"))
	r.PrefillUS, r.DecodeUS = nonzero(r, v.Get("prompt_eval_duration")), nonzero(r, v.Get("eval_duration"))
	r.InputTokens, r.CachedInputTokens = decode.Int(v, "prompt_eval_count"), decode.Int(v, "prompt_eval_cached_count")
	if r.InputTokens != nil && *r.InputTokens == 0 {
		r.InputTokens = nil // a prompt has tokens: not counted
	}
	r.OutputTokens, r.TokensSource = decode.Int(v, "eval_count"), "usage"
	switch {
	case v.Get("message") != nil:
		r.EndpointKind = "chat"
	case v.Get("response") != nil:
		r.EndpointKind = "completions"
	}
	c.Emit(r, nil)
	return nil
}

// nonzero reads nanoseconds; 0 is a stage that was not measured.
func nonzero(r *trace.Request, v *decode.Value) *int64 {
	if d := stage(r, micros(v, time.Nanosecond)); d != nil && *d > 0 {
		return d
	}
	return nil
}
