package otel

import (
	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// litellmNames has little: LiteLLM writes OpenLLMetry's names, and the rest inside texts.
var litellmNames = table{
	user:       names("llm.user"),
	httpStatus: names("error.code"),
	session:    names("metadata.session_id"),
}

func (s *span) litellm() bool { return s.scope == "litellm" || s.name == "litellm_request" }

// judgeLiteLLM: litellm_request is the call and raw_gen_ai_request below it the same call again. From 1.81 on the call's
// attributes stand on the proxy's own span instead, and there is no litellm_request.
func judgeLiteLLM(s *span) (string, bool) {
	switch {
	case !s.litellm():
		return "", false
	case s.name == "raw_gen_ai_request":
		return duplicateView, true
	}
	kind := callType(s)
	switch {
	case s.attrs.text("metadata.user_api_key_alias") == decode.LiteLLMHealth || s.attrs.text("metadata.user_api_key_team_id") == decode.LiteLLMHealth:
		return healthCheck, true
	case s.name != "litellm_request" && kind == "" && s.attrs.text("gen_ai.request.model") == "":
		return notLLM, true
	}
	if _, model := decode.LiteLLMKind(kind); !model {
		return notLLM, true
	}
	return "", true
}

// callType is LiteLLM's word for the call: acompletion, aembedding ..., or the path of a call that was refused before
// it was understood.
func callType(s *span) string {
	return firstOf(s.attrs.text("llm.request.type"), s.attrs.text("gen_ai.operation.name"))
}

// refineLiteLLM reads what stands as JSON or Python text in hidden_params and metadata.*.
func refineLiteLLM(b *build) {
	if !b.s.litellm() {
		return
	}
	a, r := b.s.attrs, b.r
	caller, hidden := b.object("metadata.requester_metadata"), b.object("hidden_params")
	r.RequestID = firstOf(decode.Text(b.object("metadata.requester_custom_headers"), "x-request-id"),
		decode.Text(caller, "request_id"), a.text("litellm.call_id"), r.ResponseID, "at-")
	r.SessionID = firstOf(r.SessionID, decode.Text(caller, "session_id"))
	r.EndpointKind, _ = decode.LiteLLMKind(callType(b.s))
	r.Route = firstOf(a.text("metadata.user_api_key_request_route"), r.Route)
	r.Tenant = firstOf(a.text("metadata.user_api_key_team_alias"), a.text("metadata.user_api_key_team_id"),
		a.text("metadata.user_api_key_org_alias"), a.text("metadata.user_api_key_org_id"))
	r.KeyHash = b.c.Key(a.text("metadata.user_api_key_hash"))
	b.userID = firstOf(a.text("metadata.user_api_key_end_user_id"), b.userID)
	r.App = decode.LiteLLMApp(caller.Get("tags"))
	r.Provider = firstOf(r.Provider, a.text("error.llm_provider"))
	r.CachedResponse = decode.Bool(hidden, "cache_hit")
	if n := number(a.text("metadata.attempted_retries")); n != nil && *n > 0 && *n < 1000 {
		r.Attempt = int32(*n) + 1
	}
	r.Replica = decode.HostPort(decode.Text(hidden, "api_base"))
	b.litellmModel(decode.Text(hidden, "model_id"))
	b.litellmUsage(b.object("metadata.usage_object"))
}

// litellmModel: the span's request model is the deployment's; the alias that was asked for comes back as the model of
// the answer. A refused call names what was asked for and was served by nobody.
func (b *build) litellmModel(deployment string) {
	r := b.r
	r.Deployment = deployment
	if b.s.failed && deployment == "" {
		r.ModelServed = ""
		return
	}
	r.ModelRequested, r.ModelServed = firstOf(r.ModelServed, r.ModelRequested), firstOf(r.ModelRequested, r.ModelServed)
}

// litellmUsage adds the details of u. A stream whose caller did not ask for usage was counted by LiteLLM itself, with a
// tokenizer of its own: that leaves no prompt details, and nothing known of reasoning. A stream with them says "stop"
// whatever the engine said (489 of 554 had run into their limit).
func (b *build) litellmUsage(u *decode.Value) {
	r := b.r
	if r.InputTokens != nil && *r.InputTokens == 0 { // no prompt is empty: unknown
		r.InputTokens = nil
	}
	streamed := r.Stream != nil && *r.Stream
	prompt, read := u.Get("prompt_tokens_details"), decode.Int(u, "cache_read_input_tokens")
	detailed := prompt.GetObject() != nil || read != nil
	switch {
	case r.InputTokens == nil && r.OutputTokens == nil:
		return
	case streamed && u != nil && !detailed:
		r.TokensSource = "estimated"
		r.AddQuality(trace.QTokensEstimated)
		return
	case streamed && detailed && b.finish == "stop":
		b.finish, b.finished = "", true
	}
	r.CachedInputTokens = intOr(r.CachedInputTokens, intOr(decode.Int(prompt, "cached_tokens"), read))
	r.CacheWriteTokens = intOr(r.CacheWriteTokens, intOr(decode.Int(prompt, "cache_write_tokens"),
		intOr(decode.Int(prompt, "cache_creation_tokens"), decode.Int(u, "cache_creation_input_tokens"))))
	r.ReasoningTokens = intOr(r.ReasoningTokens, decode.Int(u, "completion_tokens_details", "reasoning_tokens"))
}
