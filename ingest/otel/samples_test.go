package otel

import (
	"testing"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// Envoy AI Gateway's own samples: bare spans without ids or times. The values are the samples' llm.token_count.*.
func TestEnvoySamples(t *testing.T) {
	for _, c := range []struct {
		name, kind, class, finish string
		in, out, reasoning, max   any
		stream, status            any
	}{
		{"chat-basic", "chat", "ok", "stop", int64(8), int64(377), int64(320), nil, nil, nil},
		{"chat-streaming-detailed-usage", "chat", "ok", "length", int64(12), int64(100), int64(100), int64(100), true, nil},
		{"chat-streaming", "chat", "ok", "stop", nil, nil, nil, nil, true, nil},
		{"chat-parallel-tools", "chat", "ok", "tool_calls", int64(162), int64(219), int64(192), nil, nil, nil},
		{"chat-multimodal", "chat", "ok", "length", int64(2245), int64(100), int64(100), int64(100), nil, nil},
		{"chat-bad-request", "chat", "client_error", "", nil, nil, nil, int64(0), nil, int32(400)},
		{"completion-basic", "completions", "ok", "length", int64(31), int64(25), nil, int64(25), nil, nil},
		{"embeddings-unknown-model", "embeddings", "client_error", "", nil, nil, nil, nil, nil, int32(404)},
	} {
		r := only(t, string(readData(t, "samples/envoy-"+c.name+".json")))
		if r.EndpointKind != c.kind || r.ErrorClass != c.class || r.FinishReason != c.finish || r.Arrival != nil || r.FirstUS != nil {
			t.Errorf("%s: kind %q, class %q, finish %q, arrival %v, first %v", c.name, r.EndpointKind, r.ErrorClass, r.FinishReason, show(r.Arrival), show(r.FirstUS))
		}
		if show(r.InputTokens) != c.in || show(r.OutputTokens) != c.out || show(r.ReasoningTokens) != c.reasoning || show(r.MaxTokens) != c.max {
			t.Errorf("%s: tokens %v, %v, %v, max %v", c.name, show(r.InputTokens), show(r.OutputTokens), show(r.ReasoningTokens), show(r.MaxTokens))
		}
		if show(r.Stream) != c.stream || show(r.HTTPStatus) != c.status {
			t.Errorf("%s: stream %v, status %v", c.name, show(r.Stream), show(r.HTTPStatus))
		}
	}
	r := only(t, string(readData(t, "samples/envoy-chat-basic.json")))
	if r.ModelRequested != "gpt-5-nano" || r.ModelServed != "gpt-5-nano-2025-08-07" || r.ResponseID != "chatcmpl-C4Gm9xikLXbgE8He0BHWeoM03aa72" {
		t.Errorf("asked %q, served %q, response %q", r.ModelRequested, r.ModelServed, r.ResponseID)
	}
}

func TestFlatSamples(t *testing.T) {
	got := decodeJSON(t, Flat(), decode.Options{}, string(readData(t, "samples/flat-simple-chain.json")), string(readData(t, "samples/flat-prefix-sharing.json")))
	if len(got.rows) != 3+7 {
		t.Fatalf("%d rows, want 10", len(got.rows))
	}
	r := got.rows[1] // "2026-02-25T10:00:03.000000" to "2026-02-25T10:00:05.000000", no zone
	if *r.Arrival != 1772013603000000 || *r.EndUS != 2000000 || !r.HasQuality(trace.QNaiveTime) || r.ErrorClass != trace.ClassOK {
		t.Errorf("arrival %d, end %d, quality %q, class %q", *r.Arrival, *r.EndUS, r.Quality, r.ErrorClass)
	}
	if r.TraceID != "paris_conversation_chain" || r.RequestID != "landmarks_question" || show(r.MaxTokens) != int64(500) || show(r.Turn) != int32(2) {
		t.Errorf("trace %q, id %q, max %v, turn %v", r.TraceID, r.RequestID, show(r.MaxTokens), show(r.Turn))
	}
	r = got.rows[3+3] // conversation, second turn: with zone, tokens in the names of 1.26
	if *r.Arrival != 1772100006000000 || r.HasQuality(trace.QNaiveTime) || show(r.InputTokens) != int64(180) || show(r.OutputTokens) != int64(60) || r.ParentSpanID != "span_conv_turn1" {
		t.Errorf("arrival %d, quality %q, tokens %v and %v, parent %q", *r.Arrival, r.Quality, show(r.InputTokens), show(r.OutputTokens), r.ParentSpanID)
	}
	for i, r := range got.rows[3+2 : 3+6] { // four turns of one conversation: one instruction, growing prefix
		if show(r.Turn) != int32(i+1) || r.SystemPromptHash != got.rows[3+2].SystemPromptHash || r.SystemPromptHash == "" {
			t.Errorf("turn %d: %v, %q", i+1, show(r.Turn), r.SystemPromptHash)
		}
	}
}

// Python's console exporter prints one span an object, ids with 0x.
func TestConsole(t *testing.T) {
	got := decodeJSON(t, Flat(), decode.Options{}, `{"name":"chat m","context":{"trace_id":"0x5b8efff798038103d269b633813fc60c","span_id":"0xeee19b7ec3c1b174","trace_state":"[]"},
		"kind":"SpanKind.CLIENT","parent_id":null,"start_time":"2026-01-01T00:00:00.250000Z","end_time":"2026-01-01T00:00:01.000000Z","status":{"status_code":"ERROR","description":"429 slow down"},
		"attributes":{"gen_ai.operation.name":"chat","gen_ai.request.model":"m"},"events":[],"links":[],"resource":{"attributes":{"service.name":"shop"},"schema_url":""}}`)
	r := got.rows[0]
	if r.TraceID != "5b8efff798038103d269b633813fc60c" || r.SpanID != "eee19b7ec3c1b174" || *r.Arrival != 1767225600250000 || *r.EndUS != 750000 ||
		r.ErrorClass != trace.ClassRateLimited || r.App != "shop" || r.ParentSpanID != "" {
		t.Errorf("%+v", r)
	}
}

func TestDetect(t *testing.T) {
	sample := func(records ...string) *decode.Sample {
		s := &decode.Sample{}
		for _, r := range records {
			v, err := decode.Parse([]byte(r))
			if err != nil {
				t.Fatal(err)
			}
			s.Records = append(s.Records, v)
		}
		return s
	}
	for name, record := range spellings {
		if n := JSON().Detect(sample(`{}`, record)); n < 2 {
			t.Errorf("%s: %d signs", name, n)
		}
	}
	for _, name := range []string{"otlp-logs", "otlp-metrics", "tempo", "envoy-chat-basic"} {
		if n := JSON().Detect(sample(string(readData(t, "samples/"+name+".json")))); n < 2 {
			t.Errorf("%s: %d signs", name, n)
		}
	}
	for _, other := range []string{`{"batches":[{"id":1}]}`, `{"name":"x","attributes":{"a":1}}`, `{"spans":[{"traceId":"x","operationName":"y"}]}`} {
		if n := JSON().Detect(sample(other)) + Flat().Detect(sample(other)); n >= 2 {
			t.Errorf("%s: %d signs of spans", other, n)
		}
	}
	if n := Flat().Detect(sample(string(readData(t, "samples/flat-simple-chain.json")))); n < 2 {
		t.Errorf("flat: %d signs", n)
	}
	message := frames(t, "otelcol/traces.proto.gz")[0]
	for what, s := range map[string]*decode.Sample{"whole": {Message: message}, "cut": {Message: message[:len(message)/2]},
		"logs": {Message: readData(t, "otlp-http-proto/logs-002.pb")}} {
		if n := Proto().Detect(s); n < 2 {
			t.Errorf("proto, %s: %d signs", what, n)
		}
	}
	if n := Proto().Detect(&decode.Sample{Message: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")}); n != 0 {
		t.Errorf("a picture: %d signs", n)
	}
}
