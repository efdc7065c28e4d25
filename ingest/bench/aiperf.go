package bench

import (
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// AIPerf is profile_export.jsonl, one object a request.
func AIPerf() decode.Format {
	return decode.Format{Name: "aiperf", Title: "AIPerf profile_export.jsonl", About: aboutAIPerf, Units: "epoch nanoseconds; each metric names its own unit",
		Defects: `its "inter token latency" is (latency - TTFT)/(tokens - 1), what we call tpot: not read. The documentation's sample holds time_to_first_token twice: the first counts`,
		Example: `{"metadata":{"x_request_id":"r1","request_start_ns":1759813207532900363,"request_end_ns":1759813207838764604,"benchmark_phase":"profiling","was_cancelled":false},"metrics":{"time_to_first_token":{"value":255.9,"unit":"ms"}},"error":null}`,
		Detect:  detectAIPerf, JSON: aiperf}
}

const aboutAIPerf = `One JSON object a request, as AIPerf writes it to profile_export.jsonl.
Can contain: start, headers, every chunk, end (wall clock), tokens, session and turn, cancels and errors. Cannot: the
model, the finish reason, what the server did. Warm-up rows are skipped (warmup).

first_us       time_to_first_token: the first response AIPerf could parse, role-only or not (first_any_chunk);
               first_visible_us is time_to_first_output_token. gaps_us: that and inter_chunk_latency.
end_us         request_end_ns; headers_us request_ack_ns.
tokens         usage_*: the server's, cached and reasoning ones too. Without them AIPerf's own count with a tokenizer of its choice: tokens_estimated.
error_class    error.code is an HTTP status, or 499 when AIPerf itself cancelled (client_cancel).
request_id     x_request_id; session_id conversation_id, else x_correlation_id.
`

func detectAIPerf(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		n := 0
		for _, path := range [][]string{{"metadata", "request_start_ns"}, {"metadata", "benchmark_phase"}, {"metadata", "was_cancelled"}} {
			if decode.Has(v, path...) {
				n++
			}
		}
		if n > 0 && v.GetObject("metrics") != nil {
			n++
		}
		best = max(best, n)
	}
	return best
}

func aiperf(c *decode.Context, v *decode.Value) error {
	meta := v.Get("metadata")
	if decode.Text(meta, "benchmark_phase") == "warmup" || decode.Text(meta, "phase_kind") == "warmup" {
		c.Skip("warmup")
		return nil
	}
	start := sane(decode.Int(meta, "request_start_ns"))
	if start == nil {
		return c.Reject("no_time", "expected metadata.request_start_ns, got %q", decode.Text(meta, "request_start_ns"))
	}
	r := newRow(c, "aiperf", c.Line, decode.Text(meta, "x_request_id"))
	r.Arrival = micros(start)
	r.EndUS, r.HeadersUS = since(start, sane(decode.Int(meta, "request_end_ns"))), since(start, sane(decode.Int(meta, "request_ack_ns")))
	if r.SessionID = decode.Text(meta, "conversation_id"); r.SessionID == "" {
		r.SessionID = decode.Text(meta, "x_correlation_id")
	}
	if turn := decode.Int(meta, "turn_index"); turn != nil && *turn >= 0 && *turn < 1<<30 {
		r.Turn = trace.Ptr(int32(*turn) + 1)
	}
	m := aiperfMetrics{v.Get("metrics")}
	m.times(r)
	m.tokens(r)
	aiperfOutcome(r, meta, v.Get("error"))
	c.Emit(r, nil)
	return nil
}

type aiperfMetrics struct{ of *decode.Value }

// duration reads one metric in its own unit, as nanoseconds; nil when it or its unit is unknown.
func (m aiperfMetrics) duration(name string, v *decode.Value) *int64 {
	unit, known := aiperfUnit(decode.Text(m.of, name, "unit"))
	if !known {
		return nil
	}
	return sane(nanos(v, unit))
}

func aiperfUnit(name string) (time.Duration, bool) {
	switch name {
	case "ns":
		return time.Nanosecond, true
	case "us", "µs":
		return time.Microsecond, true
	case "ms":
		return time.Millisecond, true
	case "s", "sec", "seconds":
		return time.Second, true
	}
	return 0, false
}

// times fills first token and chunks.
func (m aiperfMetrics) times(r *trace.Request) {
	first := m.duration("time_to_first_token", m.of.Get("time_to_first_token", "value"))
	if first == nil {
		return
	}
	if list := m.of.Get("inter_chunk_latency", "value"); list.Type() == decode.TypeArray {
		setGaps(r, *first, list.GetArray(), func(e *decode.Value) *int64 { return m.duration("inter_chunk_latency", e) })
	}
	r.FirstUS, r.TTFTKind, r.Stream = micros(first), trace.TTFTAny, trace.Ptr(true)
	r.FirstVisibleUS = micros(m.duration("time_to_first_output_token", m.of.Get("time_to_first_output_token", "value")))
}

func (m aiperfMetrics) tokens(r *trace.Request) {
	count := func(name string) *int64 { return decode.Int(m.of, name, "value") }
	r.InputTokens, r.OutputTokens, r.TokensSource = count("usage_prompt_tokens"), count("usage_completion_tokens"), "usage"
	if r.InputTokens != nil && r.OutputTokens != nil {
		r.CachedInputTokens, r.ReasoningTokens = count("usage_prompt_cache_read_tokens"), count("usage_reasoning_tokens")
		if r.ReasoningTokens == nil {
			r.ReasoningTokens = count("reasoning_token_count")
		}
		return
	}
	r.ReasoningTokens = count("reasoning_token_count")
	r.InputTokens, r.OutputTokens, r.TokensSource = count("input_sequence_length"), count("output_sequence_length"), "estimated"
	if r.InputTokens == nil {
		r.InputTokens = count("error_isl")
	}
}

func aiperfOutcome(r *trace.Request, meta, e *decode.Value) {
	cancelled := decode.Bool(meta, "was_cancelled")
	switch {
	case cancelled != nil && *cancelled:
		r.ErrorClass = trace.ClassCancel
	case e.GetObject() == nil:
		r.ErrorClass = trace.ClassOK
	default:
		setFailure(r, decode.Text(e, "type"), decode.Text(e, "message"))
		if code := decode.StatusCode(decode.Text(e, "code")); code != 0 && r.ErrorClass != trace.ClassCancel {
			r.HTTPStatus = &code
			r.ErrorClass = decode.Failure{Status: code, Class: decode.Text(e, "type"), Text: decode.Text(e, "message")}.ErrorClass()
		}
	}
}
