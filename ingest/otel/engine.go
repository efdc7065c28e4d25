package otel

import (
	"strings"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// engineNames are those of vLLM and SGLang, beside the early conventions of 1.26.
var engineNames = table{
	requestID:    names("rid"),
	cachedTokens: names("gen_ai.usage.cached_tokens"),
	firstToken:   {{"gen_ai.latency.time_to_first_token", time.Second}},
}

func (s *span) engine() bool {
	return s.sglangRoot() || s.attrs.has("gen_ai.latency.e2e") || s.attrs.has("gen_ai.latency.time_to_first_token") || s.attrs.has("gen_ai.latency.time_in_queue")
}

// judgeEngine: an engine writes one span a request, at its end. Its start-up spans, SGLang's stages and llm-d's router
// and sidecar are not requests. Where prefill and decode are on different instances both write one: the prefill's ends
// at the first token, which the caller gets from the other, so it is a second view.
func judgeEngine(s *span) (string, bool) {
	if s.engine() {
		if s.sglang() && s.sglangRole() == "prefill" { // llm-d: see family.emit
			return duplicateView, true
		}
		return "", true
	}
	for _, x := range s.attrs.list {
		if strings.HasPrefix(x.name, "llm_d.") {
			return notLLM, true
		}
	}
	return "", false
}

// leg: llm-d's sidecar makes a span around each of its two calls. The decode's is a child of the prefill's, so the nearer
// one tells which an engine's span belongs to.
func (s *span) leg() bool {
	if !strings.HasSuffix(s.name, "prefill") && !strings.HasSuffix(s.name, "decode") {
		return false
	}
	for _, x := range s.attrs.list {
		if strings.HasPrefix(x.name, "llm_d.pd_proxy.") {
			return true
		}
	}
	return false
}

// refineEngine reads the stages. queue + prefill are less than the time to the first token: the wait for the running
// step is in neither.
func refineEngine(b *build) {
	if !b.s.engine() {
		return
	}
	a, r := b.s.attrs, b.r
	e2e := micros(a.text("gen_ai.latency.e2e"), time.Second)
	if e2e != nil && *e2e > 0 && (r.EndUS == nil || *e2e <= *r.EndUS) { // the span itself is closed a little later
		r.EndUS = e2e
	}
	r.QueueUS = b.stage("gen_ai.latency.time_in_queue")
	if !b.s.sglang() { // there the word means dispatch to first token, queue included
		r.PrefillUS = b.stage("gen_ai.latency.time_in_model_prefill")
	}
	r.DecodeUS = b.stage("gen_ai.latency.time_in_model_decode")
	if r.DecodeUS == nil && a.has("gen_ai.latency.time_in_model_decode") && r.OutputTokens != nil && *r.OutputTokens == 1 {
		r.DecodeUS = trace.Ptr(int64(0)) // one token: first and last are the same
	}
	if id := firstOf(a.text("gen_ai.request.id"), a.text("rid")); r.ResponseID == "" && number(id) == nil {
		r.ResponseID = decode.AnswerID(id)
		r.EndpointKind = firstOf(r.EndpointKind, decode.AnswerKind(id))
	}
	r.Replica = firstOf(b.s.resource.text("service.instance.id"), b.s.resource.text("k8s.pod.name"))
	b.finished = !b.s.failed && r.OutputTokens != nil // vLLM makes no span of aborted requests
	refineSGLang(b)
}

// stage reads a stage's seconds. An engine subtracts stamps that were never set (0) from ones of a monotonic clock: a
// stage of exactly 0, a negative one or one longer than the whole request is none (ING-04).
func (b *build) stage(name string) *int64 {
	n := micros(b.s.attrs.text(name), time.Second)
	switch {
	case n == nil || strings.Trim(b.s.attrs.text(name), "-0.") == "":
		return nil
	case *n < 0 || b.r.EndUS != nil && *n > *b.r.EndUS:
		b.r.AddQuality(trace.QNegative)
		return nil
	}
	return n
}
