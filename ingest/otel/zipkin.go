package otel

import (
	"strings"

	"reprise/ingest/decode"
)

// Zipkin is Zipkin's JSON, version 2: lists of spans, or lists of such lists.
func Zipkin() decode.Format {
	return decode.Format{Name: "zipkin", Title: "OpenTelemetry spans in Zipkin's JSON, version 2", About: about + aboutZipkin,
		Units: "timestamp and duration: microseconds; attributes as in otlp", Defects: "loses the nanoseconds of stamps and the types of attributes; " + defects,
		Example: exampleZipkin, Detect: detectZipkin,
		JSON: func(c *decode.Context, v *decode.Value) error {
			return takeAll(c, "zipkin", func(visit func(*span)) error { return walkZipkin(c, v, visit) })
		}}
}

const (
	exampleZipkin = `[{"traceId":"5b8efff798038103d269b633813fc60c","id":"eee19b7ec3c1b174","name":"chat m","kind":"CLIENT","timestamp":1795961900757000,"duration":1127000,"localEndpoint":{"serviceName":"demo"},"tags":{"gen_ai.operation.name":"chat","gen_ai.request.model":"m","gen_ai.usage.input_tokens":"107","gen_ai.usage.output_tokens":"27"}}]`
	aboutZipkin   = `
Attributes are tags, all text; events are annotations; the status is otel.status_code, else the tag error.
`
)

// detectZipkin: ids, a stamp that is a number, and the members that no other format has.
func detectZipkin(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		if v.GetStringBytes("traceId") == nil || v.GetStringBytes("id") == nil || integer(v.Get("timestamp")) == nil {
			continue
		}
		best = max(best, 1+decode.One(v.Get("localEndpoint") != nil)+decode.One(v.GetObject("tags") != nil)+decode.One(v.Get("duration") != nil))
	}
	return best
}

func walkZipkin(c *decode.Context, v *decode.Value, visit func(*span)) error {
	if v.Get("traceId") == nil || v.Get("id") == nil {
		return c.Reject("not_zipkin", "expected a span with traceId and id, got an object with the keys %q", keys(v))
	}
	m := scratch(c)
	s := &span{name: decode.Text(v, "name"), traceID: identifier(v.Get("traceId")), spanID: identifier(v.Get("id")), parentID: identifier(v.Get("parentId")),
		kind: enum(v.Get("kind"), kindNames...), attrs: m.jsonAttrs(v.Get("tags"))}
	if name := v.Get("localEndpoint", "serviceName"); name != nil {
		s.resource.put("service.name", name)
	}
	for _, name := range []string{"service.instance.id", "k8s.pod.name"} { // exporters put the resource among the tags
		if x := s.attrs.find(name); x != nil {
			s.resource.list = append(s.resource.list, *x)
		}
	}
	if n := integer(v.Get("timestamp")); n != nil {
		s.start = nanosOf(*n)
	}
	if d := integer(v.Get("duration")); d != nil && *d >= 0 && s.start != 0 && nanosOf(*d) <= 1<<62-s.start/2 {
		s.end = s.start + nanosOf(*d)
	}
	for _, a := range v.Get("annotations").GetArray() {
		e := m.annotation(decode.Text(a, "value"))
		if n := integer(a.Get("timestamp")); n != nil {
			e.at = nanosOf(*n)
		}
		s.events = append(s.events, e)
	}
	s.tagged()
	if text := s.attrs.text("error"); s.statusText == "" && !strings.EqualFold(text, "true") {
		s.statusText = text
	}
	visit(s)
	return nil
}

// annotation reads an event out of a text: its name, "name": {attributes} as OpenTelemetry's exporters write it, or
// name|{attributes}|dropped as its collector does.
func (m *memory) annotation(text string) event {
	name, rest, found := strings.Cut(text, "|")
	if found {
		rest, _, _ = strings.Cut(rest, "}|")
		rest = strings.TrimSuffix(rest, "}") + "}"
	} else if strings.HasPrefix(text, `"`) {
		if name, rest, found = strings.Cut(text[1:], `":`); !found {
			name = text
		}
	}
	e := event{name: name}
	if body, err := decode.Parse([]byte(strings.TrimSpace(rest))); err == nil {
		e.attrs = m.jsonAttrs(body)
	}
	return e
}
