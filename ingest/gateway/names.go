package gateway

import (
	"strings"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// skip fills EndpointKind, or returns the reason why the record is not a request to a model.
func skip(r *trace.Request, meta *metadata, callType string) string {
	if decode.View(meta.alias) == decode.LiteLLMHealth || decode.View(meta.teamID) == decode.LiteLLMHealth {
		return "health_check"
	}
	kind, model := decode.LiteLLMKind(callType)
	if !model {
		return "not_a_model_call"
	}
	r.EndpointKind = kind
	return ""
}

// who fills the names: models, deployment, tenant, user.
func (p *payload) who(c *decode.Context, r *trace.Request) {
	model := decode.Text(p.model)
	r.ModelRequested = firstOf(decode.Text(p.group), model)
	r.Deployment = textOr(p.modelID, p.hidden, "model_id")
	if p.ok || r.Deployment != "" { // a refused model was served by nobody
		r.ModelServed = firstOf(model, decode.Text(p.hidden, "litellm_model_name"))
	}
	r.Replica = decode.HostPort(textOr(p.base, p.hidden, "api_base"))
	r.Provider = textOr(p.provider, p.errorObj, "llm_provider")
	m := &p.meta
	r.Tenant = firstText(m.teamAlias, m.teamID, m.orgAlias, m.orgID)
	r.App = decode.LiteLLMApp(decode.Nested(p.tags))
	r.Route = decode.Text(m.route)
	r.KeyHash = c.Key(decode.View(m.keyHash))
	r.UserHash = c.User(firstView(p.endUser, m.endUser))
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
	hex, upper := 0, byte(0)
	for i := range len(s) {
		kind := hexKind[s[i]]
		if hex += int(kind & 1); kind == 0 && (s[i] != '-' || len(s) != 36) {
			return ""
		}
		upper |= kind
	}
	switch {
	case hex != 32:
		return ""
	case upper&2 != 0:
		return strings.ToLower(s)
	}
	return s
}

// hexKind is 1 for a hexadecimal digit, 3 for one in upper case.
var hexKind = [256]byte{'0': 1, '1': 1, '2': 1, '3': 1, '4': 1, '5': 1, '6': 1, '7': 1, '8': 1, '9': 1,
	'a': 1, 'b': 1, 'c': 1, 'd': 1, 'e': 1, 'f': 1, 'A': 3, 'B': 3, 'C': 3, 'D': 3, 'E': 3, 'F': 3}

// attempts reads how many tries came before this one, where LiteLLM says so.
func attempts(r *trace.Request, meta *metadata) {
	if n := decode.Int(meta.retries); n != nil && *n > 0 && *n < 1000 {
		r.Attempt = int32(*n) + 1
	}
}
