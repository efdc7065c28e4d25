package otel

// openLLMetryNames are Traceloop's conventions, before and beside OpenTelemetry's own. LiteLLM writes some of them.
var openLLMetryNames = table{
	session:          names("traceloop.association.properties.session_id", "traceloop.association.properties.thread_id"),
	user:             names("traceloop.association.properties.user_id"),
	stream:           names("llm.is_streaming"),
	finishReason:     names("gen_ai.completion.0.finish_reason"),
	totalTokens:      names("llm.usage.total_tokens"),
	cachedTokens:     names("gen_ai.usage.cache_read_input_tokens"),
	cacheWriteTokens: names("gen_ai.usage.cache_creation_input_tokens"),
	reasoningTokens:  names("gen_ai.usage.reasoning_tokens"),
}

func judgeOpenLLMetry(s *span) (string, bool) {
	if s.attrs.text("llm.request.type") != "" {
		return "", true
	}
	switch s.attrs.text("traceloop.span.kind") {
	case "":
		return "", false
	case "tool":
		return toolSpan, true
	}
	return agentSpan, true // workflow, task, agent
}

func refineOpenLLMetry(b *build) {
	if b.r.EndpointKind == "" {
		b.r.EndpointKind = openLLMetryKinds[b.s.attrs.text("llm.request.type")]
	}
	// The JavaScript version ends a stream that was left before its first chunk with an answer of placeholders: id "0",
	// model "", finish reason "stop".
	if b.s.attrs.text("gen_ai.response.id") == "0" {
		b.r.ResponseID, b.finish = "", ""
		b.cancelled = !b.s.failed
	}
}

var openLLMetryKinds = map[string]string{"chat": "chat", "completion": "completions", "embedding": "embeddings", "rerank": "rerank"}

// chunkEvent is added for every chunk of a stream, as it comes.
const chunkEvent = "llm.content.completion.chunk"
