package engine

import (
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// TensorRTLLM is what TensorRT-LLM's server gives at /perf_metrics.
func TensorRTLLM() decode.Format {
	return decode.Format{Name: "trtllm", Title: "TensorRT-LLM /perf_metrics", About: aboutTensorRTLLM,
		Units:   "seconds of a steady clock plus a per-server offset (relative)",
		Defects: "stamps that were never set are 0; the ring holds perf_metrics_max_requests and forgets the oldest unseen",
		Example: `[{"request_id":7,"perf_metrics":{"first_iter":10,"last_iter":40,"timing_metrics":{"server_arrival_time":100.0,"arrival_time":100.01,"first_scheduled_time":100.05,"first_token_time":100.2,"server_first_token_time":100.21,"last_token_time":101.2},"kv_cache_metrics":{"num_reused_blocks":3}}}]`,
		Detect:  detectTensorRTLLM, JSON: tensorRTLLM}
}

const aboutTensorRTLLM = `A JSON array or lines, an object a request; of a disaggregated deployment the orchestrator's object holds both halves.
Can contain: arrival, waiting, prefill, first and last token. Cannot: tokens (iterations are no tokens), wall time
(clock_domain relative), models, tenants, failures.

arrival        server_arrival_time, else the executor's arrival_time; of a disaggregated request the orchestrator's.
queue_us       first_scheduled_time - arrival_time; prefill_us first_token_time - first_scheduled_time; decode_us
               last_token_time - first_token_time. Disaggregated: waiting and prefill of the context server, decode of the
               generation server, whose own wait and the transfer between them are in none of the three.
first_us       first_token_time (engine_first_token); disaggregated: of the context server.
error_class    unknown: failed requests are not there, but nothing says that these went well.
`

func detectTensorRTLLM(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		for _, at := range []*decode.Value{v, v.Get("ctx_perf_metrics"), v.Get("gen_perf_metrics")} {
			t := trtTimes(at)
			n := decode.One(decode.Has(t, "first_scheduled_time")) + decode.One(decode.Has(t, "first_token_time")) + decode.One(at.Get("perf_metrics") != nil)
			if decode.Has(t, "arrival_time") {
				best = max(best, n)
			}
		}
	}
	return best
}

// trtTimes finds the timing object: in perf_metrics, or at the top of records that others write.
func trtTimes(v *decode.Value) *decode.Value {
	if t := v.GetObject("perf_metrics", "timing_metrics"); t != nil {
		return t
	}
	return v.GetObject("timing_metrics")
}

func tensorRTLLM(c *decode.Context, v *decode.Value) error {
	ctx, gen := trtTimes(v), trtTimes(v)
	arrival := trtStamp(ctx, "server_arrival_time")
	if half := trtTimes(v.Get("ctx_perf_metrics")); half != nil {
		ctx, gen = half, trtTimes(v.Get("gen_perf_metrics"))
		arrival = trtStamp(v, "disagg_server_arrival_time")
	}
	if ctx == nil {
		return c.Reject("no_timing", "expected timing_metrics, got none")
	}
	for _, name := range []string{"server_arrival_time", "arrival_time"} {
		if arrival == nil {
			arrival = trtStamp(ctx, name)
		}
	}
	if arrival == nil {
		return c.Reject("no_time", "expected arrival_time in seconds above 0, got %q", decode.Text(ctx, "arrival_time"))
	}
	r := newRow(c, "trtllm", decode.Text(v, "request_id"))
	r.ClockDomain, r.Arrival = trace.Relative, arrival
	scheduled, first, last := trtStamp(ctx, "first_scheduled_time"), trtStamp(ctx, "first_token_time"), trtStamp(gen, "last_token_time")
	r.QueueUS, r.PrefillUS = stage(r, between(trtStamp(ctx, "arrival_time"), scheduled)), stage(r, between(scheduled, first))
	r.DecodeUS = stage(r, between(trtStamp(gen, "first_token_time"), last))
	if r.FirstUS, r.LastUS = between(arrival, first), between(arrival, last); r.FirstUS != nil {
		r.TTFTKind = trace.TTFTEngine
	}
	c.Emit(r, nil)
	return nil
}

// trtStamp reads seconds; 0 is unset.
func trtStamp(v *decode.Value, name string) *int64 {
	if at := micros(v.Get(name), time.Second); at != nil && *at > 0 {
		return at
	}
	return nil
}
