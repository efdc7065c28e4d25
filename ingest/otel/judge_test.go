package otel

import (
	"testing"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

func TestJudge(t *testing.T) {
	for _, c := range []struct{ attributes, want string }{ // want: a reason, or the endpoint kind after a slash
		{`{"gen_ai.operation.name":"chat"}`, "/chat"},
		{`{"gen_ai.operation.name":"text_completion"}`, "/completions"},
		{`{"gen_ai.operation.name":"embeddings"}`, "/embeddings"},
		{`{"gen_ai.operation.name":"generate_content"}`, "/chat"},
		{`{"gen_ai.operation.name":"invoke_agent","gen_ai.request.model":"m","gen_ai.usage.input_tokens":9}`, agentSpan},
		{`{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"x"}`, toolSpan},
		{`{"gen_ai.operation.name":"create_memory","gen_ai.request.model":"m"}`, notLLM},
		{`{"gen_ai.system":"openai","gen_ai.request.model":"m"}`, "/chat"}, // by the span's name
		{`{"openinference.span.kind":"LLM"}`, "/chat"},
		{`{"openinference.span.kind":"EMBEDDING"}`, "/embeddings"},
		{`{"openinference.span.kind":"RERANKER"}`, "/rerank"},
		{`{"openinference.span.kind":"AGENT","llm.token_count.prompt":9}`, agentSpan},
		{`{"openinference.span.kind":"TOOL"}`, toolSpan},
		{`{"openinference.span.kind":"RETRIEVER"}`, notLLM},
		{`{"llm.request.type":"rerank"}`, "/rerank"},
		{`{"traceloop.span.kind":"workflow"}`, agentSpan},
		{`{"traceloop.span.kind":"tool"}`, toolSpan},
		{`{"ai.operationId":"ai.streamText","ai.response.finishReason":"stop"}`, duplicateView},
		{`{"ai.operationId":"ai.streamText"}`, "/chat"}, // left by the client: no inner span
		{`{"ai.operationId":"ai.streamObject","ai.usage.totalTokens":5}`, duplicateView},
		{`{"ai.operationId":"ai.generateText"}`, duplicateView},
		{`{"ai.operationId":"ai.embed.doEmbed"}`, "/embeddings"},
		{`{"ai.operationId":"ai.generateText.doGenerate","ai.model.provider":"openai.responses"}`, "/responses"},
		{`{"ai.operationId":"ai.toolCall"}`, toolSpan},
		{`{"langfuse.observation.type":"generation"}`, "/chat"},
		{`{"langfuse.observation.type":"span"}`, notLLM},
		{`{"llm_d.epp.decision":"x","gen_ai.request.model":"m"}`, notLLM},
		{`{"gen_ai.latency.e2e":1.0,"gen_ai.request.id":"cmpl-7-0"}`, "/completions"},
		{`{"http.route":"/v1/chat/completions"}`, notLLM},
		{`{"http.route":"/health/liveliness"}`, healthCheck},
		{`{"http.target":"/metrics?x=1"}`, healthCheck},
		{`{}`, notLLM},
	} {
		got := decodeJSON(t, JSON(), decode.Options{}, oneSpan(c.attributes, ""))
		switch {
		case c.want[0] == '/' && (len(got.rows) != 1 || got.rows[0].EndpointKind != c.want[1:]):
			t.Errorf("%s: %d rows, skipped %v; want a row of kind %q", c.attributes, len(got.rows), got.skipped, c.want[1:])
		case c.want[0] != '/' && (len(got.rows) != 0 || got.skipped[c.want] != 1):
			t.Errorf("%s: %d rows, skipped %v; want %s", c.attributes, len(got.rows), got.skipped, c.want)
		}
	}
}

func TestVantage(t *testing.T) {
	for _, c := range []struct{ scope, attributes, more, want string }{
		{"x", `{"gen_ai.operation.name":"chat"}`, `"kind":3`, trace.Client},
		{"x", `{"gen_ai.operation.name":"chat"}`, `"kind":2`, trace.Gateway},
		{"envoyproxy/ai-gateway", `{"openinference.span.kind":"LLM"}`, `"kind":1`, trace.Gateway},
		{"vllm.tracing.otel", `{"gen_ai.latency.e2e":1}`, `"kind":2`, trace.Engine},
	} {
		r := only(t, `{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"`+c.scope+`"},"spans":[{"name":"n",`+c.more+`,"attributes":`+c.attributes+`}]}]}]}`)
		if r.Vantage != c.want {
			t.Errorf("%s %s: %q, want %q", c.scope, c.attributes, r.Vantage, c.want)
		}
	}
}

func TestOutcome(t *testing.T) {
	const failed = `"status":{"code":2`
	for _, c := range []struct {
		attributes, more, class string
		status                  any
	}{
		{`"gen_ai.response.id":"r"`, ``, trace.ClassOK, nil},
		{`"gen_ai.usage.output_tokens":3`, ``, trace.ClassOK, nil},
		{``, `"status":{"code":1}`, trace.ClassOK, nil},
		{``, ``, trace.ClassUnknown, nil}, // nothing shows how it ended
		{`"gen_ai.response.finish_reasons":[]`, ``, trace.ClassCancel, nil},
		{`"error.type":"429"`, failed + `}`, trace.ClassRateLimited, int32(429)},
		{`"error.type":"RateLimitError"`, failed + `}`, trace.ClassRateLimited, nil},
		{`"error.type":"openai.APITimeoutError"`, failed + `}`, trace.ClassTimeout, nil},
		{`"error.type":"Timeout","error.code":"500"`, failed + `}`, trace.ClassTimeout, int32(500)},
		{`"error.type":"BadRequestError"`, failed + `,"message":"400 This model's maximum context length is 8192 tokens."}`, trace.ClassContextLength, int32(400)},
		{`"http.response.status_code":400`, failed + `,"message":"content_policy_violation"}`, trace.ClassContentFilter, int32(400)},
		{`"http.response.status_code":503`, failed + `}`, trace.ClassUpstream, int32(503)},
		{`"http.response.status_code":504`, failed + `}`, trace.ClassTimeout, int32(504)},
		{`"http.response.status_code":200`, failed + `,"message":"stream broke"}`, trace.ClassUpstream, int32(200)},
		{`"http.response.status_code":200,"gen_ai.usage.output_tokens":3`, ``, trace.ClassOK, int32(200)},
		{``, failed + `},"events":[{"name":"exception","attributes":{"exception.type":"asyncio.exceptions.CancelledError"}}]`, trace.ClassCancel, nil},
		{``, failed + `},"events":[{"name":"exception","attributes":{"exception.type":"BadRequestError","exception.message":"Error code: 400 - {}"}}]`, trace.ClassClientError, int32(400)},
		{``, failed + `,"message":"boom"}`, trace.ClassUpstream, nil},
		{`"error.type":"ConnectError"`, ``, trace.ClassNetwork, nil}, // UNSET, but an error type
		{`"http.response.status_code":429`, ``, trace.ClassRateLimited, int32(429)},
		{`"gen_ai.response.id":"r"`, `"events":[{"name":"exception","attributes":{"exception.type":"ReadError"}}]`, trace.ClassOK, nil}, // handled
		{`"error.type":"ProxyException","error.stack_trace":"raise ProxyException(message=\"invalid key\", code=401)"`, failed + `}`, trace.ClassClientError, int32(401)},
		{`"error.type":"ProxyException","error.stack_trace":"code=status.HTTP_403_FORBIDDEN)"`, failed + `}`, trace.ClassClientError, int32(403)},
	} {
		attributes := `{"gen_ai.operation.name":"chat"`
		if c.attributes != "" {
			attributes += "," + c.attributes
		}
		r := only(t, oneSpan(attributes+"}", c.more))
		if r.ErrorClass != c.class || show(r.HTTPStatus) != c.status {
			t.Errorf("%s %s: %q, status %v; want %q, %v", c.attributes, c.more, r.ErrorClass, show(r.HTTPStatus), c.class, c.status)
		}
	}
}

// An UNSET span without an answer is a cancel only where its producer is known to leave them so.
func TestUnset(t *testing.T) {
	for provider, want := range map[string]string{"lab.chat": trace.ClassCancel, "openai": trace.ClassUnknown} {
		r := only(t, `{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"gen_ai"},"spans":[{"name":"chat m","attributes":{"gen_ai.operation.name":"chat","gen_ai.provider.name":"`+provider+`"}}]}]}]}`)
		if r.ErrorClass != want {
			t.Errorf("provider %q: %q, want %q", provider, r.ErrorClass, want)
		}
	}
}

func TestFinishReasons(t *testing.T) {
	for in, want := range map[string]string{`["length"]`: "length", `"stop"`: "stop", `["tool-calls"]`: "tool_calls", `["tool_call","stop"]`: "tool_calls",
		`"end_turn"`: "stop", `"MAX_TOKENS"`: "length", `["weird"]`: "other", `"[\"stop\"]"`: "stop"} {
		if r := only(t, oneSpan(`{"gen_ai.request.model":"m","gen_ai.response.finish_reasons":`+in+`}`, "")); r.FinishReason != want {
			t.Errorf("%s: %q, want %q", in, r.FinishReason, want)
		}
	}
}
