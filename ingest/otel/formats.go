package otel

import (
	"reprise/ingest/decode"
)

// JSON is OTLP as JSON: export requests as exporters send them, collector files, Tempo's answers.
func JSON() decode.Format {
	return decode.Format{Name: "otlp", Title: "OpenTelemetry spans, OTLP JSON", About: about, Detect: detectJSON,
		JSON: func(c *decode.Context, v *decode.Value) error {
			return walkJSON(c, v, func(s *span) { take(c, "otlp", s) })
		}}
}

// Proto is OTLP as protobuf: one export request or trace message at a time.
func Proto() decode.Format {
	return decode.Format{Name: "otlp-proto", Title: "OpenTelemetry spans, OTLP protobuf", About: about, Detect: detectProto,
		Message: func(c *decode.Context, b []byte) error {
			return walkProto(c, b, func(s *span) { take(c, "otlp-proto", s) })
		}}
}

// Flat is a dump of spans with attributes as a plain map and times as text.
func Flat() decode.Format {
	return decode.Format{Name: "spans", Title: "span dump, attributes as a map and times as text", About: about, Detect: detectFlat,
		JSON: func(c *decode.Context, v *decode.Value) error {
			return walkFlat(c, v, func(s *span) { take(c, "spans", s) })
		}}
}

const about = `Spans of calls to models: OpenTelemetry's gen_ai conventions (1.26 to 1.41), OpenInference, OpenLLMetry, LiteLLM's and
Langfuse's SDKs, Vercel AI SDK, Envoy AI Gateway, vLLM and SGLang. Other spans are skipped and counted by reason: tools,
agents, HTTP servers, second views of one call. Log records and metrics are counted, not read.

arrival, end   the span's own. Rounded to the nearest microsecond; whole milliseconds from JavaScript.
first_us       seconds in gen_ai.*, milliseconds in ai.response.msToFirstChunk, a stamp in Langfuse; else the event "First
               Token Stream Event" unless it lies in the last 1 % or 2 ms of the span (Envoy AI Gateway adds it at the end).
               Most instrumentations write none.
stages         vLLM: queue, prefill, decode. The wait for the running step is in none of them.
error_class    HTTP status where the span gives one, else the exception's class. Calls that a client left often have no
               span at all, or look like a success; where a producer's habit shows them they are client_cancel. Broken
               streams and, in some libraries, all errors have no span: error shares from client spans are too low.
tokens         as written; cached tokens are added where the counts prove that input leaves them out. LiteLLM's own counts
               of streams are tokens_estimated.
request_id     LiteLLM: x-request-id, the caller's request_id, the call or response id, at-<start in us>. Others: x-request-id,
               gen_ai.request.id, the response id, the span id. Two spans of one call keep the same trace and parent.
`
