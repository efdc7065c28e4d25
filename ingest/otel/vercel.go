package otel

import (
	"strings"
	"time"
)

// vercelNames are those of the Vercel AI SDK up to version 6; version 7 writes OpenTelemetry's own.
var vercelNames = table{
	modelRequested:   names("ai.model.id"),
	modelServed:      names("ai.response.model"),
	provider:         names("ai.model.provider"),
	responseID:       names("ai.response.id"),
	session:          names("ai.telemetry.metadata.sessionId"),
	user:             names("ai.telemetry.metadata.userId"),
	maxTokens:        names("ai.settings.maxOutputTokens", "ai.settings.maxTokens"),
	finishReason:     names("ai.response.finishReason"),
	inputTokens:      names("ai.usage.inputTokens", "ai.usage.promptTokens"),
	outputTokens:     names("ai.usage.outputTokens", "ai.usage.completionTokens"),
	totalTokens:      names("ai.usage.totalTokens"),
	cachedTokens:     names("ai.usage.inputTokenDetails.cacheReadTokens", "ai.usage.cachedInputTokens"),
	cacheWriteTokens: names("ai.usage.inputTokenDetails.cacheWriteTokens"),
	reasoningTokens:  names("ai.usage.outputTokenDetails.reasoningTokens", "ai.usage.reasoningTokens"),
	firstToken:       {{"ai.response.msToFirstChunk", time.Millisecond}},
}

// judgeVercel: each call is ai.streamText.doStream (or the like) inside ai.streamText. A call whose caller hung up
// leaves only the outer span, without any answer.
func judgeVercel(s *span) (string, bool) {
	op := s.attrs.text("ai.operationId")
	switch {
	case op == "":
		return "", false
	case op == "ai.toolCall":
		return toolSpan, true
	case strings.Contains(op, ".do"):
		return "", true
	case s.abandoned(op):
		return "", true
	}
	return duplicateView, true
}

func (s *span) abandoned(op string) bool {
	if s.failed || op != "ai.streamText" && op != "ai.streamObject" {
		return false
	}
	for _, x := range s.attrs.list {
		if strings.HasPrefix(x.name, "ai.response.") || strings.HasPrefix(x.name, "ai.usage.") {
			return false
		}
	}
	return true
}

func refineVercel(b *build) {
	if op := b.s.attrs.text("ai.operationId"); op != "" {
		b.cancelled = b.s.abandoned(op)
		if streamed := strings.HasPrefix(op, "ai.stream"); b.r.Stream == nil && (streamed || strings.HasPrefix(op, "ai.generate")) {
			b.r.Stream = &streamed
		}
		if b.r.EndpointKind == "" {
			b.r.EndpointKind = vercelKind(op, b.r.Provider)
		}
	}
	// Version 7 (scope gen_ai, provider VENDOR.API) leaves a cancelled call UNSET, without finish reasons or answer.
	version7 := b.s.scope == "gen_ai" && strings.Contains(b.r.Provider, ".")
	if version7 && !b.s.failed && !b.s.succeeded && b.finish == "" && b.r.ResponseID == "" {
		b.cancelled = true
	}
}

// vercelKind: a provider is called VENDOR.API.
func vercelKind(op, provider string) string {
	if strings.Contains(op, "Embed") {
		return "embeddings"
	}
	if strings.Contains(op, "erank") {
		return "rerank"
	}
	switch provider[strings.LastIndexByte(provider, '.')+1:] {
	case "completion":
		return "completions"
	case "responses":
		return "responses"
	case "messages":
		return "messages"
	}
	return "chat"
}

// vercelFirst is stamped at the first chunk. ai.response.msToFirstChunk says the same, but counts from a moment after
// the span's start (9 ms in the capture); the event is on the span's own clock.
const vercelFirst = "ai.stream.firstChunk"
