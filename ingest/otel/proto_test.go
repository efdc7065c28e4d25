package otel

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"reprise/ingest/decode"
)

// The collector wrote the same spans of three producers as JSON and as protobuf.
func TestProtoEqualsJSON(t *testing.T) {
	fromJSON := decodeJSON(t, JSON(), decode.Options{}, lines(t, "otelcol/traces.json.gz")...)
	fromProto := decodeProto(t, frames(t, "otelcol/traces.proto.gz")...)
	for _, r := range fromProto.rows {
		r.SourceFormat = "otlp"
	}
	if diff := cmp.Diff(fromJSON, fromProto, cmp.AllowUnexported(run{})); diff != "" {
		t.Errorf("-JSON +proto:\n%s", diff)
	}
	if len(fromJSON.rows) != 12+14+9 || fromJSON.skipped[agentSpan] != 28 { // js-otel, js-vercel7, js-traceloop
		t.Errorf("%d rows, skipped %v", len(fromJSON.rows), fromJSON.skipped)
	}
}

// The dialects' span, encoded by the collector's library instead of written by hand.
func TestProtoEqualsDialects(t *testing.T) {
	traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(spellings["canonical"]))
	if err != nil {
		t.Fatal(err)
	}
	b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
	if err != nil {
		t.Fatal(err)
	}
	got := decodeProto(t, b).rows[0]
	got.SourceFormat = "otlp"
	if diff := cmp.Diff(only(t, spellings["canonical"]), got); diff != "" {
		t.Errorf("-JSON +proto:\n%s", diff)
	}
}

func TestRawBodies(t *testing.T) {
	servers := truths(t, "otlp-http-proto/server.jsonl.gz", func(s server) string { return s.ResponseID })
	var bodies [][]byte
	for _, name := range []string{"014", "024", "030", "035", "040", "044"} {
		bodies = append(bodies, readData(t, "otlp-http-proto/traces-"+name+".pb"))
	}
	got := decodeProto(t, bodies...)
	if len(got.rows) != 12 {
		t.Fatalf("%d rows, want 12", len(got.rows))
	}
	for _, r := range got.rows {
		s, known := servers[r.ResponseID]
		switch {
		case r.ErrorClass != "ok" && r.ResponseID == "":
		case !known:
			t.Errorf("response %q is not the server's", r.ResponseID)
		case s.ID != "s4" && (show(r.InputTokens) != s.Prompt || show(r.OutputTokens) != s.Sent):
			t.Errorf("%s: tokens %v and %v, want %d and %d", s.ID, show(r.InputTokens), show(r.OutputTokens), s.Prompt, s.Sent)
		}
	}
	if logs := decodeProto(t, readData(t, "otlp-http-proto/logs-002.pb")); logs.skipped["log_record"] != 1 {
		t.Errorf("logs: skipped %v", logs.skipped)
	}
	_, c := newRun(decode.Options{})
	if err := Proto().Message(c, []byte("not a message")); err == nil {
		t.Error("want an error")
	}
}

// One request's span as vLLM sent it, and as it stands in the JSON of the same run.
func TestVLLMBody(t *testing.T) {
	body := decodeProto(t, readData(t, "otlp-http-proto/vllm.pb")).rows
	for _, r := range decodeJSON(t, JSON(), decode.Options{}, lines(t, "vllm/spans.jsonl.gz")...).rows {
		if r.SpanID == body[0].SpanID {
			body[0].SourceFormat, body[0].SourceLine = r.SourceFormat, r.SourceLine
			if diff := cmp.Diff(r, body[0]); diff != "" || len(body) != 1 {
				t.Errorf("%d rows; -JSON +proto:\n%s", len(body), diff)
			}
			return
		}
	}
	t.Error("span not found in the JSON")
}

// An AnyValue without a member is no value, as it is in protobuf: exporters write one for Python's None.
func TestEmptyValues(t *testing.T) {
	record := oneSpan(`[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.request.model","value":{}},{"key":"gen_ai.response.model","value":{"stringValue":"m"}},
		{"key":"gen_ai.conversation.id","value":{ }},{"key":"gen_ai.response.finish_reasons","value":{}},{"key":"gen_ai.system_instructions","value":{}},
		{"key":"gen_ai.input.messages","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"role","value":{"stringValue":"user"}},
			{"key":"content","value":{"arrayValue":{"values":[{},{"kvlistValue":{"values":[{"key":"type","value":{"stringValue":"tool"}},{"key":"x","value":{}}]}}]}}}]}}]}}}]`, "")
	r := only(t, record)
	if r.ModelRequested != "" || r.SessionID != "" || r.FinishReason != "" || r.SystemPromptHash != "" || len(r.PrefixHashIDs) == 0 {
		t.Errorf("model %q, session %q, finish reason %q, instructions %q, prompt %v", r.ModelRequested, r.SessionID, r.FinishReason, r.SystemPromptHash, r.PrefixHashIDs)
	}
	traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(record))
	if err != nil {
		t.Fatal(err)
	}
	m, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
	if err != nil {
		t.Fatal(err)
	}
	want := decodeProto(t, m).rows[0]
	want.SourceFormat = r.SourceFormat
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("-protobuf +JSON:\n%s", diff)
	}
}
