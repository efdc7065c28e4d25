package otel

import "time"

// semconvNames are OpenTelemetry's own conventions for generative AI, 1.41 down to 1.26, and names that vendors put on
// spans although the conventions know them only as metrics.
var semconvNames = table{
	modelRequested:   names("gen_ai.request.model"),
	modelServed:      names("gen_ai.response.model"),
	provider:         names("gen_ai.provider.name", "gen_ai.system"), // 1.37, 1.26
	requestID:        names("http.request.header.x-request-id", "gen_ai.request.id"),
	responseID:       names("gen_ai.response.id"),
	session:          names("gen_ai.conversation.id", "session.id"), // 1.34
	user:             names("user.id", "enduser.id"),
	route:            names("http.route"),
	address:          names("server.address"),
	port:             names("server.port"),
	stream:           names("gen_ai.request.stream"), // 1.41
	maxTokens:        names("gen_ai.request.max_tokens"),
	finishReason:     names("gen_ai.response.finish_reasons", "gen_ai.response.finish_reason"),
	inputTokens:      names("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),      // 1.27, 1.26
	outputTokens:     names("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"), // 1.27, 1.26
	totalTokens:      names("gen_ai.usage.total_tokens"),
	cachedTokens:     names("gen_ai.usage.cache_read.input_tokens"),     // 1.40
	cacheWriteTokens: names("gen_ai.usage.cache_creation.input_tokens"), // 1.40
	reasoningTokens:  names("gen_ai.usage.reasoning.output_tokens"),     // 1.41
	firstToken: {
		{"gen_ai.response.time_to_first_chunk", time.Second}, // 1.41
		{"gen_ai.client.operation.time_to_first_chunk", time.Second},
		{"gen_ai.server.time_to_first_token", time.Second},
		{"gen_ai.client.response.time_to_first_token", time.Second},
		{"gen_ai.server.ttft", time.Second},
	},
	httpStatus: names("http.response.status_code", "http.status_code"),
	errorType:  names("error.type"),
}

// judgeSemconv knows a call by its operation; 1.26 had none, then a model asked for makes it one. Agents, workflows and
// tools nest around calls and repeat their token totals.
func judgeSemconv(s *span) (string, bool) {
	switch op := s.attrs.text("gen_ai.operation.name"); op {
	case "chat", "text_completion", "generate_content", "embeddings", "completion", "responses", "messages", "rerank":
		return "", true
	case "execute_tool":
		return toolSpan, true
	case "invoke_agent", "create_agent", "invoke_workflow", "agent_step", "plan":
		return agentSpan, true
	case "":
		return "", s.attrs.text("gen_ai.request.model") != "" || s.attrs.has("gen_ai.usage.prompt_tokens") || s.attrs.has("gen_ai.usage.input_tokens")
	}
	return notLLM, true
}

// refineSemconv: the JavaScript instrumentation writes an empty list of finish reasons when the stream was left before
// its first chunk.
func refineSemconv(b *build) {
	if b.finish == "" && b.r.ResponseID == "" && b.s.attrs.text("gen_ai.response.finish_reasons") == "[]" {
		b.cancelled = !b.s.failed
	}
}
