package otel

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
)

// spellings are one span in the dialects of ING-06 and ING-07.
var spellings = map[string]string{
	"canonical": `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"scope":{"name":"lib"},"spans":[
		{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","parentSpanId":"eee19b7ec3c1b173","name":"chat m","kind":3,
		"startTimeUnixNano":"1735689600000000123","endTimeUnixNano":"1735689602500000123","droppedAttributesCount":0,
		"attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.request.model","value":{"stringValue":"m"}},
			{"key":"gen_ai.usage.input_tokens","value":{"intValue":"9007199254740997"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"7"}},
			{"key":"gen_ai.request.stream","value":{"boolValue":true}},{"key":"gen_ai.response.time_to_first_chunk","value":{"doubleValue":0.25}},
			{"key":"gen_ai.response.finish_reasons","value":{"arrayValue":{"values":[{"stringValue":"stop"}]}}},
			{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"hi\"}]}]"}}],
		"status":{"code":1}}]}]}]}`,
	"snake case, numbers, enum names, upper case, old scope": `{"resource_spans":[{"resource":{"attributes":[{"key":"service.name","value":{"string_value":"shop"}}]},"instrumentation_library_spans":[{"instrumentation_library":{"name":"lib"},"spans":[
		{"trace_id":"5B8EFFF798038103D269B633813FC60C","span_id":"EEE19B7EC3C1B174","parent_span_id":"EEE19B7EC3C1B173","name":"chat m","kind":"SPAN_KIND_CLIENT",
		"start_time_unix_nano":1735689600000000123,"end_time_unix_nano":1735689602500000123,"dropped_attributes_count":-1,
		"attributes":[{"key":"gen_ai.operation.name","value":{"string_value":"chat"}},{"key":"gen_ai.request.model","value":{"string_value":"m"}},
			{"key":"gen_ai.usage.input_tokens","value":{"int_value":9007199254740997}},{"key":"gen_ai.usage.output_tokens","value":{"int_value":7}},
			{"key":"gen_ai.request.stream","value":{"bool_value":true}},{"key":"gen_ai.response.time_to_first_chunk","value":{"double_value":2.5e-1}},
			{"key":"gen_ai.response.finish_reasons","value":{"array_value":{"values":[{"string_value":"stop"}]}}},
			{"key":"gen_ai.input.messages","value":{"array_value":{"values":[{"kvlist_value":{"values":[{"key":"role","value":{"string_value":"user"}},
				{"key":"parts","value":{"array_value":{"values":[{"kvlist_value":{"values":[{"key":"type","value":{"string_value":"text"}},{"key":"content","value":{"string_value":"hi"}}]}}]}}}]}}]}}}],
		"status":{"code":"STATUS_CODE_OK"}}]}]}]}`,
	"tempo, base64 ids, attributes as a map": `{"batches":[{"resource":{"attributes":{"service.name":"shop"}},"instrumentationLibrarySpans":[{"instrumentationLibrary":{"name":"lib"},"spans":[
		{"traceId":"W47/95gDgQPSabYzgT/GDA==","spanId":"7uGbfsPBsXQ=","parentSpanId":"7uGbfsPBsXM=","name":"chat m","kind":"client",
		"startTimeUnixNano":"1735689600000000123","endTimeUnixNano":"1735689602500000123",
		"attributes":{"gen_ai.operation.name":"chat","gen_ai.request.model":"m","gen_ai.usage.input_tokens":"9007199254740997","gen_ai.usage.output_tokens":7,
			"gen_ai.request.stream":"True","gen_ai.response.time_to_first_chunk":"0.25","gen_ai.response.finish_reasons":["stop"],
			"gen_ai.input.messages":[{"role":"user","parts":[{"type":"text","content":"hi"}]}]},
		"status":{"code":"ok"}}]}]}]}`,
	"protobuf.js: halves of integers, bytes, one resource block": `{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"scope":{"name":"lib"},"spans":[
		{"traceId":{"type":"Buffer","data":[91,142,255,247,152,3,129,3,210,105,182,51,129,63,198,12]},"spanId":{"type":"Buffer","data":[238,225,155,126,195,193,177,116]},
		"parentSpanId":"0xeee19b7ec3c1b173","name":"chat m","kind":"SpanKind.CLIENT",
		"startTimeUnixNano":{"low":-1068040069,"high":404121726,"unsigned":true},"endTimeUnixNano":{"low":1431959931,"high":404121727,"unsigned":true},
		"attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.request.model","value":{"stringValue":"m"}},
			{"key":"gen_ai.usage.input_tokens","value":{"intValue":{"low":5,"high":2097152,"unsigned":false}}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":{"low":7,"high":0,"unsigned":false}}},
			{"key":"gen_ai.request.stream","value":{"boolValue":true}},{"key":"gen_ai.response.time_to_first_chunk","value":{"doubleValue":0.25}},
			{"key":"gen_ai.response.finish_reasons","value":{"arrayValue":{"values":[{"stringValue":"stop"}]}}},
			{"key":"gen_ai.input.messages","value":{"stringValue":"[{'role': 'user', 'parts': [{'type': 'text', 'content': 'hi'}]}]"}}],
		"status":{"code":1}}]}]}`,
}

func TestDialects(t *testing.T) {
	want := only(t, spellings["canonical"])
	for name, record := range spellings {
		if diff := cmp.Diff(want, only(t, record)); diff != "" {
			t.Errorf("%s (-canonical +this):\n%s", name, diff)
		}
	}
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"trace id", want.TraceID, "5b8efff798038103d269b633813fc60c"}, {"span id", want.SpanID, "eee19b7ec3c1b174"},
		{"parent", want.ParentSpanID, "eee19b7ec3c1b173"}, {"arrival", *want.Arrival, int64(1735689600000000)}, {"end", *want.EndUS, int64(2500000)},
		{"input", *want.InputTokens, int64(9007199254740997)}, {"first", *want.FirstUS, int64(250000)}, {"finish", want.FinishReason, "stop"},
		{"app", want.App, "shop"}, {"turn", *want.Turn, int32(1)}, {"precision", want.TimePrecision, int64(1)},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, c.got, c.want)
		}
	}
}

// ING-24: ids and counts beyond 2^53 stay apart, ids that are no hex stay as they are.
func TestBigValues(t *testing.T) {
	a := only(t, oneSpan(`{"gen_ai.request.model":"m","gen_ai.response.id":9007199254740997}`, ""))
	b := only(t, oneSpan(`{"gen_ai.request.model":"m","gen_ai.response.id":9007199254740996}`, ""))
	if a.ResponseID != "9007199254740997" || b.ResponseID != "9007199254740996" {
		t.Errorf("got %q and %q", a.ResponseID, b.ResponseID)
	}
	for in, want := range map[string]string{"0000000000000000": "", "AAAAAAAAAAA=": "", "simple_chain": "simple_chain", "DEADBEEFDEADBEEF": "deadbeefdeadbeef",
		"0x5b8efff798038103d269b633813fc60c": "5b8efff798038103d269b633813fc60c", "Session=": "Session=", "ABCDEF": "ABCDEF"} {
		if got := normalID(in); got != want {
			t.Errorf("normalID(%q) = %q, want %q", in, got, want)
		}
	}
}

// ING-26: exact names only, the first of two equal ones.
func TestKeyCase(t *testing.T) {
	r := only(t, oneSpan(`[{"key":"GEN_AI.REQUEST.MODEL","value":{"stringValue":"wrong"}},{"key":"gen_ai.request.model","value":{"stringValue":"right"}},
		{"key":"gen_ai.request.model","value":{"stringValue":"second"}}]`, ""))
	if r.ModelRequested != "right" {
		t.Errorf("model %q", r.ModelRequested)
	}
}

// A record that is no OTLP names the keys it has; logs and metrics are counted.
func TestOtherRecords(t *testing.T) {
	_, c := newRun(decode.Options{})
	c.Line = 7
	v, err := decode.Parse([]byte(`{"level":"info","msg":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := JSON().JSON(c, v); err == nil || err.Error() != `line 7: not_otlp: expected resourceSpans, got an object with the keys ["level" "msg"]` {
		t.Errorf("got %v", err)
	}
	if err := Flat().JSON(c, v); err == nil {
		t.Error("flat: want an error")
	}
	got := decodeJSON(t, JSON(), decode.Options{}, string(readData(t, "samples/otlp-logs.json")), string(readData(t, "samples/otlp-metrics.json")),
		string(readData(t, "samples/otlp-trace.json")), string(readData(t, "samples/tempo.json")))
	if diff := cmp.Diff(map[string]int{"log_record": 1, "metric": 4, notLLM: 2}, got.skipped); diff != "" || len(got.rows) != 0 {
		t.Errorf("%d rows, skipped (-want +got):\n%s", len(got.rows), diff)
	}
}
