package engine

import (
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// VLLMMetrics is a dump of vLLM's RequestMetrics, alone or inside a RequestOutput.
func VLLMMetrics() decode.Format {
	return decode.Format{Name: "vllm-metrics", Title: "vLLM RequestMetrics dump", About: aboutVLLMMetrics,
		Units:   "epoch seconds (V0: every stamp; V1: arrival_time alone, the *_ts are a steady clock)",
		Defects: "last_token_time stays at arrival_time in some versions: dropped when it is before the first token. time_in_queue is read only without the stamps",
		Example: `{"request_id":"a","metrics":{"arrival_time":1714194067.9569736,"last_token_time":1714194070.7,"first_scheduled_time":1714194067.95995,"first_token_time":1714194068.014371,"time_in_queue":0.0029764,"finished_time":1714194070.7369564}}`,
		Detect:  detectVLLMMetrics, JSON: vllmMetrics}
}

const aboutVLLMMetrics = `One JSON object a request: the metrics at the top or in "metrics"; request_id, prompt_token_ids, num_cached_tokens and
outputs beside them are used where the whole RequestOutput was dumped. Who writes such a file is the user's own script.
Can contain: arrival, first and last token, end, waiting, prefill, decode. Cannot: models, tenants, failures.

queue_us       first_scheduled_time - arrival_time (V0); scheduled_ts - queued_ts (V1).
prefill_us     first token - scheduled; decode_us last token - first token.
first_us       first_token_time - arrival_time (V0); first_token_latency (V1). An arrival_time that is no epoch (before
               1990) is a steady clock: clock_domain relative.
`

func detectVLLMMetrics(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		m := vllmObject(v)
		v0 := decode.One(decode.Has(m, "first_scheduled_time")) + decode.One(decode.Has(m, "time_in_queue")) + decode.One(decode.Has(m, "last_token_time"))
		v1 := decode.One(decode.Has(m, "queued_ts")) + decode.One(decode.Has(m, "scheduled_ts")) + decode.One(decode.Has(m, "first_token_ts"))
		if decode.Has(m, "arrival_time") {
			best = max(best, v0, v1)
		}
	}
	return best
}

func vllmObject(v *decode.Value) *decode.Value {
	if m := v.GetObject("metrics"); m != nil {
		return m
	}
	return v
}

// firstEpoch: an arrival before 1990 is seconds of a steady clock.
const firstEpoch = 631152000 * int64(1e6)

func vllmMetrics(c *decode.Context, v *decode.Value) error {
	m := vllmObject(v)
	at := func(name string) *int64 { return micros(m.Get(name), time.Second) }
	arrival := at("arrival_time")
	if arrival == nil {
		return c.Reject("no_time", "expected arrival_time in seconds, got %q", decode.Text(m, "arrival_time"))
	}
	r := newRow(c, "vllm-metrics", decode.Text(v, "request_id"))
	r.ResponseID, r.EndpointKind, r.Arrival = decode.AnswerID(decode.Text(v, "request_id")), decode.AnswerKind(decode.Text(v, "request_id")), arrival
	if *arrival < firstEpoch {
		r.ClockDomain = trace.Relative
	}
	if decode.Has(m, "first_token_ts") {
		r.QueueUS, r.PrefillUS = stage(r, between(at("queued_ts"), at("scheduled_ts"))), stage(r, between(at("scheduled_ts"), at("first_token_ts")))
		r.DecodeUS, r.FirstUS = stage(r, between(at("first_token_ts"), at("last_token_ts"))), at("first_token_latency")
	} else {
		scheduled, first, last := at("first_scheduled_time"), at("first_token_time"), at("last_token_time")
		if r.QueueUS = stage(r, between(arrival, scheduled)); scheduled == nil {
			r.QueueUS = stage(r, at("time_in_queue"))
		}
		if last != nil && first != nil && *last < *first {
			last = nil
		}
		r.PrefillUS, r.DecodeUS = stage(r, between(scheduled, first)), between(first, last)
		r.FirstUS, r.LastUS, r.EndUS = between(arrival, first), between(arrival, last), between(arrival, at("finished_time"))
	}
	if r.FirstUS != nil {
		r.TTFTKind = trace.TTFTEngine
	}
	vllmOutput(r, v, m)
	c.Emit(r, nil)
	return nil
}

// vllmOutput reads what stands beside the metrics in a RequestOutput.
func vllmOutput(r *trace.Request, v, m *decode.Value) {
	if ids := v.GetArray("prompt_token_ids"); len(ids) > 0 {
		r.InputTokens, r.TokensSource = trace.Ptr(int64(len(ids))), "usage"
	}
	if r.CachedInputTokens = decode.Int(v, "num_cached_tokens"); r.InputTokens == nil {
		r.CachedInputTokens = nil
	}
	if n := decode.Int(m, "num_generation_tokens"); n != nil && *n > 0 {
		r.OutputTokens, r.TokensSource = n, "usage"
	}
	for _, o := range v.GetArray("outputs") {
		if ids := o.GetArray("token_ids"); ids != nil {
			r.TokensSource = "usage"
			if n := int64(len(ids)); r.OutputTokens == nil {
				r.OutputTokens = &n
			} else if !decode.Has(m, "num_generation_tokens") {
				*r.OutputTokens += n
			}
		}
		r.FinishReason = decode.FinishReason(decode.Text(o, "finish_reason"))
	}
	if finished := decode.Bool(v, "finished"); r.EndUS != nil || finished != nil && *finished {
		r.ErrorClass = trace.ClassOK
	}
	if r.FinishReason == "abort" {
		r.ErrorClass = trace.ClassCancel
	}
}
