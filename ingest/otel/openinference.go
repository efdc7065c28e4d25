package otel

import (
	"strings"

	"reprise/ingest/decode"
)

// openInferenceNames are Arize's conventions, also written by Envoy AI Gateway. llm.model_name is the model that
// answered; the one asked for stands in the invocation parameters.
var openInferenceNames = table{
	modelRequested:   names("llm.request.model_name"),
	modelServed:      names("llm.response.model_name", "llm.model_name", "embedding.model_name", "reranker.model_name"),
	provider:         names("llm.provider", "llm.system"),
	finishReason:     names("llm.finish_reason"),
	inputTokens:      names("llm.token_count.prompt"),
	outputTokens:     names("llm.token_count.completion"),
	totalTokens:      names("llm.token_count.total"),
	cachedTokens:     names("llm.token_count.prompt_details.cache_read"),
	cacheWriteTokens: names("llm.token_count.prompt_details.cache_write"),
	reasoningTokens:  names("llm.token_count.completion_details.reasoning"),
}

const openInferencePrompt = "llm.input_messages."

func judgeOpenInference(s *span) (string, bool) {
	switch s.attrs.text("openinference.span.kind") {
	case "":
		return "", false
	case "LLM", "EMBEDDING", "RERANKER":
		return "", true
	case "TOOL":
		return toolSpan, true
	case "AGENT", "CHAIN":
		return agentSpan, true
	}
	return notLLM, true
}

// refineOpenInference reads the request parameters and the answer, which stand as JSON in one attribute each.
func refineOpenInference(b *build) {
	kind := b.s.attrs.text("openinference.span.kind")
	if kind == "" {
		return
	}
	b.parameters("llm.invocation_parameters", "embedding.invocation_parameters")
	answer := b.object("output.value")
	b.r.ResponseID = firstOf(b.r.ResponseID, decode.Text(answer, "id"))
	b.finish = firstOf(b.finish, decode.Text(answer, "choices", "0", "finish_reason"), decode.Text(answer, "stop_reason"))
	switch {
	case kind == "EMBEDDING":
		b.r.EndpointKind = "embeddings"
	case kind == "RERANKER":
		b.r.EndpointKind = "rerank"
	case b.r.EndpointKind == "":
		b.r.EndpointKind = openInferenceKinds[b.s.name]
	}
	// The JavaScript instrumentation ends an abandoned stream like a finished one, only without a finish reason.
	if strings.HasPrefix(b.s.scope, "@arizeai/") && b.s.name == "OpenAI Chat Completions" && b.finish == "" && !b.s.succeeded {
		b.cancelled = true
	}
}

// openInferenceKinds: the span is named after the operation (Envoy AI Gateway, Python, JavaScript).
var openInferenceKinds = map[string]string{
	"ChatCompletion": "chat", "OpenAI Chat Completions": "chat", "Completion": "completions", "OpenAI Completions": "completions",
	"CreateEmbeddings": "embeddings", "OpenAI Embeddings": "embeddings", "Response": "responses", "Responses": "responses",
	"OpenAI Responses": "responses", "Message": "messages", "Messages": "messages", "Transcription": "other", "Translation": "other",
	"ImagesResponse": "other", "Speech": "other", "CreateSpeech": "other",
}

// parameters reads what the caller asked for from JSON under the first name that has any.
func (b *build) parameters(attributes ...string) {
	for _, name := range attributes {
		p := b.object(name)
		if p == nil {
			continue
		}
		b.r.ModelRequested = firstOf(b.r.ModelRequested, decode.Text(p, "model"))
		if b.r.Stream == nil {
			b.r.Stream = decode.Bool(p, "stream")
		}
		for _, key := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
			if n := decode.Int(p, key); b.r.MaxTokens == nil {
				b.r.MaxTokens = n
			}
		}
		if b.userID == "" {
			b.userID = decode.Text(p, "user")
		}
		return
	}
}

// tokenEvent is stamped when the first chunk arrives (Python), or when the span is closed (Envoy AI Gateway replays
// the chunks then): see first.go.
const tokenEvent = "First Token Stream Event"
