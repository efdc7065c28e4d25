package otel

import (
	"strings"
	"time"

	"reprise/ingest/decode"
)

// Langfuse is what Langfuse exports: observations from its API or user interface, and from its blob storage export.
func Langfuse() decode.Format {
	return decode.Format{Name: "langfuse", Title: "Langfuse observations (API, user interface, blob export)", About: aboutLangfuse,
		Units:   "startTime, endTime, completionStartTime: RFC 3339 (API) or UTC text without a zone (blob export); latency and timeToFirstToken in seconds",
		Defects: "the first token may be the end, where an SDK had none (langfuse/langfuse#3046): dropped; streams that broke often have no observation",
		Example: `{"id":"o1","traceId":"t1","type":"GENERATION","name":"chat","startTime":"2026-11-24T14:00:00.000Z","completionStartTime":"2026-11-24T14:00:00.250Z","endTime":"2026-11-24T14:00:01.500Z","model":"m","usageDetails":{"input":107,"output":27,"total":134},"level":"DEFAULT"}`,
		Detect:  detectLangfuse,
		JSON: func(c *decode.Context, v *decode.Value) error {
			return takeAll(c, "langfuse", func(visit func(*span)) error { return walkLangfuse(c, v, visit) })
		}}
}

const aboutLangfuse = `One observation a record: {id, traceId, type, startTime, endTime, completionStartTime, model, modelParameters, usageDetails,
level, statusMessage, input}, in camel or snake case; or a trace with its observations. Generations and embeddings are
requests; spans, events, agents, chains and tools are skipped and counted.
Can contain: latency, first tokens, tokens, cached and reasoning ones, models, errors, sessions, prompts (hashed).
Cannot: chunk times, engine stages, HTTP status (but from an error's text), replica, cancels.

tokens         the buckets of usageDetails are added where total does not prove that they overlap.
first_us       completionStartTime, else timeToFirstToken. end_us: endTime, else latency.
request_id     the observation's id. error_class unknown without usage or error.
`

// langfuseFields are the attributes of Langfuse's SDKs that the exported members say, newest spelling first.
var langfuseFields = []struct {
	attr string
	keys []string
}{
	{"langfuse.observation.model.name", []string{"model", "providedModelName", "provided_model_name"}},
	{"langfuse.observation.model.parameters", []string{"modelParameters", "model_parameters"}},
	{"langfuse.observation.usage_details", []string{"usageDetails", "usage_details", "usage"}},
	{"langfuse.observation.completion_start_time", []string{"completionStartTime", "completion_start_time"}},
	{"gen_ai.response.time_to_first_chunk", []string{"timeToFirstToken", "time_to_first_token"}},
	{"langfuse.observation.level", []string{"level"}},
	{"langfuse.observation.status_message", []string{"statusMessage", "status_message"}},
	{"langfuse.observation.input", []string{"input"}},
	{"langfuse.session.id", []string{"sessionId", "session_id"}},
	{"langfuse.user.id", []string{"userId", "user_id"}},
}

func detectLangfuse(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		if list := v.GetArray("observations"); len(list) > 0 {
			v = list[0]
		}
		if v.GetStringBytes("type") == nil || either(v, "traceId", "trace_id") == nil {
			continue
		}
		best = max(best, decode.One(either(v, "startTime", "start_time") != nil)+decode.One(either(v, "completionStartTime", "completion_start_time") != nil)+
			decode.One(either(v, "usageDetails", "usage_details") != nil)+decode.One(either(v, "statusMessage", "status_message") != nil)+decode.One(v.Get("level") != nil))
	}
	return best
}

func walkLangfuse(c *decode.Context, v *decode.Value, visit func(*span)) error {
	list := v.GetArray("observations")
	if list == nil {
		list = []*decode.Value{v}
	}
	for i, x := range list {
		if x.Get("id") == nil || x.GetStringBytes("type") == nil {
			return c.Reject("not_langfuse", "expected an observation with id and type, got an object with the keys %q", keys(x))
		}
		s := langfuseSpan(c, x)
		s.line = i
		visit(s)
	}
	return nil
}

func langfuseSpan(c *decode.Context, v *decode.Value) *span {
	s := &span{name: decode.Text(v, "name"), traceID: identifier(either(v, "traceId", "trace_id")), spanID: identifier(v.Get("id")),
		parentID: identifier(either(v, "parentObservationId", "parent_observation_id")), exported: true,
		attrs: attrs{list: []attr{{"langfuse.observation.type", value{proto: protoString(strings.ToLower(decode.Text(v, "type")))}}}}}
	for _, f := range langfuseFields {
		if f.attr == "gen_ai.response.time_to_first_chunk" && s.attrs.has("langfuse.observation.completion_start_time") {
			continue // the same, rounded
		}
		for _, key := range f.keys {
			if x := v.Get(key); x != nil && x.Type() != decode.TypeNull {
				s.attrs.put(f.attr, x)
			}
		}
	}
	s.start, s.naive = flatTime(c, either(v, "startTime", "start_time"))
	s.end, _ = flatTime(c, either(v, "endTime", "end_time"))
	if us := micros(decode.Text(v, "latency"), time.Second); s.end == 0 && s.start != 0 && us != nil && *us >= 0 && nanosOf(*us) <= 1<<62-s.start/2 {
		s.end = s.start + nanosOf(*us)
	}
	s.coarse = s.start%1e6 == 0 // the API's stamps have three digits
	return s
}
