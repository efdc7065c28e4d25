package engine

import (
	"strconv"
	"strings"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// SGLang is the log of --log-requests, in its text or its JSON form.
func SGLang() decode.Format {
	return decode.Format{Name: "sglang", Title: "SGLang --log-requests", About: aboutSGLang,
		Units: "seconds: *_ts and *_time since 1970, latencies as such; the line's own stamp is the END, local time without a zone",
		Defects: "SGLANG_LOG_REQUEST_EXCEEDED_MS leaves fast requests out: percentiles are then too high. queue_time is 0 when never measured and negative after a retraction (#39312); " +
			"inference_time is nonsense for aborted requests (0.5.10) and is not read",
		Example: `{"timestamp":"2026-08-12T10:41:05.250000","event":"request.finished","rid":"a1","obj":{"stream":true,"sampling_params":{"max_new_tokens":64}},"out":{"meta_info":{"id":"a1","finish_reason":{"type":"length","length":64},"prompt_tokens":500,"completion_tokens":64,"cached_tokens":448,"e2e_latency":1.25,"queue_time":0.01,"request_received_ts":1786531264.0,"forward_entry_time":1786531264.02,"prefill_finished_time":1786531264.1,"request_finished_ts":1786531265.25}}}`,
		Detect:  detectSGLang, Group: sglang}
}

// SGLangMetrics is what --export-metrics-to-file writes.
func SGLangMetrics() decode.Format {
	return decode.Format{Name: "sglang-metrics", Title: "SGLang --export-metrics-to-file", About: aboutSGLangMetrics, Units: "seconds, as in sglang",
		Defects: "as sglang. The name of the file has the hour in local time; a record has no stamp of its own without --enable-metrics",
		Example: `{"request_parameters":"{\"rid\":\"a1\",\"stream\":true}","id":"a1","finish_reason":{"type":"length","length":64},"prompt_tokens":500,"completion_tokens":64,"cached_tokens":448,"e2e_latency":1.25,"request_received_ts":1786531264.0}`,
		Detect:  detectSGLangMetrics, JSON: sglangMetrics}
}

const sglangColumns = `
arrival        request_received_ts (with --enable-metrics); else the line's stamp less e2e_latency (arrival_derived,
               naive_time; whole seconds in the text form), where the line has one.
end_us         e2e_latency. first_us: prefill_finished_time (older: prefill_finished_ts) - request_received_ts.
queue_us       queue_time; prefill_us prefill_finished_time - forward_entry_time; decode_us from there to
               request_finished_ts (older: decode_finished_ts).
tokens         the engine's; prompt_tokens include cached_tokens.
error_class    of an abort: its status code; an abort without one is client_cancel.
`

const aboutSGLang = `One object or line a finished request ("request.finished", "Finish: "); the line of its begin only tells of requests that
have no such end in the log (error_class unknown: still running, or left out as too fast). Dump folders are pickles and are not read.
Can contain: arrival, end, tokens, cached tokens, finish reason, and with --enable-metrics first token and stages.
Cannot: chunks, models, tenants, status codes of answers that went well.
` + sglangColumns

const aboutSGLangMetrics = `One JSON object a finished request: meta_info, and the request as JSON in a string.
Can contain: the same as sglang, without requests that never finish.
` + sglangColumns

func detectSGLang(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		n := decode.One(strings.HasPrefix(decode.Text(v, "event"), "request.")) + decode.One(decode.Has(v, "obj")) + decode.One(decode.Has(v, "out", "meta_info"))
		if decode.Has(v, "rid") {
			best = max(best, n)
		}
	}
	if len(s.Records) > 0 {
		return best
	}
	events, others := false, false
	for line := range s.Lines() {
		text := string(line)
		if _, rest, ok := strings.Cut(text, "Finish: obj="); ok {
			best = max(best, 1+decode.One(strings.HasPrefix(rest, "GenerateReqInput(") || strings.HasPrefix(rest, "EmbeddingReqInput("))+decode.One(strings.Contains(rest, "'meta_info': {")))
		}
		event := sglangEvent(text) != ""
		events, others = events || event, others || !event
	}
	if events && others { // objects among lines of text: only read as text they are all told apart
		return 4
	}
	return best
}

// sglangEvent is the object of a JSON event in a line of text; "" when there is none.
func sglangEvent(text string) string {
	if i := strings.Index(text, `{"timestamp": "`); i >= 0 && strings.Contains(text[i:], `"event": "request.`) {
		return strings.TrimSpace(text[i:])
	}
	return ""
}

func detectSGLangMetrics(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		if v.Get("request_parameters").Type() == decode.TypeString {
			best = max(best, 1+decode.One(decode.Has(v, "e2e_latency"))+decode.One(decode.Has(v, "finish_reason")))
		}
	}
	return best
}

func sglang() decode.Group {
	open := newPending(func(c *decode.Context, r **trace.Request) { c.Emit(*r, nil) })
	return decode.Group{
		JSON: func(c *decode.Context, v *decode.Value) error { return sglangJSON(c, open, v) },
		Line: func(c *decode.Context, line []byte) error { return sglangLine(c, open, string(line)) },
		End:  open.finish,
	}
}

// sglangCall is a finished request in any of the forms.
type sglangCall struct {
	rid, stamp        string // stamp of the line, its end; "" when there is none
	meta              func(name string) string
	stream, maxTokens string
	embedding         bool
	precision         int64 // of the stamp
}

func sglangJSON(c *decode.Context, open *pending[*trace.Request], v *decode.Value) error {
	rid := decode.Text(v, "rid")
	if strings.Contains(rid, "HEALTH_CHECK") {
		c.Skip("health_check")
		return nil
	}
	call := sglangCall{rid: rid, stamp: decode.Text(v, "timestamp"), stream: decode.Text(v, "obj", "stream"), precision: 1,
		maxTokens: decode.Text(v, "obj", "sampling_params", "max_new_tokens"), meta: metaOf(v.Get("out", "meta_info"))}
	switch decode.Text(v, "event") {
	case "request.finished":
		return call.finish(c, open)
	case "request.received":
		return call.begin(c, open)
	}
	c.Skip(otherLine)
	return nil
}

func metaOf(v *decode.Value) func(string) string {
	return func(name string) string { return decode.Text(v, strings.Split(name, ".")...) }
}

// begin opens a request. Only where its arrival is known does it say anything.
func (call *sglangCall) begin(c *decode.Context, open *pending[*trace.Request]) error {
	c.Skip(partOfRequest)
	at, naive, err := decode.Time(call.stamp, c.Zone)
	if call.rid == "" || err != nil {
		return nil
	}
	r := newRow(c, "sglang", call.rid)
	r.Arrival, r.TimePrecision = &at, call.precision
	if naive {
		r.AddQuality(trace.QNaiveTime)
	}
	call.asked(r)
	open.add(c, call.rid, r)
	return nil
}

func (call *sglangCall) asked(r *trace.Request) {
	if b, err := strconv.ParseBool(call.stream); err == nil {
		r.Stream = &b
	}
	r.MaxTokens = number(call.maxTokens)
	if call.embedding {
		r.EndpointKind = "embeddings"
	}
}

func (call *sglangCall) finish(c *decode.Context, open *pending[*trace.Request]) error {
	if open != nil {
		open.take(call.rid)
	}
	r := newRow(c, "sglang", firstOf(call.meta("id"), call.rid))
	call.asked(r)
	seconds := func(names ...string) *int64 {
		for _, name := range names {
			if us := microsOf(call.meta(name), time.Second); us != nil && *us != 0 {
				return us
			}
		}
		return nil
	}
	r.EndUS = stage(r, seconds("e2e_latency"))
	if r.Arrival = seconds("request_received_ts"); r.Arrival == nil {
		call.derive(c, r)
	}
	first, finished := seconds("prefill_finished_time", "prefill_finished_ts"), seconds("request_finished_ts", "decode_finished_ts")
	if received := seconds("request_received_ts"); received != nil {
		if r.FirstUS = between(received, first); r.FirstUS != nil {
			r.TTFTKind = trace.TTFTEngine
		}
	}
	r.QueueUS = stage(r, seconds("queue_time"))
	r.PrefillUS, r.DecodeUS = stage(r, between(seconds("forward_entry_time"), first)), stage(r, between(first, finished))
	count := func(name string) *int64 {
		n, err := strconv.ParseInt(call.meta(name), 10, 64)
		if err != nil {
			return nil
		}
		return &n
	}
	r.InputTokens, r.CachedInputTokens, r.OutputTokens, r.TokensSource = count("prompt_tokens"), count("cached_tokens"), count("completion_tokens"), "usage"
	if r.ReasoningTokens = count("reasoning_tokens"); call.embedding {
		r.OutputTokens = nil
	}
	call.outcome(r)
	c.Emit(r, nil)
	return nil
}

// derive takes the arrival from the line's stamp and the duration.
func (call *sglangCall) derive(c *decode.Context, r *trace.Request) {
	end, naive, err := decode.Time(call.stamp, c.Zone)
	if err != nil {
		return
	}
	if r.TimePrecision = call.precision; naive {
		r.AddQuality(trace.QNaiveTime)
	}
	endAt(r, end, r.EndUS)
}

func (call *sglangCall) outcome(r *trace.Request) {
	r.FinishReason = decode.FinishReason(call.meta("finish_reason.type"))
	code := decode.StatusCode(call.meta("finish_reason.status_code"))
	switch {
	case r.FinishReason == "abort" && code != 0:
		r.HTTPStatus, r.ErrorClass = &code, firstOf(decode.Failure{Status: code, Text: call.meta("finish_reason.message")}.ErrorClass(), trace.ClassUnknown)
	case r.FinishReason == "abort":
		r.ErrorClass = trace.ClassCancel
	case r.EndUS != nil:
		r.ErrorClass = trace.ClassOK
	}
}

func sglangMetrics(c *decode.Context, v *decode.Value) error {
	if !decode.Has(v, "e2e_latency") && !decode.Has(v, "request_received_ts") {
		return c.Reject("no_time", "expected e2e_latency or request_received_ts, got neither")
	}
	params := decode.Nested(v, "request_parameters")
	call := sglangCall{rid: decode.Text(params, "rid"), stream: decode.Text(params, "stream"),
		maxTokens: decode.Text(params, "sampling_params", "max_new_tokens"), meta: metaOf(v)}
	return call.finish(c, nil)
}
