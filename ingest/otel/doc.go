// Package otel decodes spans: OTLP traces as JSON or protobuf, and flat span dumps, in the attribute conventions of
// the instrumentations that people run.
//
// Contract: [JSON], [Joined], [Proto], [Base64], [Flat], [Jaeger], [Zipkin], [Langfuse] and [Triton] each return one
// [decode.Format]; ingest lists them. A record may hold any number of spans; every span becomes one request or one
// counted Skip. Spans of one record know each other: SGLang's stages and llm-d's legs are found that way. Between records
// nothing is kept but by Joined, which finds them over the file, and Triton, whose requests are told of in pieces; spans
// of one call by a gateway and an engine become rows of their own, joinable by trace, parent span, request and response
// id.
//
// Flow: a walker per container turns a span into the one internal form (span.go); judge says whether it is a call to
// a model; build fills a trace.Request from the alias tables, lets the convention add what does not stand in one
// attribute, and emits it.
//
//	formats.go detect.go   OTLP and flat dumps as formats; jaeger.go jaegertags.go zipkin.go langfuseexport.go triton.go
//	base64.go               one each
//	json.go flat.go proto.go logs.go   walkers; anyvalue.go and ids.go for the dialects of values, numbers and ids
//	wire.go forms.go protovalue.go     fields, messages and values of protobuf
//	attrs.go memory.go     attributes by name; what is used again from record to record
//	span.go family.go      the internal form, and what spans know of each other; joined.go: over a whole file
//	alias.go               lookup: newest name first, contradictions flagged
//	semconv.go openinference.go openllmetry.go langfuse.go vercel.go litellm.go engine.go sglang.go tgi.go   one convention each
//	judge.go               which spans are calls, and why the others are not
//	build.go first.go outcome.go usage.go   the mapping
//	prompt.go messages.go events.go  the shape of the prompt
//	pyrepr.go pystring.go  Python literals inside attributes
//
// Skip reasons: not_llm_span, tool_span, agent_span, duplicate_view (the same call is another span too),
// health_check, log_record, metric; of Triton part_of_request and no_start.
//
// Units are properties of names, never guessed from values. Message texts pass through hashes only, error texts are
// read for the class of the error and forgotten.
//
// Texts are views of the record until a request is done (see memory); protobuf is read by wire, which refuses what the
// collector's pdata refuses (the tests hold it against pdata); pdata itself only counts metrics.
package otel
