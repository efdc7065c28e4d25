package gateway

import "reprise/ingest/decode"

// payload holds the members of one record that say something, so that they are found in one walk.
type payload struct {
	id, callID, traceID, callType, status, statusFields     *decode.Value
	start, end, first, stream, cacheHit                     *decode.Value
	model, group, modelID, base, provider, tags, endUser    *decode.Value
	messages, params, hidden, response, errorText, errorObj *decode.Value

	meta metadata
	ok   bool // status is success
}

func (p *payload) read(v *decode.Value) {
	var meta *decode.Value
	v.Visit(func(key []byte, x *decode.Value) {
		switch string(key) {
		case "id":
			set(&p.id, x)
		case "litellm_call_id":
			set(&p.callID, x)
		case "trace_id":
			set(&p.traceID, x)
		case "call_type":
			set(&p.callType, x)
		case "status":
			set(&p.status, x)
		case "status_fields":
			set(&p.statusFields, x)
		case "startTime":
			set(&p.start, x)
		case "endTime":
			set(&p.end, x)
		case "completionStartTime":
			set(&p.first, x)
		case "stream":
			set(&p.stream, x)
		case "cache_hit":
			set(&p.cacheHit, x)
		case "model":
			set(&p.model, x)
		case "model_group":
			set(&p.group, x)
		case "model_id":
			set(&p.modelID, x)
		case "api_base":
			set(&p.base, x)
		case "custom_llm_provider":
			set(&p.provider, x)
		case "request_tags":
			set(&p.tags, x)
		case "end_user":
			set(&p.endUser, x)
		case "messages":
			set(&p.messages, x)
		case "model_parameters":
			set(&p.params, x)
		case "hidden_params":
			set(&p.hidden, x)
		case "response":
			set(&p.response, x)
		case "error_str":
			set(&p.errorText, x)
		case "error_information":
			set(&p.errorObj, x)
		case "metadata":
			set(&meta, x)
		}
	})
	p.meta = readMetadata(decode.Nested(meta))
	p.params, p.hidden, p.response = decode.Nested(p.params), decode.Nested(p.hidden), decode.Nested(p.response)
}

// metadata is the same for the members of "metadata", which both shapes have.
type metadata struct {
	alias, teamID, teamAlias, orgID, orgAlias, keyHash, endUser, route *decode.Value
	headers, requester, retries, status, failure, usage, moreUsage     *decode.Value
}

func readMetadata(v *decode.Value) (m metadata) {
	v.Visit(func(key []byte, x *decode.Value) {
		switch string(key) {
		case "user_api_key_alias":
			set(&m.alias, x)
		case "user_api_key_team_id":
			set(&m.teamID, x)
		case "user_api_key_team_alias":
			set(&m.teamAlias, x)
		case "user_api_key_org_id":
			set(&m.orgID, x)
		case "user_api_key_org_alias":
			set(&m.orgAlias, x)
		case "user_api_key_hash":
			set(&m.keyHash, x)
		case "user_api_key_end_user_id":
			set(&m.endUser, x)
		case "user_api_key_request_route":
			set(&m.route, x)
		case "requester_custom_headers":
			set(&m.headers, x)
		case "requester_metadata":
			set(&m.requester, x)
		case "attempted_retries":
			set(&m.retries, x)
		case "status":
			set(&m.status, x)
		case "error_information":
			set(&m.failure, x)
		case "usage_object":
			set(&m.usage, x)
		case "additional_usage_values":
			set(&m.moreUsage, x)
		}
	})
	return m
}

// set keeps the first of members with the same name, as Get does.
func set(field **decode.Value, x *decode.Value) {
	if *field == nil {
		*field = x
	}
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
