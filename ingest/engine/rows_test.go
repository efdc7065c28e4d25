package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// tgiTexts: lines of three versions, from issues and guides (2.4, 1.0, neuron).
const tgiTexts = `2024-12-10T21:49:50.317182Z  INFO text_generation_router::server: router/src/server.rs:2402: Connected
2024-12-10T21:50:03.478010Z  INFO chat_completions{total_time="735.200735ms" validation_time="955.594µs" queue_time="73.176µs" inference_time="734.172108ms" time_per_token="36.708605ms" seed="Some(13465365087046561476)"}: text_generation_router::server: router/src/server.rs:622: Success
2023-09-06T13:47:01.731233Z  INFO HTTP request{otel.name=POST /generate http.client_ip= http.flavor=1.1 http.host=127.0.0.1:8080 http.method=POST http.route=/generate http.scheme=HTTP http.target=/generate http.user_agent=curl/7.88.1 otel.kind=server trace_id=d6e2778955d17bf523e3dc568754ef3e}:generate{parameters=GenerateParameters { best_of: None, temperature: None, repetition_penalty: None, top_k: None, top_p: None, typical_p: None, do_sample: false, max_new_tokens: 20, return_full_text: None, stop: [" total_time=\"1s\""], truncate: None, watermark: false, details: false, decoder_input_details: false, seed: None, top_n_tokens: None } total_time="986.532642ms" validation_time="681.374µs" queue_time="188.125µs" inference_time="985.66325ms" time_per_token="49.283162ms" seed="None"}: text_generation_router::server: router/src/server.rs:289: Success
2024-11-03T14:51:27.393883Z  INFO generate_stream{parameters=GenerateParameters { best_of: None, do_sample: false, max_new_tokens: Some(100), return_full_text: None, stop: [] } total_time="4.065504959s" validation_time="440.038965ms" queue_time="94.981µs" inference_time="3.625371193s" time_per_token="38.982485ms" seed="None"}: text_generation_router::server: router/src/server.rs:402: Success
2024-11-03T14:51:28.393883Z ERROR generate{parameters=GenerateParameters { best_of: None }}: text_generation_router::infer: router/src/infer.rs:1: Request failed during generation`

const tgiObject = `{"timestamp":"2024-12-10T21:50:03.478010Z","level":"INFO","message":"Success","target":"text_generation_router::server","span":{"inference_time":"734.172108ms","parameters":"GenerateParameters { max_new_tokens: Some(7), stop: [\"max_new_tokens: 9\"] }","queue_time":"73.176µs","time_per_token":"36.708605ms","total_time":"735.200735ms","name":"generate"},"spans":[{"http.route":"/generate","name":"HTTP request"}]}`

// TestTGI: 735.200735 ms before 1733867403.478010 (date -u); 734172108 ns / 20 = 36708605.4, 985663250/20 = 49283162.5 and
// 3625371193/93 = 38982485.9: 20, 20 and 93 tokens.
func TestTGI(t *testing.T) {
	res := read(t, TGI(), tgiTexts)
	if len(res.rows) != 3 || len(res.refused) != 0 || res.skipped[otherLine] != 1 || res.skipped["error_line"] != 1 {
		t.Fatalf("%d rows, refused %q, skipped %v", len(res.rows), res.refused, res.skipped)
	}
	want := &trace.Request{RequestID: "in.log:2", RootRequestID: "in.log:2", Attempt: 1, Arrival: n(1733867403478010 - 735201), EndUS: n(735201), QueueUS: n(73), Vantage: "engine",
		ClockDomain: "wall", TimePrecision: 1, ErrorClass: "ok", EndpointKind: "chat", OutputTokens: n(20), TokensSource: "usage", SourceFormat: "tgi", SourceFile: "in.log",
		SourceLine: 2, Quality: "arrival_derived,id_derived"}
	if diff := cmp.Diff(want, res.rows[0]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	want = &trace.Request{RequestID: "in.log:3", RootRequestID: "in.log:3", Attempt: 1, Arrival: n(1694008021731233 - 986533), EndUS: n(986533), QueueUS: n(188), Vantage: "engine",
		ClockDomain: "wall", TimePrecision: 1, ErrorClass: "ok", EndpointKind: "completions", Stream: trace.Ptr(false), OutputTokens: n(20), MaxTokens: n(20), TokensSource: "usage",
		SourceFormat: "tgi", SourceFile: "in.log", SourceLine: 3, Quality: "arrival_derived,id_derived"}
	if diff := cmp.Diff(want, res.rows[1]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if r := res.rows[2]; !is(r.EndUS, 4065505) || !is(r.OutputTokens, 93) || !is(r.MaxTokens, 100) || r.Stream == nil || !*r.Stream {
		t.Errorf("a stream: %+v", r)
	}
	if r := oneRow(t, TGI(), tgiObject); !is(r.Arrival, 1733867403478010-735201) || !is(r.OutputTokens, 20) || !is(r.MaxTokens, 7) || r.EndpointKind != "completions" || *r.Stream {
		t.Errorf("JSON: %+v", r)
	}
	// 3 is the only whole number that gives 3 from 10; 100/15 and 100/16 are both 6, 13/7 to 13/13 all 1.
	for text, want := range map[[2]string]int64{{"10ns", "3ns"}: 3, {"100ns", "6ns"}: 0, {"13ns", "1ns"}: 0, {"0s", "1ns"}: 0, {"1ms", "NaN"}: 0, {"-1s", "1ms"}: 0, {"1s", "2s"}: 0} {
		if got := tgiTokens(text[0], text[1]); (got == nil) != (want == 0) || got != nil && *got != want {
			t.Errorf("%v: %v, want %d", text, got, want)
		}
	}
	if r := oneRow(t, TGI(), "tgi-1  | "+strings.Split(tgiTexts, "\n")[1]); !is(r.Arrival, 1733867403478010-735201) {
		t.Errorf("behind a prefix: %+v", r)
	}
	bad := read(t, TGI(), strings.Replace(tgiObject, "735.200735ms", "-2s", 1)+"\n"+strings.Replace(tgiObject, "2024-12-10T", "soon", 1))
	if len(bad.refused) != 2 || len(bad.rows) != 0 {
		t.Errorf("refused %q", bad.refused)
	}
}

// TestOllama: the documentation's answer: 5589157 us in all, ended at 1721680408.123648 (date -u).
func TestOllama(t *testing.T) {
	want := &trace.Request{RequestID: "in.log:1", RootRequestID: "in.log:1", Attempt: 1, Arrival: n(1721680408123648 - 5589157), EndUS: n(5589157), PrefillUS: n(1160282), DecodeUS: n(1325948),
		Vantage: "engine", ClockDomain: "wall", TimePrecision: 1, ErrorClass: "ok", FinishReason: "stop", EndpointKind: "completions", ModelServed: "llama3.2", InputTokens: n(46),
		OutputTokens: n(113), TokensSource: "usage", SourceFormat: "ollama", SourceFile: "in.log", SourceLine: 1, Quality: "arrival_derived,id_derived"}
	if diff := cmp.Diff(want, oneRow(t, Ollama(), Ollama().Example)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	res := read(t, Ollama(), `{"model":"m","created_at":"2024-07-22T20:33:28Z","message":{"content":"x"},"done":false}
{"model":"m","created_at":"2024-07-22T20:33:28Z","response":"","done":true,"done_reason":"load"}
{"model":"m","created_at":"2024-07-22T20:33:28Z","message":{},"done":true,"total_duration":-5,"eval_duration":"NaN","prompt_eval_duration":0,"prompt_eval_count":0,"eval_count":-2}
{"model":"m","created_at":"soon","done":true,"total_duration":5}
{"done":"maybe"}
{"model":"m","created_at":"2024-07-22T20:33:28Z","message":{},"done":true,"total_duration":1000000,"prompt_eval_count":40,"prompt_eval_cached_count":32,"eval_count":2}`)
	if len(res.rows) != 2 || len(res.refused) != 2 || res.skipped["stream_chunk"] != 1 || res.skipped["no_generation"] != 1 {
		t.Fatalf("%d rows, refused %q, skipped %v", len(res.rows), res.refused, res.skipped)
	}
	if r := res.rows[0]; r.Arrival != nil || r.EndUS != nil || r.DecodeUS != nil || r.PrefillUS != nil || r.InputTokens != nil || r.OutputTokens != nil || r.ErrorClass != "unknown" {
		t.Errorf("hostile: %+v", r)
	}
	if r := res.rows[1]; !is(r.InputTokens, 40) || !is(r.CachedInputTokens, 32) || r.EndpointKind != "chat" {
		t.Errorf("cached: %+v", r)
	}
}

// disaggregated: the orchestrator's record of both halves; then stamps that were never set, and none.
const disaggregated = `{"request_id":"d","disagg_server_arrival_time":10.0,"ctx_perf_metrics":{"request_id":1,"perf_metrics":{"timing_metrics":{"server_arrival_time":10.1,"arrival_time":10.125,"first_scheduled_time":10.25,"first_token_time":10.5,"last_token_time":10.5}}},"gen_perf_metrics":{"perf_metrics":{"timing_metrics":{"server_arrival_time":10.6,"arrival_time":10.7,"first_scheduled_time":10.8,"first_token_time":11.0,"last_token_time":13.0}}}}
{"request_id":8,"perf_metrics":{"timing_metrics":{"server_arrival_time":null,"arrival_time":20,"first_scheduled_time":0.0,"first_token_time":0.0,"last_token_time":0.0}}}
{"request_id":9,"timing_metrics":{"arrival_time":"NaN","first_scheduled_time":1}}
{"request_id":9,"perf_metrics":null}
{"request_id":10,"timing_metrics":{"arrival_time":20,"first_scheduled_time":19,"first_token_time":1e300,"last_token_time":-1}}`

func TestTensorRTLLM(t *testing.T) {
	res := read(t, TensorRTLLM(), strings.Trim(TensorRTLLM().Example, "[]")+"\n"+disaggregated)
	if len(res.rows) != 4 || len(res.refused) != 2 {
		t.Fatalf("%d rows, refused %q", len(res.rows), res.refused)
	}
	want := &trace.Request{RequestID: "7", RootRequestID: "7", Attempt: 1, Arrival: n(100000000), FirstUS: n(200000), LastUS: n(1200000), QueueUS: n(40000), PrefillUS: n(150000), DecodeUS: n(1000000),
		TTFTKind: "engine_first_token", Vantage: "engine", ClockDomain: "relative", TimePrecision: 1, ErrorClass: "unknown", SourceFormat: "trtllm", SourceFile: "in.log", SourceLine: 1}
	if diff := cmp.Diff(want, res.rows[0]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if r := res.rows[1]; !is(r.Arrival, 10e6) || !is(r.FirstUS, 500000) || !is(r.LastUS, 3000000) || !is(r.QueueUS, 125000) || !is(r.PrefillUS, 250000) || !is(r.DecodeUS, 2000000) {
		t.Errorf("disaggregated: %+v", r)
	}
	if r := res.rows[2]; !is(r.Arrival, 20e6) || r.FirstUS != nil || r.QueueUS != nil || r.PrefillUS != nil || r.DecodeUS != nil {
		t.Errorf("unset stamps: %+v", r)
	}
	if r := res.rows[3]; r.QueueUS != nil || r.FirstUS != nil || r.LastUS != nil || !r.HasQuality(trace.QNegative) {
		t.Errorf("hostile: %+v", r)
	}
}

// TestPendingBounds: a log that begins requests without end gives up the oldest, in order, and each once.
func TestPendingBounds(t *testing.T) {
	res := &result{}
	c := newContext(res, decode.Options{})
	p := newPending(func(c *decode.Context, r **trace.Request) { c.Emit(*r, nil) })
	const all = maxOpen + 5000
	for i := range all {
		id := fmt.Sprint(i)
		p.add(c, id, newRow(c, "x", id))
		if i%2 == 1 {
			p.take(id)
		}
	}
	if len(res.rows) != 0 || len(p.order) > 4*maxOpen {
		t.Errorf("%d rows of %d open ones, %d kept", len(res.rows), all/2, len(p.order))
	}
	for i := range 2 * maxOpen {
		id := fmt.Sprint("b", i)
		p.add(c, id, newRow(c, "x", id))
	}
	if want := all/2 + maxOpen; len(res.rows) != want || res.rows[0].RequestID != "0" || res.rows[1].RequestID != "2" {
		t.Errorf("%d rows were given up, want %d", len(res.rows), want)
	}
	p.finish(c)
	if want := all/2 + 2*maxOpen; len(res.rows) != want || res.rows[want-1].RequestID != fmt.Sprint("b", 2*maxOpen-1) {
		t.Errorf("%d rows in the end, want %d", len(res.rows), want)
	}
}
