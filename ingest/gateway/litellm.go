package gateway

import (
	"cmp"
	"strconv"
	"strings"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// LiteLLM is the StandardLoggingPayload that LiteLLM's proxy hands to its file, S3, GCS, Datadog and custom callbacks.
func LiteLLM() decode.Format {
	return decode.Format{Name: "litellm", Title: "LiteLLM StandardLoggingPayload", About: aboutLiteLLM,
		Units: unitsLiteLLM, Defects: defectsLiteLLM, Example: exampleLiteLLM, Detect: detectLiteLLM, JSON: litellm}
}

const (
	unitsLiteLLM   = `startTime, completionStartTime, endTime: unix seconds with a fraction, or text without a zone`
	defectsLiteLLM = `completionStartTime is the end where no first chunk was stamped (BerriAI/litellm#8999, #31385, #41859); the start of
/v1/messages is stamped at the headers in some versions (#17335); streams without usage are counted with another
tokenizer (#35290); calls whose client hung up have no row (#30630) or look like a success (#39589)`
	exampleLiteLLM = `{"id":"chatcmpl-1","call_type":"acompletion","stream":true,"status":"success","startTime":1795961900.757,"completionStartTime":1795961900.851,"endTime":1795961900.885,"model":"m","prompt_tokens":107,"completion_tokens":27,"hidden_params":{},"model_map_information":{}}`
)

const aboutLiteLLM = `One JSON object a logged event, as LiteLLM's proxy gives it to its file, S3, GCS, SQS and custom callbacks.
Can contain: start, first chunk, end (unix seconds, or text without a zone: --assume-tz), tokens, cached and reasoning
tokens, cache hits, model asked for and served, team, user, tags, prompt. Cannot: chunk times, queueing, what the client saw.

first_us       completionStartTime (first chunk of any kind), on successful streams only: unstreamed calls and failures
               hold the end there. A stamp that is really the end is dropped (ttft_equals_end). response_time is not
               used: on a stream it is the time to the first token.
error_class    from error_information. Calls whose client hung up are "ok" here unless the text says so: the proxy
               reads the engine's answer to its end. An empty code stays an unknown HTTP status.
tokens         usage of the server. On a stream without usage details LiteLLM counted by itself, with a tokenizer of
               its own: tokens_estimated, unless the caller had asked for usage. Failures hold 0: unknown.
finish_reason  a stream that asked for usage says "stop" even where the engine said "length": unknown then.
replica        host:port of api_base when it names a port. A service address in front of several engines looks the
               same; a provider's public host (no port) is nobody's single engine and gives none.
tenant, app    team alias, else team id, else organisation; app is the request tag "app:NAME".
request_id     x-request-id header, metadata.requester_metadata.request_id, id; without any: at-<start in us>.
session_id     metadata.requester_metadata.session_id, else trace_id: LiteLLM puts its session there, or a UUID of its own
               for the call. It is a trace_id too when it is a UUID or 32 hex digits.
Logged calls that ask no model (files, batches, assistants, tools) and health checks are skipped.
`

func detectLiteLLM(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		n := 0
		for _, key := range []string{"call_type", "model_map_information", "hidden_params", "completionStartTime", "model_parameters"} {
			if decode.Has(v, key) {
				n++
			}
		}
		best = max(best, n)
	}
	return best
}

func litellm(c *decode.Context, v *decode.Value) error {
	var p payload
	p.read(v)
	if p.start == nil || p.callType == nil {
		return c.Reject("not_litellm", "expected an object with startTime and call_type")
	}
	status := cmp.Or(decode.View(p.status), decode.View(p.statusFields, "llm_api_status"))
	p.ok = status == "success"
	r := c.New("litellm", trace.Gateway)
	if reason := skip(r, &p.meta, decode.View(p.callType)); reason != "" {
		c.Skip(reason)
		return nil
	}
	first, err := stamps(c, r, decode.View(p.start), decode.View(p.end), decode.View(p.first))
	if err != nil {
		return err
	}
	p.streamed(r, first)
	p.who(c, r)
	p.ids(r)
	outcome(r, status, p.failure())
	usage(r, p.ok, p.params.usage(), decode.Nested(p.meta.usage), p.response.Get("usage"), v)
	r.FinishReason = finish(r, p.response, &p.params)
	r.MaxTokens = p.params.limit()
	c.Emit(r, p.prompt(c, r))
	return nil
}

// streamed settles Stream and the first token. `stream` is true or null, and null on failed streams too, so the
// caller's own parameter decides next. A finished plain call whose first-token stamp is its end was not streamed; other
// kinds (messages, responses) leave that stamp out on streams as well.
func (p *payload) streamed(r *trace.Request, first *int64) {
	r.Stream = decode.Bool(p.stream)
	if r.Stream == nil {
		r.Stream = decode.Bool(p.params.stream)
	}
	plain := r.EndpointKind == "chat" || r.EndpointKind == "completions" || r.EndpointKind == "embeddings" || r.EndpointKind == "rerank"
	if r.Stream == nil && p.ok && plain && (first == nil || r.EndUS != nil && *first == *r.EndUS) {
		r.Stream = trace.Ptr(false)
	}
	if p.ok && first != nil && r.Stream != nil && *r.Stream {
		r.FirstUS, r.TTFTKind = first, trace.TTFTAny
	}
}

// ids fills the identities. A cache hit's id has "_cache_hit<time>" behind the response's own.
func (p *payload) ids(r *trace.Request) {
	id := decode.Text(p.id)
	if p.ok {
		r.ResponseID = firstOf(decode.Text(p.response, "id"), responseID(id))
	} else if strings.HasPrefix(decode.View(p.callType), "/") {
		id = "" // refused at the door: an id that neither the client nor a span ever saw
	}
	r.RequestID = firstOf(firstText(p.meta.headers.Get("x-request-id"), p.meta.requester.Get("request_id"), p.callID), id)
	derive(r)
	trace := decode.Text(p.traceID)
	r.TraceID = traceID(trace)
	r.SessionID = firstOf(decode.Text(p.meta.requester, "session_id"), trace)
	attempts(r, &p.meta)
}

// derive gives a row without any id one that its span gets too: calls refused by the key check carry none in either,
// but the same start to the microsecond.
func derive(r *trace.Request) {
	if r.RequestID == "" {
		r.RequestID = "at-" + strconv.FormatInt(*r.Arrival, 10)
		r.AddQuality(trace.QIDDerived)
	}
	r.RootRequestID = r.RequestID
}
