package otel

import (
	"reprise/ingest/decode"
)

// JSON is OTLP as JSON: export requests as exporters send them, collector files, Tempo's answers.
func JSON() decode.Format {
	return decode.Format{Name: "otlp", Title: "OpenTelemetry spans, OTLP JSON", About: about, Units: units, Defects: defects, Example: exampleJSON,
		Detect: detectJSON,
		JSON: func(c *decode.Context, v *decode.Value) error {
			return takeAll(c, "otlp", func(visit func(*span)) error { return walkJSON(c, v, visit) })
		}}
}

// Proto is OTLP as protobuf: one export request or trace message at a time.
func Proto() decode.Format {
	return decode.Format{Name: "otlp-proto", Title: "OpenTelemetry spans, OTLP protobuf", About: about, Units: units, Defects: defects, Example: exampleProto,
		Detect: detectProto,
		Message: func(c *decode.Context, b []byte) error {
			return takeAll(c, "otlp-proto", func(visit func(*span)) error { return walkProto(c, b, visit) })
		}}
}

// Flat is a dump of spans with attributes as a plain map and times as text.
func Flat() decode.Format {
	return decode.Format{Name: "spans", Title: "span dump, attributes as a map and times as text", About: about, Units: units, Defects: defects, Example: exampleSpans,
		Detect: detectFlat,
		JSON: func(c *decode.Context, v *decode.Value) error {
			return takeAll(c, "spans", func(visit func(*span)) error { return walkFlat(c, v, visit) })
		}}
}

const (
	units   = `startTimeUnixNano, endTimeUnixNano: unix nanoseconds; gen_ai.latency.* and *_chunk in seconds, ai.response.* in milliseconds`
	defects = `Envoy AI Gateway adds its first-token event when the span closes; vLLM makes no span for cancelled and refused calls
(vllm-project/vllm#18357) and writes milestones it never reached as 0 (#49135); OpenLLMetry and JavaScript SDKs leave
out streams that broke; LiteLLM repeats a cached answer with its whole cost`
	exampleJSON  = `{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"scope":{"name":"demo"},"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"chat m","kind":3,"startTimeUnixNano":"1795961900757000000","endTimeUnixNano":"1795961901884000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.request.model","value":{"stringValue":"m"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"107"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"27"}}]}]}]}]}`
	exampleProto = `0acd0112c80112bd017a004a1f12060a04636861740a1567656e5f61692e6f7065726174696f6e2e6e616d654a1b12030a016d0a1467656e5f61692e726571756573742e6d6f64656c4a1f1202186b0a1967656e5f61692e75736167652e696e7075745f746f6b656e734a201202181b0a1a67656e5f61692e75736167652e6f75747075745f746f6b656e73410047ee97d589ec1839409fc154d589ec1830032a0663686174206d22001208eee19b7ec3c1b1740a105b8efff798038103d269b633813fc60c0a060a0464656d6f0a00` // exampleJSON, without a framing
	exampleSpans = `{"name":"chat m","context":{"trace_id":"0x5b8efff798038103d269b633813fc60c","span_id":"0xeee19b7ec3c1b174"},"kind":"SpanKind.CLIENT","parent_id":null,"start_time":"2026-11-29T10:00:00.000000Z","end_time":"2026-11-29T10:00:01.000000Z","status":{"status_code":"UNSET"},"attributes":{"gen_ai.operation.name":"chat","gen_ai.request.model":"m","gen_ai.usage.input_tokens":107,"gen_ai.usage.output_tokens":27},"events":[]}`
)

const about = `Spans of calls to models: OpenTelemetry's gen_ai conventions (1.26 to 1.41), OpenInference, OpenLLMetry, LiteLLM's and
Langfuse's SDKs, Vercel AI SDK, Envoy AI Gateway, vLLM, SGLang, TensorRT-LLM, TGI, llm-d. Other spans are skipped and
counted by reason: tools, agents, HTTP servers, second views of one call. Of log records only the event
gen_ai.client.inference.operation.details is a call (source_format otlp-logs: no times, joined with its span by the
response id); the others and metrics are counted.

arrival, end   the span's own. Rounded to the nearest microsecond; whole milliseconds from JavaScript.
first_us       seconds in gen_ai.*, milliseconds in ai.response.msToFirstChunk, a stamp in Langfuse; else the event "First
               Token Stream Event" unless it lies in the last 1 % or 2 ms of the span (Envoy AI Gateway adds it at the end).
               Most instrumentations write none.
stages         vLLM: queue, prefill, decode. The wait for the running step is in none of them. SGLang: from its stage
               prefill_waiting (in the same record, or in the same file as otlp-joined), else unknown: its attribute prefill
               counts from the dispatch, waiting included. TGI: queue; its output_tokens are
               inference_time by time_per_token.
P and D apart  Of the spans of a prefill and a decode instance the decode's is the row: SGLang's by its role, llm-d's where
               the sidecar's spans are there too, else both are rows with one request_id. The time to the first
               token is the decode instance's own. llm_d.pd_proxy.true_ttft_ms is not read: with most connectors it ends
               when decoding starts.
error_class    HTTP status where the span gives one, else the exception's class. Calls that a client left often have no
               span at all, or look like a success; where a producer's habit shows them they are client_cancel. Broken
               streams and, in some libraries, all errors have no span: error shares from client spans are too low.
tokens         as written; cached tokens are added where the counts prove that input leaves them out. LiteLLM's own counts
               of streams are tokens_estimated.
request_id     LiteLLM: x-request-id, the caller's request_id, the call or response id, at-<start in us>. Others: x-request-id,
               gen_ai.request.id, the response id, the span id. Two spans of one call keep the same trace and parent.
`
