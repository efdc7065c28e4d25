package otel

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// envelopes are the span of spellings in other programs' JSON: microseconds, attributes as tags.
var envelopes = map[string]string{
	"jaeger, query service": `{"data":[{"traceID":"5b8efff798038103d269b633813fc60c","spans":[{"traceID":"5b8efff798038103d269b633813fc60c","spanID":"eee19b7ec3c1b174","operationName":"chat m",
		"references":[{"refType":"FOLLOWS_FROM","traceID":"5b8efff798038103d269b633813fc60c","spanID":"1111111111111111"},{"refType":"CHILD_OF","traceID":"ff8efff798038103d269b633813fc60c","spanID":"2222222222222222"},{"refType":"CHILD_OF","traceID":"5b8efff798038103d269b633813fc60c","spanID":"eee19b7ec3c1b173"}],
		"startTime":1735689600000000,"duration":2500000,"logs":[],"processID":"p2","warnings":null,
		"tags":[{"key":"span.kind","type":"string","value":"client"},{"key":"otel.status_code","type":"string","value":"OK"},{"key":"otel.scope.name","type":"string","value":"lib"},
			{"key":"gen_ai.operation.name","type":"string","value":"chat"},{"key":"gen_ai.request.model","type":"string","value":"m"},
			{"key":"gen_ai.usage.input_tokens","type":"int64","value":"9007199254740997"},{"key":"gen_ai.usage.output_tokens","type":"int64","value":7},
			{"key":"gen_ai.request.stream","type":"bool","value":true},{"key":"gen_ai.response.time_to_first_chunk","type":"float64","value":0.25},
			{"key":"gen_ai.response.finish_reasons","type":"string","value":"[\"stop\"]"},
			{"key":"gen_ai.input.messages","type":"string","value":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"hi\"}]}]"}]}],
		"processes":{"p1":{"serviceName":"other","tags":[]},"p2":{"serviceName":"shop","tags":[]}}}],"total":0,"errors":null}`,
	"jaeger, domain": `{"spans":[{"traceId":"W47/95gDgQPSabYzgT/GDA==","spanId":"7uGbfsPBsXQ=","operationName":"chat m","references":[{"traceId":"W47/95gDgQPSabYzgT/GDA==","spanId":"7uGbfsPBsXM="}],
		"startTime":"2025-01-01T01:00:00+01:00","duration":"2500000000ns","process":{"serviceName":"shop","tags":[]},
		"tags":[{"key":"span.kind","vType":"STRING","vStr":"client"},{"key":"otel.status_code","vStr":"OK"},{"key":"otel.scope.name","vStr":"lib"},
			{"key":"gen_ai.operation.name","vStr":"chat"},{"key":"gen_ai.request.model","vStr":"m"},{"key":"gen_ai.usage.input_tokens","vType":"INT64","vInt64":"9007199254740997"},
			{"key":"gen_ai.usage.output_tokens","vType":"INT64","vInt64":"7"},{"key":"gen_ai.request.stream","vType":"BOOL","vBool":true},
			{"key":"gen_ai.response.time_to_first_chunk","vType":"FLOAT64","vFloat64":0.25},{"key":"gen_ai.response.finish_reasons","vStr":"[\"stop\"]"},
			{"key":"gen_ai.input.messages","vStr":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"hi\"}]}]"}]}]}`,
	"jaeger, Elasticsearch, tags as fields": `{"_index":"jaeger-span-2025-01-01","_source":{"traceID":"5b8efff798038103d269b633813fc60c","spanID":"eee19b7ec3c1b174","parentSpanID":"eee19b7ec3c1b173","operationName":"chat m",
		"startTime":1735689600000000,"startTimeMillis":1735689600000,"duration":2500000,"process":{"serviceName":"shop","tag":{"host@name":"h"}},
		"tags":[{"key":"otel.status_code","type":"string","value":"OK"},{"key":"otel.library.name","type":"string","value":"lib"}],
		"tag":{"span@kind":"client","gen_ai@operation@name":"chat","gen_ai@request@model":"m","gen_ai@usage@input_tokens":"9007199254740997","gen_ai@usage@output_tokens":7,
			"gen_ai@request@stream":"true","gen_ai@response@time_to_first_chunk":"0.25","gen_ai@response@finish_reasons":"[\"stop\"]",
			"gen_ai@input@messages":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"hi\"}]}]"}}}`,
	"zipkin": `{"traceId":"5b8efff798038103d269b633813fc60c","id":"eee19b7ec3c1b174","parentId":"eee19b7ec3c1b173","kind":"CLIENT","name":"chat m","timestamp":1735689600000000,"duration":2500000,
		"localEndpoint":{"serviceName":"shop","ipv4":"10.0.0.1"},"tags":{"otel.status_code":"OK","otel.scope.name":"lib","gen_ai.operation.name":"chat","gen_ai.request.model":"m","gen_ai.usage.input_tokens":"9007199254740997",
			"gen_ai.usage.output_tokens":"7","gen_ai.request.stream":"true","gen_ai.response.time_to_first_chunk":"0.25","gen_ai.response.finish_reasons":"[\"stop\"]",
			"gen_ai.input.messages":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"hi\"}]}]"}}`,
	"spans, Go's stdouttrace": `{"Name":"chat m","SpanContext":{"TraceID":"5b8efff798038103d269b633813fc60c","SpanID":"eee19b7ec3c1b174"},"Parent":{"SpanID":"eee19b7ec3c1b173"},"SpanKind":3,
		"StartTime":"2025-01-01T00:00:00.000000123Z","EndTime":"2025-01-01T00:00:02.500000123Z","Events":null,"Status":{"Code":"Ok","Description":""},"DroppedAttributes":0,
		"Resource":[{"Key":"service.name","Value":{"Type":"STRING","Value":"shop"}}],"InstrumentationLibrary":{"Name":"lib"},
		"Attributes":[{"Key":"gen_ai.operation.name","Value":{"Type":"STRING","Value":"chat"}},{"Key":"gen_ai.request.model","Value":{"Type":"STRING","Value":"m"}},
			{"Key":"gen_ai.usage.input_tokens","Value":{"Type":"INT64","Value":9007199254740997}},{"Key":"gen_ai.usage.output_tokens","Value":{"Type":"INT64","Value":7}},
			{"Key":"gen_ai.request.stream","Value":{"Type":"BOOL","Value":true}},{"Key":"gen_ai.response.time_to_first_chunk","Value":{"Type":"FLOAT64","Value":0.25}},
			{"Key":"gen_ai.response.finish_reasons","Value":{"Type":"STRINGSLICE","Value":["stop"]}},
			{"Key":"gen_ai.input.messages","Value":{"Type":"STRING","Value":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"hi\"}]}]"}}]}`,
	"spans, Python's console": `{"name":"chat m","context":{"trace_id":"0x5b8efff798038103d269b633813fc60c","span_id":"0xeee19b7ec3c1b174","trace_state":"[]"},"kind":"SpanKind.CLIENT","parent_id":"0xeee19b7ec3c1b173",
		"start_time":"2025-01-01T00:00:00.000000Z","end_time":"2025-01-01T00:00:02.500000Z","status":{"status_code":"OK"},"events":[],"links":[],"resource":{"attributes":{"service.name":"shop"},"schema_url":""},
		"attributes":{"gen_ai.operation.name":"chat","gen_ai.request.model":"m","gen_ai.usage.input_tokens":9007199254740997,"gen_ai.usage.output_tokens":7,"gen_ai.request.stream":true,
			"gen_ai.response.time_to_first_chunk":0.25,"gen_ai.response.finish_reasons":["stop"],"gen_ai.input.messages":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"hi\"}]}]"}}`,
}

// formatOf returns the format that the words before the comma name.
func formatOf(name string) decode.Format {
	word, _, _ := strings.Cut(name, ",")
	return map[string]decode.Format{"jaeger": Jaeger(), "zipkin": Zipkin(), "spans": Flat()}[word]
}

func TestEnvelopes(t *testing.T) {
	want := *only(t, spellings["canonical"])
	for name, record := range envelopes {
		f := formatOf(name)
		got := decodeJSON(t, f, decode.Options{}, record)
		if len(got.rows) != 1 {
			t.Errorf("%s: %d rows, skipped %v", name, len(got.rows), got.skipped)
			continue
		}
		want.SourceFormat = f.Name
		if diff := cmp.Diff(&want, got.rows[0]); diff != "" {
			t.Errorf("%s (-canonical +this):\n%s", name, diff)
		}
		v, err := decode.Parse([]byte(record))
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []decode.Format{JSON(), Flat(), Jaeger(), Zipkin(), Triton()} {
			n := other.Detect(&decode.Sample{Records: []*decode.Value{v}})
			if (n >= 2) != (other.Name == f.Name) {
				t.Errorf("%s: %s sees %d signs", name, other.Name, n)
			}
		}
	}
}

// Jaeger's own fixtures hold no call to a model: each span is counted, none is lost.
func TestJaegerSamples(t *testing.T) {
	for name, want := range map[string]int{"es_01": 1, "domain_03": 2, "ui_01": 5, "trace_success": 2} {
		text := string(readData(t, "samples/jaeger-"+name+".json"))
		records := []string{text}
		if strings.HasPrefix(text, "[") {
			var list []json.RawMessage
			if err := json.Unmarshal([]byte(text), &list); err != nil {
				t.Fatal(err)
			}
			records = nil
			for _, r := range list {
				records = append(records, string(r))
			}
		}
		if got := decodeJSON(t, Jaeger(), decode.Options{}, records...); got.skipped[notLLM] != want || len(got.rows) != 0 {
			t.Errorf("%s: %d rows, skipped %v, want %d spans", name, len(got.rows), got.skipped, want)
		}
	}
}

// Values at the edges: what cannot be read is unknown, never wrong, and an object without spans is refused.
func TestJaegerHostile(t *testing.T) {
	span := func(members string) *trace.Request {
		got := decodeJSON(t, Jaeger(), decode.Options{}, `{"traceID":"1","operationName":"chat","tags":[{"key":"gen_ai.operation.name","value":"chat"},{"key":"s","vType":"BOOL"},7,null],`+members+`}`)
		if len(got.rows) != 1 {
			t.Fatalf("%s: %d rows", members, len(got.rows))
		}
		return got.rows[0]
	}
	for members, want := range map[string][2]any{
		`"startTime":1735689600000000,"duration":-5`:                      {int64(1735689600000000), nil},
		`"startTime":1735689600000000,"duration":"x"`:                     {int64(1735689600000000), nil},
		`"startTime":1735689600000000,"duration":0`:                       {int64(1735689600000000), int64(0)},
		`"startTime":9223372036854775807,"duration":5`:                    {nil, nil},
		`"startTime":1735689600000000,"duration":9223372036854775`:        {int64(1735689600000000), nil},
		`"startTime":"never","duration":"5s"`:                             {nil, nil},
		`"startTime":{"low":1,"high":0},"duration":"0.25s","logs":[1,{}]`: {int64(1), int64(250000)},
	} {
		if r := span(members); show(r.Arrival) != want[0] || show(r.EndUS) != want[1] {
			t.Errorf("%s: arrival %v, end %v, want %v", members, show(r.Arrival), show(r.EndUS), want)
		}
	}
	for _, c := range []struct {
		f      decode.Format
		record string
	}{{Jaeger(), `{"data":[]}`}, {Jaeger(), `{"spans":[]}`}, {Jaeger(), `{"data":[1]}`}, {Zipkin(), `{"traceId":"1"}`}, {Triton(), `{"id":1}`}} {
		v, err := decode.Parse([]byte(c.record))
		if err != nil {
			t.Fatal(err)
		}
		_, ctx := newRun(decode.Options{})
		one := c.f.JSON
		if c.f.Group != nil {
			one = c.f.Group().JSON
		}
		if err := one(ctx, v); err == nil {
			t.Errorf("%s: accepted by %s", c.record, c.f.Name)
		}
	}
}

// Zipkin's annotations in three writings; an error is a tag with a text; without a kind a span is internal.
func TestZipkinEvents(t *testing.T) {
	for text, want := range map[string]string{
		"First Token Stream Event":                         "First Token Stream Event map[]",
		`"exception": {"exception.type":"x.TimeoutError"}`: `exception map[exception.type:x.TimeoutError]`,
		`exception|{"exception.type":"E"}|0`:               "exception map[exception.type:E]",
		`exception|{"exception.type":"E"}`:                 "exception map[exception.type:E]",
		`"broken`:                                          `"broken map[]`,
		`a|b`:                                              `a map[]`,
	} {
		e := new(memory).annotation(text)
		list := map[string]string{}
		for _, x := range e.attrs.list {
			list[x.name] = e.attrs.text(x.name)
		}
		b, _ := json.Marshal(list)
		if got := e.name + " map[" + strings.NewReplacer(`{`, "", `}`, "", `"`, "").Replace(string(b)) + "]"; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	got := decodeJSON(t, Zipkin(), decode.Options{}, `{"traceId":"a","id":"b","name":"x","timestamp":1735689600000000,"duration":10,"tags":{"gen_ai.operation.name":"chat","error":"429 slow down"},"annotations":[{"timestamp":1735689600000005,"value":"First Token Stream Event"}]}`)
	if r := got.rows[0]; r.ErrorClass != "rate_limited" || *r.HTTPStatus != 429 || r.Vantage != "client" || *r.EndUS != 10 {
		t.Errorf("got %+v", r)
	}
}

// Two requests of 27 and 2 ms; a step of an ensemble; one that never started. The clock is the machine's: no time of day.
func TestTriton(t *testing.T) {
	got, c := newRun(decode.Options{})
	g := Triton().Group()
	for _, record := range []string{`{"id":1,"model_name":"ens","model_version":1,"request_id":"r-7"}`, `{"id":2,"model_name":"step","parent_id":1}`,
		`{"id":1,"timestamps":[{"name":"REQUEST_START","ns":5000000000},{"name":"QUEUE_START","ns":5001000000}]}`,
		`{"id":3,"model_name":"m","timestamps":[{"name":"REQUEST_START","ns":6000000499},{"name":"REQUEST_END","ns":6002000999}]}`,
		`{"id":1,"timestamps":[{"name":"COMPUTE_START","ns":5004500000},{"name":"REQUEST_END","ns":5027000000},{"name":"REQUEST_END","ns":9}]}`,
		`{"id":4,"model_name":"m"}`} {
		v, err := decode.Parse([]byte(record))
		c.Line++
		if err != nil || g.JSON(c, v) != nil {
			t.Fatalf("%s: refused", record)
		}
	}
	g.End(c)
	base := trace.Request{Attempt: 1, Vantage: "engine", ClockDomain: "monotonic", TimePrecision: 1, ErrorClass: "unknown", SourceFormat: "triton", SourceFile: "spans.json"}
	one, three := base, base
	one.RequestID, one.RootRequestID, one.Arrival, one.EndUS, one.QueueUS, one.ModelServed, one.SourceLine = "r-7", "r-7", trace.Ptr(int64(5000000)), trace.Ptr(int64(27000)), trace.Ptr(int64(3500)), "ens", 1
	three.RequestID, three.RootRequestID, three.Arrival, three.EndUS, three.ModelServed, three.SourceLine = "spans.json:3", "spans.json:3", trace.Ptr(int64(6000000)), trace.Ptr(int64(2001)), "m", 4
	three.Quality = "id_derived"
	if diff := cmp.Diff([]*trace.Request{&one, &three}, got.rows); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"part_of_request": 6, "duplicate_view": 1, "no_start": 1}, got.skipped); diff != "" {
		t.Errorf("skipped: -want +got\n%s", diff)
	}
}
