package bench

import (
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// InferencePerf is per_request_lifecycle_metrics.json of kubernetes-sigs/inference-perf.
func InferencePerf() decode.Format {
	return decode.Format{Name: "inference-perf", Title: "inference-perf per_request_lifecycle_metrics.json", About: aboutInferencePerf,
		Units:   "seconds of a steady clock (relative), also in chunk_times",
		Defects: "without server usage its own token count is of its tokenizer (a known report has it at 1.77 times the server's)",
		Example: `[{"start_time":2633.2,"end_time":2635.1,"request":"{\"model\":\"m\",\"stream\":true}","response":"","info":{"input_tokens":26,"response_metrics":{"output_tokens":2,"chunk_times":[2633.3,2633.4]}},"error":null}]`,
		Detect:  detectInferencePerf, JSON: inferencePerf}
}

const aboutInferencePerf = `A JSON array, an object a request.
Can contain: start, every chunk, end (steady clock: clock_domain relative), tokens, model, limit, errors, finish reason,
request bodies. Cannot: wall time, sessions, ids (request_id is FILE:LINE).

first_us       the first of chunk_times (older: output_token_times) whose chunk holds tokens, where the chunks are kept
               (first_content_chunk); else the first (first_any_chunk). gaps_us: all of them.
tokens         server_usage or the usage chunk: the server's; else the tool's own count: tokens_estimated.
`

func detectInferencePerf(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		if !decode.Has(v, "start_time") || !decode.Has(v, "end_time") || v.GetObject("info") == nil {
			continue
		}
		n := 1 + decode.One(decode.Has(v, "info", "response_metrics")) + decode.One(decode.Has(v, "info", "output_token_times")) +
			decode.One(decode.Has(v, "info", "input_tokens")) + decode.One(decode.Has(v, "info", "lora_adapter"))
		best = max(best, n)
	}
	return best
}

func inferencePerf(c *decode.Context, v *decode.Value) error {
	start := sane(nanos(v.Get("start_time"), time.Second))
	if start == nil {
		return c.Reject("no_time", "expected start_time in seconds, got %q", decode.Text(v, "start_time"))
	}
	r := newRow(c, "inference-perf", c.Line, "")
	r.ClockDomain, r.Arrival = trace.Relative, micros(start)
	r.EndUS = since(start, sane(nanos(v.Get("end_time"), time.Second)))
	body := decode.Nested(v, "request")
	asked(r, body)
	info := v.Get("info")
	metrics := info.GetObject("response_metrics")
	if metrics == nil {
		metrics = info
	}
	var a answer
	perfChunks(r, &a, metrics, *start)
	if r.InputTokens = decode.Int(info, "input_tokens"); r.InputTokens == nil {
		r.InputTokens = decode.Int(info, "request_metrics", "text", "input_tokens")
	}
	r.OutputTokens, r.TokensSource = decode.Int(metrics, "output_tokens"), "estimated"
	if u := metrics.GetObject("server_usage"); u != nil {
		a.usage = u
	}
	a.fill(r)
	if e := v.Get("error"); e.GetObject() != nil {
		setFailure(r, decode.Text(e, "error_type"), decode.Text(e, "error_msg"))
	} else if r.EndUS != nil {
		r.ErrorClass = trace.ClassOK
	}
	if r.ErrorClass != trace.ClassOK && r.FirstUS == nil { // the tool writes 0 where it got no answer
		r.OutputTokens = nil
	}
	c.Emit(r, requestBody(c, body))
	return nil
}

// requestBody is the request as it was sent, for --keep-bodies.
func requestBody(c *decode.Context, body *decode.Value) []byte {
	if !c.KeepBodies || body.GetObject() == nil {
		return nil
	}
	return body.MarshalTo(nil)
}

// perfChunks fills the chunk times. Where the chunks themselves were kept, those without tokens are left out.
func perfChunks(r *trace.Request, a *answer, metrics *decode.Value, start int64) {
	times, texts := metrics.GetArray("chunk_times"), metrics.GetArray("response_chunks")
	if times == nil {
		times = metrics.GetArray("output_token_times")
	}
	stamps := make([]*int64, len(times))
	for i, t := range times {
		stamps[i] = sane(nanos(t, time.Second))
	}
	recorded(r, a, start, stamps, texts)
}
