package bench

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

// TestAIPerfRows: the documentation's samples. Start ...532900363 ns, ack ...650730976, end ...838764604; first token at
// 255.886568 ms (the key is there twice, the first counts); the gaps end at 297.525228 ms, which is the sample's own
// request_latency.
func TestAIPerfRows(t *testing.T) {
	data, err := os.ReadFile("testdata/aiperf-doc.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	res := documents(t, AIPerf(), string(data)+strings.Replace(string(data), `"benchmark_phase": "profiling"`, `"benchmark_phase": "warmup"`, 1))
	want := &trace.Request{RequestID: "7609a2e7-aa53-4ab1-98f4-f35ecafefd25", RootRequestID: "7609a2e7-aa53-4ab1-98f4-f35ecafefd25", Attempt: 1,
		SessionID: "77aa5b0e-b305-423f-88d5-c00da1892599", Turn: trace.Ptr(int32(1)), Arrival: n(1759813207532900), FirstUS: n(255887), HeadersUS: n(117831),
		LastUS: n(297525), EndUS: n(305864), GapsUS: []int32{255887, 4898, 5316, 4802, 5674, 4812, 5098, 5505, 5533}, TTFTKind: "first_any_chunk", Vantage: "client",
		ClockDomain: "wall", TimePrecision: 1, ErrorClass: "ok", Stream: trace.Ptr(true), InputTokens: n(550), OutputTokens: n(9), TokensSource: "estimated",
		SourceFormat: "aiperf", SourceFile: "in.json", SourceLine: 1, Quality: "tokens_estimated"}
	if diff := cmp.Diff(want, res.rows[0]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	want = &trace.Request{RequestID: "c35e4b1b-6775-4750-b875-94cd68e5ec15", RootRequestID: "c35e4b1b-6775-4750-b875-94cd68e5ec15", Attempt: 1,
		SessionID: "9526b41d-5dbc-41a5-a353-99ae06a53bc5", Turn: trace.Ptr(int32(1)), Arrival: n(1759879161119148), EndUS: n(625), Vantage: "client",
		ClockDomain: "wall", TimePrecision: 1, ErrorClass: "client_cancel", InputTokens: n(550), TokensSource: "estimated",
		SourceFormat: "aiperf", SourceFile: "in.json", SourceLine: 2, Quality: "tokens_estimated"}
	if diff := cmp.Diff(want, res.rows[1]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if len(res.rows) != 3 || res.skipped["warmup"] != 1 {
		t.Errorf("%d rows, skipped %v: the warm-up row must be skipped", len(res.rows), res.skipped)
	}
}

// The server's counts stand together: reasoning tokens by AIPerf's tokenizer may be more than the answer has by the server's.
func TestAIPerfUsage(t *testing.T) {
	metric := func(name string, n int) string { return fmt.Sprintf(`"%s":{"value":%d,"unit":"tokens"}`, name, n) }
	got := documents(t, AIPerf(), `{"metadata":{"request_start_ns":1000000000,"request_end_ns":2000000000,"benchmark_phase":"profiling"},"metrics":{`+
		strings.Join([]string{metric("usage_prompt_tokens", 100), metric("usage_completion_tokens", 40), metric("usage_prompt_cache_read_tokens", 64),
			metric("usage_reasoning_tokens", 30), metric("reasoning_token_count", 44), metric("input_sequence_length", 97), metric("output_sequence_length", 50)}, ",")+`}}`).rows[0]
	if r := [...]int64{*got.InputTokens, *got.CachedInputTokens, *got.OutputTokens, *got.ReasoningTokens}; r != [...]int64{100, 64, 40, 30} {
		t.Errorf("input, cached, output, reasoning: %v", r)
	}
}

var hostileAIPerf = []string{
	`{"metadata":{"request_start_ns":"NaN"}}`,
	`{"metadata":{"request_start_ns":1e400}}`,
	`{"metadata":{"request_start_ns":99999999999999999999}}`,
	`{"metadata":[],"metrics":7}`,
	`{"metadata":{"request_start_ns":1000000000,"request_end_ns":500000000},"metrics":{"time_to_first_token":{"value":-3,"unit":"ms"}}}`,
	`{"metadata":{"request_start_ns":1000000000,"request_end_ns":2000000000},"metrics":{"time_to_first_token":{"value":"NaN","unit":"ms"},"inter_chunk_latency":{"value":[1],"unit":"ms"}}}`,
	`{"metadata":{"request_start_ns":1000000000,"request_end_ns":2000000000},"metrics":{"time_to_first_token":{"value":3,"unit":"fortnights"}}}`,
	`{"metadata":{"request_start_ns":1000000000,"request_end_ns":9000000000},"metrics":{"time_to_first_token":{"value":3000000,"unit":"us"},"inter_chunk_latency":{"value":[1,"x"],"unit":"s"}}}`,
	`{"metadata":{"request_start_ns":1000000000,"request_end_ns":2000000000},"metrics":{"usage_prompt_tokens":{"value":-5},"usage_completion_tokens":{"value":1e30}},"error":{"code":503,"type":"Whatever"}}`,
	`{"metadata":{"request_start_ns":1000000000},"error":{"code":null,"type":"ClientConnectorError","message":"Cannot connect"}}`,
}

func TestAIPerfHostile(t *testing.T) {
	res := documents(t, AIPerf(), strings.Join(hostileAIPerf, "\n"))
	if len(res.refused) != 4 || len(res.rows) != 6 {
		t.Fatalf("%d rows, refused %q", len(res.rows), res.refused)
	}
	for _, r := range res.rows {
		sound(t, r)
	}
	if r := res.rows[0]; r.EndUS != nil || r.FirstUS != nil || r.Quality != "id_derived,negative_interval,tokens_missing" {
		t.Errorf("an end before the start and a first token before it: %+v", r)
	}
	if r := res.rows[1]; r.FirstUS != nil || r.GapsUS != nil || *r.EndUS != 1e6 {
		t.Errorf("NaN is not a time: %+v", r)
	}
	if r := res.rows[2]; r.FirstUS != nil {
		t.Errorf("an unknown unit gives no time: %+v", r)
	}
	if r := res.rows[3]; *r.FirstUS != 3e6 || r.GapsUS != nil {
		t.Errorf("the unit is us, the gaps are broken: %+v", r)
	}
	if r := res.rows[4]; r.ErrorClass != "upstream_error" || *r.HTTPStatus != 503 || r.InputTokens != nil || r.OutputTokens != nil {
		t.Errorf("503: %+v", r)
	}
	if r := res.rows[5]; r.ErrorClass != "network" || r.HTTPStatus != nil {
		t.Errorf("no connection: %+v", r)
	}
}

// oldGuide is the shape of 0.2 and 0.3 (neuralmagic/guidellm, src/guidellm/benchmark/benchmark.py at 00a210d).
const oldGuide = `{"benchmarks":[{"type_":"generative_benchmark","requests":{"successful":[{"type_":"generative_text_response","request_id":"q1","request_type":"chat_completions","scheduler_info":{"requested":true,"completed":true},"prompt":"hi","output":"a b","prompt_tokens":11,"output_tokens":3,"start_time":1700000000.25,"end_time":1700000001.5,"first_token_time":1700000000.75,"last_token_time":1700000001.25,"time_per_output_token_ms":166.7}],"incomplete":[],"errored":[{"type_":"generative_text_error","request_id":"q2","prompt_tokens":5,"output_tokens":0,"start_time":1700000002,"end_time":1700000002.5,"first_token_time":null,"last_token_time":null,"error":"Server error '503 Service Unavailable' for url 'http://x/v1/chat/completions'"}]}}]}`

// middleGuide is the shape between 0.3 and 0.4 (scheduler_info.request_timings, request_args an object).
const middleGuide = `{"benchmarks":[{"requests":{"successful":[{"type_":"generative_request_stats","request_id":"m1","request_type":"chat_completions","request_args":{"model":"m","stream":true,"max_tokens":9},"prompt_tokens":7,"output_tokens":4,"scheduler_info":{"status":"completed","request_timings":{"request_start":1700000000.5,"first_iteration":1700000000.75,"last_iteration":1700000001.5,"request_end":1700000001.75}},"time_per_output_token_ms":250}],"incomplete":[],"errored":[],"total":null}}]}`

// hostileGuide: cut by the tool before and after it was sent, an end before its start, text for numbers, no stamps.
const hostileGuide = `{"benchmarks":[{"requests":{"successful":[{"request_id":"h1","info":{"timings":{"request_start":1700000010,"request_end":1700000009,"first_token_iteration":"NaN","last_token_iteration":-4}},"output_metrics":{"total_tokens":"many"}},{"info":7},3],"incomplete":[{"request_id":"h2","info":{"timings":{"request_start":1700000011.5,"first_iteration":1700000012}}},{"request_id":"h3","info":{"status":"cancelled","timings":{"targeted_start":1700000020,"request_start":null}}}],"errored":null}},"x",null]}`

func TestGuideLLMRows(t *testing.T) {
	res := documents(t, GuideLLM(), oldGuide+"\n"+hostileGuide)
	if len(res.rows) != 6 || len(res.refused) != 0 || res.skipped["never_sent"] != 1 {
		t.Fatalf("%d rows, refused %q, skipped %v", len(res.rows), res.refused, res.skipped)
	}
	want := &trace.Request{RequestID: "q1", RootRequestID: "q1", Attempt: 1, Arrival: n(1700000000250000), FirstUS: n(500000), LastUS: n(1000000), EndUS: n(1250000),
		TTFTKind: "first_any_chunk", Vantage: "client", ClockDomain: "wall", TimePrecision: 1, ErrorClass: "ok", InputTokens: n(11), OutputTokens: n(3),
		TokensSource: "estimated", SourceFormat: "guidellm", SourceFile: "in.json", SourceLine: 1, Quality: "tokens_estimated"}
	if diff := cmp.Diff(want, res.rows[0]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if r := res.rows[1]; r.ErrorClass != "upstream_error" || *r.HTTPStatus != 503 || r.OutputTokens != nil || *r.EndUS != 500000 {
		t.Errorf("errored: %+v", r)
	}
	if r := res.rows[2]; r.EndUS != nil || r.FirstUS != nil || r.LastUS != nil || r.OutputTokens != nil {
		t.Errorf("hostile stamps: %+v", r)
	}
	if r := res.rows[5]; r.RequestID != "h2" || r.ErrorClass != "client_cancel" || *r.FirstUS != 500000 || r.EndUS != nil {
		t.Errorf("cut by the tool: %+v", r)
	}
	middle := documents(t, GuideLLM(), middleGuide).rows[0]
	if !cmp.Equal([]*int64{middle.Arrival, middle.FirstUS, middle.LastUS, middle.EndUS, middle.InputTokens, middle.OutputTokens, middle.MaxTokens},
		[]*int64{n(1700000000500000), n(250000), n(1000000), n(1250000), n(7), n(4), n(9)}) || middle.ModelRequested != "m" || middle.TTFTKind != "first_any_chunk" {
		t.Errorf("0.4: %+v", middle)
	}
	if res := documents(t, GuideLLM(), `{"benchmarks":[{"requests":{"successful":[]}}]}`); len(res.refused) != 1 || !strings.Contains(res.refused[0], "no_requests") {
		t.Errorf("refused %q", res.refused)
	}
}

// failedVLLM: an answer, a refusal and a lost connection, as vLLM's Python client writes them (no latencies).
const failedVLLM = `{"backend":"vllm","model_id":"m","input_lens":[9,8,7],"output_lens":[4,0,0],"ttfts":[0.25,0.0,0.0],"itls":[[0.0100004,0.0100004,0.5],[],[]],"start_times":[100.5,101,102],"errors":["","Too Many Requests","Traceback (most recent call last):\n  File \"x.py\", line 1\naiohttp.client_exceptions.ServerDisconnectedError: Server disconnected"]}`

// TestVLLMRows: offsets 250000, 260000.4, 270000.8 and 770000.8 us are rounded one by one, not summed from rounded gaps.
func TestVLLMRows(t *testing.T) {
	res := documents(t, VLLM(), failedVLLM)
	if len(res.rows) != 3 {
		t.Fatalf("%d rows, refused %q", len(res.rows), res.refused)
	}
	want := &trace.Request{RequestID: "in.json:1", RootRequestID: "in.json:1", Attempt: 1, Arrival: n(100500000), FirstUS: n(250000), LastUS: n(770001),
		GapsUS: []int32{250000, 10000, 10001, 500000}, TTFTKind: "first_any_chunk", Vantage: "client", ClockDomain: "relative", TimePrecision: 1, ErrorClass: "ok",
		EndpointKind: "completions", Stream: trace.Ptr(true), ModelRequested: "m", InputTokens: n(9), OutputTokens: n(4), TokensSource: "estimated",
		SourceFormat: "vllm-bench", SourceFile: "in.json", SourceLine: 1, Quality: "id_derived,tokens_estimated"}
	if diff := cmp.Diff(want, res.rows[0]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if r := res.rows[1]; r.ErrorClass != "rate_limited" || *r.HTTPStatus != 429 || r.FirstUS != nil || r.GapsUS != nil || r.OutputTokens != nil {
		t.Errorf("429: %+v", r)
	}
	if r := res.rows[2]; r.ErrorClass != "network" || r.HTTPStatus != nil || r.FirstUS != nil {
		t.Errorf("lost connection: %+v", r)
	}
	for line, want := range map[string]string{
		`{"ttfts":[0.1,0.2],"itls":[[]]}`: `bad_lists: expected 2 elements in "itls" as in ttfts, got 1`,
		`{"ttfts":[0.1],"errors":"none"}`: "bad_lists",
		`{"mean_ttft_ms":3}`:              "no_requests",
		`{"ttfts":[],"itls":[]}`:          "no_requests",
		`{"ttfts":"NaN","itls":null}`:     "no_requests",
	} {
		if res := documents(t, VLLM(), line); len(res.refused) != 1 || !strings.Contains(res.refused[0], want) {
			t.Errorf("%s: refused %q", line, res.refused)
		}
	}
	res = documents(t, VLLM(), `{"ttfts":[-1,"NaN",1e300,0.1,0.1],"itls":[[1],[1],[1],[-1],["x"]]}`)
	for _, r := range res.rows[:3] {
		if r.FirstUS != nil || r.GapsUS != nil || r.ErrorClass != "unknown" {
			t.Errorf("no first token: %+v", r)
		}
	}
	for _, r := range res.rows[3:] {
		if *r.FirstUS != 100000 || r.GapsUS != nil {
			t.Errorf("broken gaps: %+v", r)
		}
	}
}

// keptGenAI: a role chunk 10 ms in, content at 110 and 130, a finish chunk at 131, usage at 132, [DONE] at 133; then a
// request with stamps alone, one without a stamp, and one whose stamps go back.
const keptGenAI = `{"service_kind":"openai","endpoint":"v1/chat/completions","experiments":[{"experiment":{"mode":"request_rate","value":2},"requests":[{"timestamp":1745526100000000000,"request_inputs":{"payload":"{\"model\":\"m1\",\"messages\":[],\"max_tokens\":7,\"stream\":true}"},"response_timestamps":[1745526100010000000,1745526100110000000,1745526100130000000,1745526100131000000,1745526100132000000,1745526100133000000],"response_outputs":[{"response":"data: {\"id\":\"c1\",\"model\":\"m1-a\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"},{"response":"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"},{"response":"data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n"},{"response":"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n"},{"response":"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\n"},{"response":"data: [DONE]\n\n"}]},{"timestamp":1745526101000000000,"response_timestamps":[1745526101050000000,1745526101060000000]},{"timestamp":1745526102000000000,"response_timestamps":[]},{"timestamp":1745526103000000000,"response_timestamps":[1745526103050000000,1745526103040000000]}]}]}`

func TestGenAIPerfRows(t *testing.T) {
	res := documents(t, GenAIPerf(), keptGenAI)
	if len(res.rows) != 4 {
		t.Fatalf("%d rows, refused %q", len(res.rows), res.refused)
	}
	want := &trace.Request{RequestID: "in.json:1", RootRequestID: "in.json:1", Attempt: 1, ResponseID: "c1", Arrival: n(1745526100000000), FirstUS: n(110000), LastUS: n(130000),
		EndUS: n(133000), GapsUS: []int32{110000, 20000}, TTFTKind: "first_content_chunk", Vantage: "client", ClockDomain: "wall", TimePrecision: 1, ErrorClass: "ok",
		FinishReason: "length", EndpointKind: "chat", Stream: trace.Ptr(true), ModelRequested: "m1", ModelServed: "m1-a", InputTokens: n(5), CachedInputTokens: n(4),
		OutputTokens: n(2), MaxTokens: n(7), TokensSource: "usage", SourceFormat: "genai-perf", SourceFile: "in.json", SourceLine: 1, Quality: "id_derived"}
	if diff := cmp.Diff(want, res.rows[0]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if r := res.rows[1]; *r.FirstUS != 50000 || *r.LastUS != 60000 || r.TTFTKind != "first_any_chunk" || r.OutputTokens != nil {
		t.Errorf("stamps alone: %+v", r)
	}
	if r := res.rows[2]; r.ErrorClass != "unknown" || r.EndUS != nil {
		t.Errorf("no answer: %+v", r)
	}
	if r := res.rows[3]; r.GapsUS != nil || r.FirstUS != nil {
		t.Errorf("stamps that go back: %+v", r)
	}
	if res := documents(t, GenAIPerf(), `{"experiments":[{"requests":7}]}`); len(res.refused) != 1 {
		t.Errorf("refused %q", res.refused)
	}
}

const failedPerf = `{"start_time":10.5,"end_time":10.75,"request":"{\"model\":\"m\",\"prompt\":\"x\",\"max_tokens\":3,\"stream\":true}","response":"","info":{"input_tokens":4,"output_tokens":0,"output_token_times":[]},"error":{"error_type":"ClientOSError","error_msg":"[Errno 104]"}}`

func TestInferencePerfRows(t *testing.T) {
	res := documents(t, InferencePerf(), failedPerf+`
{"start_time":20,"end_time":21,"request":"{cut","info":{"input_tokens":4,"output_tokens":2,"output_token_times":[20.25,20.5]},"error":null}
{"start_time":"NaN","end_time":21,"info":{}}
{"start_time":20,"end_time":19,"info":{"response_metrics":{"output_tokens":-3,"chunk_times":[20.5,"x"]}},"error":7}`)
	if len(res.rows) != 3 || len(res.refused) != 1 || !strings.Contains(res.refused[0], "no_time") {
		t.Fatalf("%d rows, refused %q", len(res.rows), res.refused)
	}
	want := &trace.Request{RequestID: "in.json:1", RootRequestID: "in.json:1", Attempt: 1, Arrival: n(10500000), EndUS: n(250000), Vantage: "client", ClockDomain: "relative",
		TimePrecision: 1, ErrorClass: "network", EndpointKind: "completions", Stream: trace.Ptr(true), ModelRequested: "m", InputTokens: n(4), MaxTokens: n(3),
		TokensSource: "estimated", SourceFormat: "inference-perf", SourceFile: "in.json", SourceLine: 1, Quality: "id_derived,tokens_estimated"}
	if diff := cmp.Diff(want, res.rows[0]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if res.bodies[0] != `{"model":"m","prompt":"x","max_tokens":3,"stream":true}` || res.bodies[1] != "" {
		t.Errorf("bodies %q", res.bodies)
	}
	if r := res.rows[1]; !cmp.Equal(r.GapsUS, []int32{250000, 250000}) || *r.OutputTokens != 2 || r.ErrorClass != "ok" {
		t.Errorf("the older shape: %+v", r)
	}
	if r := res.rows[2]; r.EndUS != nil || r.GapsUS != nil || r.OutputTokens != nil {
		t.Errorf("hostile: %+v", r)
	}
}
