package gateway

import "reprise/ingest/decode"

// payload holds the members of one record that say something, so that they are found in one walk.
type payload struct {
	id, callID, traceID, callType, status, statusFields  *decode.Value
	start, end, first, stream, cacheHit                  *decode.Value
	model, group, modelID, base, provider, tags, endUser *decode.Value
	messages, hidden, response, errorText, errorObj      *decode.Value

	params params
	meta   metadata
	ok     bool // status is success
}

var payloadKeys = decode.NewKeys("id", "litellm_call_id", "trace_id", "call_type", "status", "status_fields",
	"startTime", "endTime", "completionStartTime", "stream", "cache_hit",
	"model", "model_group", "model_id", "api_base", "custom_llm_provider", "request_tags", "end_user",
	"messages", "model_parameters", "hidden_params", "response", "error_str", "error_information", "metadata")

func (p *payload) read(v *decode.Value) {
	var params, meta *decode.Value
	v.Members(payloadKeys, &p.id, &p.callID, &p.traceID, &p.callType, &p.status, &p.statusFields,
		&p.start, &p.end, &p.first, &p.stream, &p.cacheHit,
		&p.model, &p.group, &p.modelID, &p.base, &p.provider, &p.tags, &p.endUser,
		&p.messages, &params, &p.hidden, &p.response, &p.errorText, &p.errorObj, &meta)
	p.params, p.meta = readParams(decode.Nested(params)), readMetadata(decode.Nested(meta))
	p.hidden, p.response = decode.Nested(p.hidden), decode.Nested(p.response)
}

// params are what the caller asked for: the body of the request, or its parameters.
type params struct {
	*decode.Value
	stream, streamOptions, tools, system, instructions *decode.Value
	maxTokens, maxCompletionTokens, maxOutputTokens    *decode.Value
}

var paramKeys = decode.NewKeys("stream", "stream_options", "tools", "system", "instructions", "max_tokens", "max_completion_tokens", "max_output_tokens")

func readParams(v *decode.Value) params {
	p := params{Value: v}
	v.Members(paramKeys, &p.stream, &p.streamOptions, &p.tools, &p.system, &p.instructions, &p.maxTokens, &p.maxCompletionTokens, &p.maxOutputTokens)
	return p
}

// limit is the most tokens that the answer may have.
func (p *params) limit() *int64 {
	return firstInt(p.maxTokens, p.maxCompletionTokens, p.maxOutputTokens)
}

// usage says that the caller wanted the usage of the stream.
func (p *params) usage() bool {
	b := decode.Bool(p.streamOptions, "include_usage")
	return b != nil && *b
}

// metadata is the same for the members of "metadata", which both shapes have.
type metadata struct {
	alias, teamID, teamAlias, orgID, orgAlias, keyHash, endUser, route *decode.Value
	headers, requester, retries, status, failure, usage, moreUsage     *decode.Value
}

var metadataKeys = decode.NewKeys("user_api_key_alias", "user_api_key_team_id", "user_api_key_team_alias",
	"user_api_key_org_id", "user_api_key_org_alias", "user_api_key_hash", "user_api_key_end_user_id", "user_api_key_request_route",
	"requester_custom_headers", "requester_metadata", "attempted_retries", "status", "error_information", "usage_object", "additional_usage_values")

func readMetadata(v *decode.Value) (m metadata) {
	v.Members(metadataKeys, &m.alias, &m.teamID, &m.teamAlias, &m.orgID, &m.orgAlias, &m.keyHash, &m.endUser, &m.route,
		&m.headers, &m.requester, &m.retries, &m.status, &m.failure, &m.usage, &m.moreUsage)
	return m
}

// firstText is the first text that is not empty.
func firstText(values ...*decode.Value) string {
	for _, v := range values {
		if s := decode.Text(v); s != "" {
			return s
		}
	}
	return ""
}

// firstView is firstText without a copy.
func firstView(values ...*decode.Value) string {
	for _, v := range values {
		if s := decode.View(v); s != "" {
			return s
		}
	}
	return ""
}

// textOr is the text of v, else that of a member of an object.
func textOr(v, object *decode.Value, name string) string {
	if s := decode.Text(v); s != "" {
		return s
	}
	return decode.Text(object, name)
}
