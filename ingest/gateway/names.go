package gateway

import (
	"strings"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// skip fills EndpointKind, or returns the reason why the record is not a request to a model.
func skip(r *trace.Request, meta *metadata, callType string) string {
	if decode.Text(meta.alias) == healthCheck || decode.Text(meta.teamID) == healthCheck {
		return "health_check"
	}
	kind, model := kindOf(callType)
	if !model {
		return "not_a_model_call"
	}
	r.EndpointKind = kind
	return ""
}

// healthCheck is the account under which LiteLLM probes its own deployments.
const healthCheck = "litellm-internal-health-check"

// kindOf gives the endpoint kind of a call type; false for calls that ask no model (files, batches, tools, threads).
// Calls refused before they were understood have the path in place of the type.
func kindOf(callType string) (kind string, model bool) {
	t := strings.TrimPrefix(callType, "_")
	if i := strings.LastIndex(t, "/v1/"); i >= 0 {
		t = t[i+len("/v1/"):]
	}
	t = strings.TrimPrefix(t, "/")
	switch t {
	case "":
		return "", true
	case "acompletion", "completion", "chat/completions", "agenerate_content_stream", "agenerate_content", "generate_content":
		return "chat", true
	case "atext_completion", "text_completion", "completions":
		return "completions", true
	case "aembedding", "embedding", "embeddings":
		return "embeddings", true
	case "anthropic_messages", "messages":
		return "messages", true
	case "aresponses", "responses":
		return "responses", true
	case "arerank", "rerank":
		return "rerank", true
	}
	for _, part := range []string{"file", "batch", "assistant", "thread", "message", "fine_tuning", "mcp", "vector_store", "search",
		"retrieve", "get_", "delete", "cancel", "list", "models", "count_tokens"} {
		if strings.Contains(t, part) {
			return "", false
		}
	}
	return "other", true
}

// who fills the names: models, deployment, tenant, user.
func (p *payload) who(c *decode.Context, r *trace.Request) {
	model := decode.Text(p.model)
	r.ModelRequested = firstOf(decode.Text(p.group), model)
	r.Deployment = firstText(p.modelID, p.hidden.Get("model_id"))
	if p.ok || r.Deployment != "" { // a refused model was served by nobody
		r.ModelServed = firstOf(model, decode.Text(p.hidden, "litellm_model_name"))
	}
	r.Replica = hostPort(firstText(p.base, p.hidden.Get("api_base")))
	r.Provider = firstText(p.provider, p.errorObj.Get("llm_provider"))
	m := &p.meta
	r.Tenant = firstText(m.teamAlias, m.teamID, m.orgAlias, m.orgID)
	r.App = app(decode.Nested(p.tags))
	r.Route = decode.Text(m.route)
	r.KeyHash = c.Key(decode.Text(m.keyHash))
	r.UserHash = c.User(firstText(p.endUser, m.endUser))
	r.CachedResponse = decode.Bool(p.cacheHit)
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// app is the NAME of a tag "app:NAME". LiteLLM adds tags of its own (User-Agent: ...).
func app(tags *decode.Value) string {
	for _, t := range tags.GetArray() {
		if name, ok := strings.CutPrefix(decode.Text(t), "app:"); ok {
			return name
		}
	}
	return ""
}

// hostPort cuts host:port out of a base URL; "" when no port is named.
func hostPort(base string) string {
	if i := strings.Index(base, "://"); i >= 0 {
		base = base[i+3:]
	}
	if i := strings.IndexAny(base, "/?#"); i >= 0 {
		base = base[:i]
	}
	base = base[strings.LastIndexByte(base, '@')+1:] // never a password
	colon := strings.LastIndexByte(base, ':')
	if colon < 1 || colon == len(base)-1 || strings.Trim(base[colon+1:], "0123456789") != "" {
		return ""
	}
	return base
}

// responseID is the id of the answer itself: cache replays have "_cache_hit<time>" behind it.
func responseID(id string) string {
	id, _, _ = strings.Cut(id, "_cache_hit")
	return id
}

// traceID returns s when it looks like a trace id: 32 hex digits or a UUID.
func traceID(s string) string {
	if len(s) != 32 && len(s) != 36 {
		return ""
	}
	hex := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
			hex++
		case c != '-' || len(s) != 36:
			return ""
		}
	}
	if hex != 32 {
		return ""
	}
	return strings.ToLower(s)
}

// attempts reads how many tries came before this one, where LiteLLM says so.
func attempts(r *trace.Request, meta *metadata) {
	if n := decode.Int(meta.retries); n != nil && *n > 0 && *n < 1000 {
		r.Attempt = int32(*n) + 1
	}
}
