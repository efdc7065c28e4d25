package otel

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// langfuseRows are one generation as the API and as the blob export write it: 33 tokens beside 1408 cached ones are
// 1441, 20 beside 7 of reasoning are 27, and the total of 1468 says so.
var langfuseRows = map[string]string{
	"API": `{"id":"o1","traceId":"t1","parentObservationId":"p1","type":"GENERATION","name":"chat","startTime":"2026-11-24T14:00:00.000Z","completionStartTime":"2026-11-24T14:00:00.250Z","endTime":"2026-11-24T14:00:01.500Z",
		"latency":1.5,"timeToFirstToken":0.3,"model":"m","modelParameters":{"max_tokens":50,"stream":true},"usageDetails":{"input":33,"input_cached_tokens":1408,"output":20,"output_reasoning_tokens":7,"total":1468},
		"level":"DEFAULT","statusMessage":null,"input":[{"role":"user","content":"hi"}],"sessionId":"s1"}`,
	"a trace": `{"id":"t1","name":"x","observations":[{"id":"o0","traceId":"t1","type":"SPAN","startTime":"2026-11-24T14:00:00.000Z"},
		{"id":"o1","traceId":"t1","parentObservationId":"p1","type":"GENERATION","name":"chat","startTime":"2026-11-24T14:00:00.000Z","timeToFirstToken":0.25,"latency":1.5,"model":"m",
		"modelParameters":"{\"max_tokens\":50,\"stream\":true}","usageDetails":{"input":33,"input_cached_tokens":1408,"output":20,"output_reasoning_tokens":7,"total":1468},"input":"[{\"role\":\"user\",\"content\":\"hi\"}]","sessionId":"s1"}]}`,
	"blob": `{"id":"o1","trace_id":"t1","parent_observation_id":"p1","type":"GENERATION","name":"chat","start_time":"2026-11-24 14:00:00.000000","completion_start_time":"2026-11-24 14:00:00.250000","end_time":"2026-11-24 14:00:01.500000",
		"provided_model_name":"m","model_parameters":"{\"max_tokens\":50,\"stream\":true}","usage_details":{"input":"33","input_cached_tokens":"1408","output":"20","output_reasoning_tokens":"7","total":"1468"},"level":"DEFAULT","session_id":"s1",
		"input":"[{\"role\":\"user\",\"content\":\"hi\"}]"}`,
}

func TestLangfuseExport(t *testing.T) {
	us := func(n int64) *int64 { return &n }
	for name, record := range langfuseRows {
		got := decodeJSON(t, Langfuse(), decode.Options{}, record)
		if len(got.rows) != 1 {
			t.Errorf("%s: %d rows, skipped %v", name, len(got.rows), got.skipped)
			continue
		}
		r := got.rows[0]
		want := &trace.Request{RequestID: "o1", RootRequestID: "o1", Attempt: 1, TraceID: "t1", SpanID: "o1", ParentSpanID: "p1", SessionID: "s1", Turn: trace.Ptr(int32(1)),
			Arrival: us(1795528800000000), FirstUS: us(250000), EndUS: us(1500000), TTFTKind: "first_any_chunk", Vantage: "client", ClockDomain: "wall", TimePrecision: 1000, // date -u -d '2026-11-24 14:00' +%s
			ErrorClass: "ok", EndpointKind: "chat", Stream: trace.Ptr(true), ModelRequested: "m", InputTokens: us(1441), CachedInputTokens: us(1408), OutputTokens: us(27), ReasoningTokens: us(7), MaxTokens: us(50),
			TokensSource: "usage", SystemPromptTokens: us(0), PrefixHashIDs: r.PrefixHashIDs, SourceFormat: "langfuse", SourceFile: "spans.json", SourceLine: 1, Quality: "cached_added"}
		if name == "blob" {
			want.Quality = "cached_added,naive_time"
		}
		if diff := cmp.Diff(want, r); diff != "" || len(r.PrefixHashIDs) != 1 {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
		v, err := decode.Parse([]byte(record))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []decode.Format{JSON(), Flat(), Jaeger(), Zipkin(), Triton(), Langfuse()} {
			if n := f.Detect(&decode.Sample{Records: []*decode.Value{v}}); (n >= 2) != (f.Name == "langfuse") && name != "a trace" {
				t.Errorf("%s: %s sees %d signs", name, f.Name, n)
			}
		}
	}
}

// An error, a call without usage, an agent.
func TestLangfuseOutcomes(t *testing.T) {
	got := decodeJSON(t, Langfuse(), decode.Options{}, `{"id":"a","traceId":"t","type":"GENERATION","startTime":"2026-11-24T14:00:00Z","level":"ERROR","statusMessage":"429 Rate limit"}`,
		`{"id":"b","traceId":"t","type":"GENERATION","startTime":"2026-11-24T14:00:00Z","modelParameters":{"stream":true}}`, `{"id":"c","traceId":"t","type":"AGENT"}`,
		`{"id":"d","traceId":"t","type":"EMBEDDING","usageDetails":{"input":9}}`)
	if len(got.rows) != 3 || got.skipped[agentSpan] != 1 {
		t.Fatalf("%d rows, skipped %v", len(got.rows), got.skipped)
	}
	for i, want := range []string{"rate_limited", "unknown", "ok"} {
		if got.rows[i].ErrorClass != want {
			t.Errorf("%s: class %q, want %q", got.rows[i].RequestID, got.rows[i].ErrorClass, want)
		}
	}
	if got.rows[2].EndpointKind != "embeddings" || got.rows[2].Arrival != nil {
		t.Errorf("got %+v", got.rows[2])
	}
}

func FuzzLangfuse(f *testing.F) {
	for _, record := range langfuseRows {
		f.Add([]byte(record))
	}
	f.Fuzz(func(t *testing.T, b []byte) { fuzzTags(t, Langfuse(), walkLangfuse, b) })
}
