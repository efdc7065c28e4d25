package bench

import (
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// GuideLLM is benchmarks.json of GuideLLM, of any version since 0.2.
func GuideLLM() decode.Format {
	return decode.Format{Name: "guidellm", Title: "GuideLLM benchmarks.json", About: aboutGuideLLM, Units: "epoch seconds; every stamp is a time of its own",
		Defects: `"time_per_output_token_ms" contains the time to the first token (in 0.2 it is (last - first)/n), "inter_token_latency_ms" is our tpot: neither is read. No chunk is kept`,
		Example: `{"metadata":{"guidellm_version":"0.8.1"},"benchmarks":[{"type_":"generative_benchmark","requests":{"successful":[{"type_":"generative_request_stats","request_id":"a","info":{"status":"completed","timings":{"request_start":1795962490.5,"first_token_iteration":1795962490.6,"last_token_iteration":1795962492.4,"request_end":1795962492.5}}}],"errored":[],"incomplete":[]}}]}`,
		Detect:  detectGuideLLM, JSON: guidellm}
}

const aboutGuideLLM = `One JSON document; every request of every benchmark in it is a row (a sweep holds several benchmarks).
Can contain: send, first and last token, end (wall clock), tokens, session and turn, errors. Cannot: chunks, so no gaps
and no stalls. Its YAML and CSV outputs are not read.

arrival        info.timings.request_start, else resolve_start (0.2 and 0.3: start_time). targeted_start, when the tool
               meant to send, is not used: its lateness is not the server's.
first_us       first_token_iteration (first_content_chunk); versions that know only first_iteration or first_token_time:
               first_any_chunk. first_visible_us: first_output_token_iteration.
tokens         0.4 and later prefer the server's usage, but do not say whether there was one: tokens_estimated.
error_class    requests in "incomplete" were cut by the tool at the end of its run: client_cancel.
`

func detectGuideLLM(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		first := v.Get("benchmarks", "0")
		n := decode.One(first.GetObject("requests") != nil) + decode.One(decode.Has(first, "requests", "successful")) + decode.One(decode.Has(first, "requests", "incomplete")) +
			decode.One(decode.Has(v, "metadata", "guidellm_version"))
		best = max(best, n)
	}
	return best
}

func guidellm(c *decode.Context, v *decode.Value) error {
	line, rows := int64(0), false
	for _, b := range v.GetArray("benchmarks") {
		model := modelOf(b, v)
		for _, state := range []string{"successful", "incomplete", "errored"} {
			for _, e := range b.GetArray("requests", state) {
				line, rows = line+1, true
				guideRow(c, e, guideGroup{state, model, line})
			}
		}
	}
	if !rows {
		return c.Reject("no_requests", "expected benchmarks[].requests with requests in it, got none")
	}
	return nil
}

// modelOf finds the model in the settings; newer versions keep them at the top.
func modelOf(b, v *decode.Value) string {
	for _, at := range []*decode.Value{v.Get("config", "spec", "backend"), v.Get("args"), b.Get("worker"), b.Get("config", "backend")} {
		for _, name := range []string{"model", "backend_model"} {
			if m := decode.Text(at, name); m != "" {
				return m
			}
		}
	}
	return ""
}

type guideGroup struct {
	state, model string
	line         int64
}

func guideRow(c *decode.Context, e *decode.Value, g guideGroup) {
	info := firstObject(e, "info", "request_info", "scheduler_info")
	times := firstObject(info, "timings", "request_timings")
	stamp := func(names ...string) *int64 {
		for _, name := range names {
			for _, at := range []*decode.Value{times, e} {
				if ns := sane(nanos(at.Get(name), time.Second)); ns != nil && *ns > 0 {
					return ns
				}
			}
		}
		return nil
	}
	start := stamp("request_start", "request_start_time", "resolve_start", "start_time")
	if start == nil && g.state == "incomplete" {
		c.Skip("never_sent")
		return
	}
	r := newRow(c, "guidellm", g.line, decode.Text(e, "request_id"))
	r.ModelRequested, r.ResponseID, r.SessionID = g.model, decode.Text(e, "response_id"), decode.Text(info, "conversation_id")
	if turn := decode.Int(info, "turn_index"); turn != nil && *turn >= 0 && *turn < 1<<30 && r.SessionID != "" {
		r.Turn = trace.Ptr(int32(*turn) + 1)
	}
	r.Arrival, r.EndUS = micros(start), since(start, stamp("request_end", "request_end_time", "end_time"))
	r.LastUS = since(start, stamp("last_token_iteration", "last_iteration", "last_token_time"))
	if r.FirstUS = since(start, stamp("first_token_iteration")); r.FirstUS != nil {
		r.TTFTKind, r.FirstVisibleUS = trace.TTFTContent, since(start, stamp("first_output_token_iteration"))
	} else if r.FirstUS = since(start, stamp("first_iteration", "first_token_time")); r.FirstUS != nil {
		r.TTFTKind = trace.TTFTAny
	}
	asked(r, guideBody(e))
	if r.ModelRequested == "" {
		r.ModelRequested = g.model
	}
	guideTokens(r, e)
	guideOutcome(r, e, info, g.state)
	c.Emit(r, nil)
}

func firstObject(v *decode.Value, names ...string) *decode.Value {
	for _, name := range names {
		if o := v.GetObject(name); o != nil {
			return o
		}
	}
	return nil
}

// guideBody is the request as the tool sent it: JSON in a string, the body one level down in newer versions.
func guideBody(e *decode.Value) *decode.Value {
	args := decode.Nested(e, "request_args")
	if body := args.GetObject("body"); body != nil {
		return body
	}
	return args
}

func guideTokens(r *trace.Request, e *decode.Value) {
	count := func(metrics, flat string) *int64 {
		for _, path := range [][]string{{metrics, "total_tokens"}, {metrics, "text_tokens"}, {flat}} {
			if n := decode.Int(e, path...); n != nil {
				return n
			}
		}
		return nil
	}
	r.InputTokens, r.OutputTokens, r.TokensSource = count("input_metrics", "prompt_tokens"), count("output_metrics", "output_tokens"), "estimated"
	r.CachedInputTokens = decode.Int(e, "input_metrics", "cached_tokens")
	if r.FirstUS == nil && r.OutputTokens != nil && *r.OutputTokens == 0 {
		r.OutputTokens = nil // not counted
	}
}

func guideOutcome(r *trace.Request, e, info *decode.Value, state string) {
	switch state {
	case "successful":
		r.ErrorClass = trace.ClassOK
	case "incomplete":
		r.ErrorClass = trace.ClassCancel
	default:
		text := decode.Text(info, "error")
		if text == "" {
			text = decode.Text(e, "error")
		}
		setFailure(r, "", text)
	}
}
