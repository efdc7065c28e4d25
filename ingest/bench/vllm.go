package bench

import (
	"strings"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// VLLM is the result file of `vllm bench serve --save-result --save-detailed`.
func VLLM() decode.Format {
	return decode.Format{Name: "vllm-bench", Title: "vLLM bench serve, --save-detailed", About: aboutVLLM,
		Units:   "seconds; start_times are a steady clock (relative)",
		Defects: `"itls" are gaps between chunks, not tokens (vllm#42661, #50600). A failed request has ttft 0: unknown here. input_lens is the tool's own count`,
		Example: `{"backend":"openai-chat","model_id":"m","input_lens":[5],"output_lens":[2],"ttfts":[0.1],"itls":[[0.02]],"start_times":[0.05],"errors":[""]}`,
		Detect:  detectVLLM, JSON: vllm}
}

const aboutVLLM = `One JSON object a run, with lists of equal length: a row an element.
Can contain: start, every chunk, tokens, errors. Cannot: wall time (the start is a steady clock: clock_domain relative),
cached tokens, finish reasons, ids (request_id is FILE:INDEX). Without --save-detailed there is no request in the file.

first_us       ttfts: the first chunk with "choices", role-only or not (first_any_chunk); gaps_us: that and itls.
end_us         latencies (the Rust client); without them unknown: last_us is the last chunk.
tokens         output_lens is the server's usage or the tool's count, the file does not say which; input_lens is the
               tool's: tokens_estimated.
`

// detectVLLM counts the lists. SGLang's client writes lists of the same names with other contents (its "itls" are chunk
// gaps divided by tokens) and is not read.
func detectVLLM(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		n := 0
		for _, key := range []string{"ttfts", "itls", "input_lens", "output_lens"} {
			if v.Get(key).Type() == decode.TypeArray {
				n++
			}
		}
		if decode.Has(v, "total_output_tokens_retokenized") || decode.Has(v, "sharegpt_output_len") {
			n = 0
		}
		best = max(best, n)
	}
	return best
}

// vllmRun is one result file, its lists by name.
type vllmRun struct {
	ttfts, itls, inputs, outputs, starts, latencies, errors []*decode.Value
	model, kind                                             string
}

func vllm(c *decode.Context, v *decode.Value) error {
	run := vllmRun{ttfts: v.GetArray("ttfts"), itls: v.GetArray("itls"), inputs: v.GetArray("input_lens"), outputs: v.GetArray("output_lens"),
		starts: v.GetArray("start_times"), latencies: v.GetArray("latencies"), errors: v.GetArray("errors"), model: decode.Text(v, "model_id")}
	n := len(run.ttfts)
	if n == 0 {
		return c.Reject("no_requests", "expected the lists of --save-detailed (ttfts, itls ...), got none")
	}
	for _, l := range []struct {
		name string
		list *[]*decode.Value
	}{{"itls", &run.itls}, {"input_lens", &run.inputs}, {"output_lens", &run.outputs}, {"start_times", &run.starts}, {"latencies", &run.latencies}, {"errors", &run.errors}} {
		if t := v.Get(l.name).Type(); t == 0 || t == decode.TypeNull {
			*l.list = make([]*decode.Value, n)
		}
		if len(*l.list) != n {
			return c.Reject("bad_lists", "expected %d elements in %q as in ttfts, got %d", n, l.name, len(*l.list))
		}
	}
	backend := decode.Text(v, "endpoint_type")
	if backend == "" {
		backend = decode.Text(v, "backend")
	}
	switch {
	case strings.HasSuffix(backend, "-chat"):
		run.kind = "chat"
	case backend == "vllm" || backend == "openai":
		run.kind = "completions"
	}
	for i := range n {
		c.Emit(run.row(c, i), nil)
	}
	return nil
}

func (run *vllmRun) row(c *decode.Context, i int) *trace.Request {
	r := newRow(c, "vllm-bench", int64(i)+1, "")
	r.ClockDomain, r.EndpointKind, r.ModelRequested = trace.Relative, run.kind, run.model
	r.Arrival = micros(sane(nanos(run.starts[i], time.Second)))
	r.InputTokens, r.OutputTokens, r.TokensSource = decode.Int(run.inputs[i]), decode.Int(run.outputs[i]), "estimated"
	run.times(r, i)
	first := r.FirstUS != nil
	switch text := decode.Text(run.errors[i]); {
	case text != "":
		setFailure(r, "", text)
	case first || r.EndUS != nil:
		r.ErrorClass = trace.ClassOK
	}
	if r.ErrorClass != trace.ClassOK && !first { // the tool writes 0 where it got no answer
		r.OutputTokens = nil
	}
	return r
}

// times: a ttft of 0 is a request without an answer.
func (run *vllmRun) times(r *trace.Request, i int) {
	first := sane(nanos(run.ttfts[i], time.Second))
	if first == nil || *first <= 0 {
		return
	}
	if run.itls[i].Type() == decode.TypeArray {
		setGaps(r, *first, run.itls[i].GetArray(), func(e *decode.Value) *int64 { return sane(nanos(e, time.Second)) })
	}
	r.FirstUS, r.TTFTKind, r.Stream = micros(first), trace.TTFTAny, trace.Ptr(true)
	r.EndUS = micros(sane(nanos(run.latencies[i], time.Second)))
}
