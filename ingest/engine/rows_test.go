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

// oldVLLM: the lines of V0 (a prompt that quotes a log line), one finished, one aborted, one of the next year.
const oldVLLM = `INFO 12-31 23:59:58 logger.py:39] Received request cmpl-7-0: prompt: "x] Received request evil: , params: SamplingParams(max_tokens=9, ", params: SamplingParams(n=1, stop=[], max_tokens=16, min_tokens=0), prompt_token_ids: [1, 2], lora_request: None.
INFO 12-31 23:59:58 async_llm_engine.py:174] Added request cmpl-7-0.
INFO 12-31 23:59:59 logger.py:39] Received request chatcmpl-8: prompt: 'y', params: SamplingParams(n=1, max_tokens=32), lora_request: None.
INFO 01-01 00:00:01 async_llm_engine.py:140] Finished request cmpl-7-0.
INFO 01-01 00:00:02 async_llm_engine.py:150] Aborted request chatcmpl-8.
INFO 01-01 00:00:03 logger.py:39] Received request chatcmpl-8: prompt: 'y', params: SamplingParams(n=1, max_tokens=NaN), lora_request: None.
INFO 99-99 00:00:03 logger.py:39] Received request chatcmpl-9: x.
INFO:     127.0.0.1:1 - "POST /v1/chat/completions HTTP/1.1" 200 OK`

// outputsVLLM: with --enable-log-outputs.
const outputsVLLM = `(APIServer pid=1) INFO 02-29 00:00:01 [logger.py:65] Received request chatcmpl-a: params: SamplingParams(n=1, max_tokens=4), lora_request: None.
(APIServer pid=1) INFO 02-29 00:00:02 [logger.py:90] Generated response chatcmpl-a (streaming delta): output: ' x', output_token_ids: [5], finish_reason: None
(APIServer pid=1) INFO 02-29 00:00:04 [logger.py:90] Generated response chatcmpl-a (streaming complete): output: ' x (streaming complete): finish_reason: stop', output_token_ids: None, finish_reason: length`

// TestVLLMLog: 31 December is day 366 of a leap year: 365*86400 + 86398 s.
func TestVLLMLog(t *testing.T) {
	res := read(t, VLLMLog(), oldVLLM)
	if len(res.rows) != 3 || res.skipped[partOfRequest] != 3 || res.skipped[otherLine] != 3 {
		t.Fatalf("%d rows, refused %q, skipped %v", len(res.rows), res.refused, res.skipped)
	}
	want := &trace.Request{RequestID: "cmpl-7-0", RootRequestID: "cmpl-7-0", Attempt: 1, ResponseID: "cmpl-7", Arrival: n((365*86400 + 86398) * 1e6), EndUS: n(3e6), Vantage: "engine",
		ClockDomain: "relative", TimePrecision: 1e6, ErrorClass: "ok", EndpointKind: "completions", MaxTokens: n(16), SourceFormat: "vllm-log", SourceFile: "in.log", SourceLine: 1,
		Quality: "tokens_missing"}
	if diff := cmp.Diff(want, res.rows[0]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if r := res.rows[1]; r.ErrorClass != "client_cancel" || !is(r.EndUS, 3e6) || !is(r.MaxTokens, 32) || r.EndpointKind != "chat" {
		t.Errorf("aborted: %+v", r)
	}
	if r := res.rows[2]; r.ErrorClass != "unknown" || r.EndUS != nil || r.MaxTokens != nil || !is(r.Arrival, (366*86400+3)*1e6) {
		t.Errorf("the next year, never ended: %+v", r)
	}
	if r := oneRow(t, VLLMLog(), outputsVLLM); !is(r.Arrival, (59*86400+1)*1e6) || !is(r.EndUS, 3e6) || r.FinishReason != "length" || r.Stream == nil || !*r.Stream || r.ErrorClass != "ok" {
		t.Errorf("with outputs: %+v", r)
	}
}

// statsVLLM: V1's statistics, then a dump whose last token was never set and one of a steady clock.
const statsVLLM = `{"request_id":"v1","num_cached_tokens":2,"prompt_token_ids":[1,2,3],"metrics":{"arrival_time":1714194067.5,"queued_ts":100.0,"scheduled_ts":100.25,"first_token_ts":100.75,"last_token_ts":102.75,"first_token_latency":0.8,"num_generation_tokens":5}}
{"arrival_time":1714194067.9569736,"last_token_time":1714194067.9569736,"first_scheduled_time":1714194067.95995,"first_token_time":1714194068.014371,"time_in_queue":0.0029764175415039062,"finished_time":1714194070.7369564,"outputs":[{"token_ids":[7,8],"finish_reason":"stop"},{"token_ids":[9]}]}
{"arrival_time":50.5,"last_token_time":52,"first_scheduled_time":null,"first_token_time":51,"time_in_queue":0.25}
{"arrival_time":"NaN","time_in_queue":1,"last_token_time":2}
{"arrival_time":1714194067,"first_scheduled_time":1714194060,"first_token_time":0,"time_in_queue":-5,"last_token_time":1e300}`

// TestVLLMMetrics: the second object is the dump of a public issue: 67.959950-67.956974 is 2976 us of waiting, 68.014371-
// 67.959950 is 54421 us of prefill, 57397 us to the first token, 2779983 us in all; its last_token_time is its arrival.
func TestVLLMMetrics(t *testing.T) {
	res := read(t, VLLMMetrics(), statsVLLM)
	if len(res.rows) != 4 || len(res.refused) != 1 || !strings.Contains(res.refused[0], "no_time") {
		t.Fatalf("%d rows, refused %q", len(res.rows), res.refused)
	}
	want := &trace.Request{RequestID: "v1", RootRequestID: "v1", Attempt: 1, ResponseID: "v1", Arrival: n(1714194067500000), FirstUS: n(800000), QueueUS: n(250000), PrefillUS: n(500000),
		DecodeUS: n(2000000), TTFTKind: "engine_first_token", Vantage: "engine", ClockDomain: "wall", TimePrecision: 1, ErrorClass: "unknown", InputTokens: n(3), CachedInputTokens: n(2),
		OutputTokens: n(5), TokensSource: "usage", SourceFormat: "vllm-metrics", SourceFile: "in.log", SourceLine: 1}
	if diff := cmp.Diff(want, res.rows[0]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if r := res.rows[1]; !is(r.Arrival, 1714194067956974) || !is(r.QueueUS, 2976) || !is(r.PrefillUS, 54421) || !is(r.FirstUS, 57397) || !is(r.EndUS, 2779982) || r.LastUS != nil ||
		r.DecodeUS != nil || !is(r.OutputTokens, 3) || r.ErrorClass != "ok" {
		t.Errorf("V0: %+v", r)
	}
	if r := res.rows[2]; r.ClockDomain != "relative" || !is(r.QueueUS, 250000) || !is(r.FirstUS, 500000) || !is(r.LastUS, 1500000) || r.PrefillUS != nil {
		t.Errorf("a steady clock: %+v", r)
	}
	if r := res.rows[3]; r.QueueUS != nil || r.PrefillUS != nil || r.FirstUS != nil || r.LastUS != nil || !r.HasQuality(trace.QNegative) {
		t.Errorf("hostile: %+v", r)
	}
}

// abortedSGLang is a line of a public issue (0.5.10), shortened: a running request that hit its time limit.
const abortedSGLang = "1779264164565\t2026-05-20T08:02:44.565Z\tFinish: obj=GenerateReqInput(rid='bf890d9ca8ce4008bef7ef25d97f8fba', http_worker_ipc=None, video_data=None, sampling_params={'temperature': 1.0, 'max_new_tokens': 32000, 'stop': None}, return_logprob=False, stream=True, log_metrics=True, received_time=26519772.456564333), out={'meta_info': {'id': 'bf890d9ca8ce4008bef7ef25d97f8fba', 'finish_reason': {'type': 'abort', 'message': 'Request running timeout reached.', 'status_code': 503, 'err_type': None}, 'prompt_tokens': 32472, 'weight_version': 'default', 'total_retractions': 0, 'queue_time': 0.0, 'prefill_waiting_latency': None, 'reasoning_tokens': 23297, 'completion_tokens': 23297, 'cached_tokens': 32320, 'cached_tokens_details': {'device': 32320, 'host': 0}, 'dp_rank': None, 'e2e_latency': 1201.9242150001228, 'request_received_ts': 1779262962.6408873, 'response_sent_to_client_ts': 1779262965.4523866, 'request_finished_ts': 1779264164.565102, 'inference_time': 26520974.380779333, 'decode_throughput': 19.428522417494694}}"

// sglangText: without --enable-metrics; the prompt quotes another line. One never finishes, one is a probe.
const sglangText = `[2026-08-12 10:41:01] Receive: obj=GenerateReqInput(rid='a', text="Finish: obj=GenerateReqInput(rid='evil'), out={'meta_info': {}}", sampling_params={'max_new_tokens': 8}, stream=False, x=1)
[2026-08-12 10:41:02 TP0] Receive: obj=GenerateReqInput(rid='b', text='q', stream=True, x=1)
[2026-08-12 10:41:02] Decode batch. #running-req: 1, #token: 33
[2026-08-12 10:41:05] Finish: obj=GenerateReqInput(rid='a', text="Finish: obj=GenerateReqInput(rid='evil'), out={'meta_info': {}}", sampling_params={'max_new_tokens': 8}, stream=False, x=1), out={'text': "it's 'meta_info': {", 'meta_info': {'id': 'a', 'finish_reason': {'type': 'stop', 'matched': [1, (2, 'x')]}, 'prompt_tokens': 12, 'completion_tokens': 5, 'cached_tokens': 0, 'e2e_latency': 3.75, 'queue_time': -4.5}}
[2026-08-12 10:41:06] Finish: obj=GenerateReqInput(rid='HEALTH_CHECK_1', x=1), out={'meta_info': {'id': 'HEALTH_CHECK_1', 'e2e_latency': 0.1}}
[2026-08-12 10:41:07] Finish: obj=GenerateReqInput(rid='c', x=1), out={'text': 'cut
[2026-08-12 10:41:08] Finish: obj=GenerateReqInput(rid='d', x=1), out={'meta_info': {'id': 'd', 'e2e_latency': `

// TestSGLang: the example's stamps are 0.1 s to the first token, 0.08 s of prefill, 1.15 s of decode; date -u gives
// 1786531265 for 2026-08-12 10:41:05.
func TestSGLang(t *testing.T) {
	want := &trace.Request{RequestID: "a1", RootRequestID: "a1", Attempt: 1, Arrival: n(1786531264000000), FirstUS: n(100000), EndUS: n(1250000), QueueUS: n(10000), PrefillUS: n(80000),
		DecodeUS: n(1150000), TTFTKind: "engine_first_token", Vantage: "engine", ClockDomain: "wall", TimePrecision: 1, ErrorClass: "ok", FinishReason: "length", Stream: trace.Ptr(true),
		InputTokens: n(500), CachedInputTokens: n(448), OutputTokens: n(64), MaxTokens: n(64), TokensSource: "usage", SourceFormat: "sglang", SourceFile: "in.log", SourceLine: 1}
	if diff := cmp.Diff(want, oneRow(t, SGLang(), SGLang().Example)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	want = &trace.Request{RequestID: "bf890d9ca8ce4008bef7ef25d97f8fba", RootRequestID: "bf890d9ca8ce4008bef7ef25d97f8fba", Attempt: 1, Arrival: n(1779262962640887), EndUS: n(1201924215),
		Vantage: "engine", ClockDomain: "wall", TimePrecision: 1, ErrorClass: "upstream_error", HTTPStatus: trace.Ptr(int32(503)), FinishReason: "abort", Stream: trace.Ptr(true),
		InputTokens: n(32472), CachedInputTokens: n(32320), OutputTokens: n(23297), ReasoningTokens: n(23297), MaxTokens: n(32000), TokensSource: "usage", SourceFormat: "sglang",
		SourceFile: "in.log", SourceLine: 1}
	if diff := cmp.Diff(want, oneRow(t, SGLang(), abortedSGLang)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	res := read(t, SGLang(), sglangText)
	if len(res.rows) != 2 || len(res.refused) != 2 || res.skipped["health_check"] != 1 || res.skipped[otherLine] != 1 || res.skipped[partOfRequest] != 2 {
		t.Fatalf("%d rows, refused %q, skipped %v", len(res.rows), res.refused, res.skipped)
	}
	if r := res.rows[0]; r.RequestID != "a" || !is(r.Arrival, 1786531265000000-3750000) || !is(r.EndUS, 3750000) || r.QueueUS != nil || r.FirstUS != nil || !is(r.OutputTokens, 5) ||
		r.TimePrecision != 1e6 || r.Quality != "arrival_derived,naive_time,negative_interval" || !is(r.MaxTokens, 8) {
		t.Errorf("text: %+v", r)
	}
	if r := res.rows[1]; r.RequestID != "b" || r.ErrorClass != "in_flight" || !is(r.Arrival, 1786531262000000) || !*r.Stream {
		t.Errorf("never finished: %+v", r)
	}
	// What the server prints to its terminal has the objects among other lines.
	mixed := "[2026-08-12 10:41:02] Decode batch. #running-req: 1\n" + strings.NewReplacer(`":`, `": `).Replace(SGLang().Example)
	if n := SGLang().Detect(&decode.Sample{Head: []byte(mixed)}); n < 2 {
		t.Errorf("%d signs in a mixed log", n)
	}
	res = &result{}
	c, g := newContext(res, decode.Options{}), SGLang().Group()
	for line := range strings.SplitSeq(mixed, "\n") {
		if err := g.Line(c, []byte(line)); err != nil {
			t.Error(err)
		}
	}
	if rows := res.rows; len(rows) != 1 || rows[0].RequestID != "a1" || !is(rows[0].FirstUS, 100000) {
		t.Errorf("mixed: %+v", rows)
	}
	if r := oneRow(t, SGLangMetrics(), SGLangMetrics().Example); r.RequestID != "a1" || !is(r.Arrival, 1786531264000000) || !is(r.CachedInputTokens, 448) || !*r.Stream || r.FirstUS != nil {
		t.Errorf("metrics file: %+v", r)
	}
	if res := read(t, SGLangMetrics(), `{"request_parameters":"{cut","finish_reason":7}`); len(res.refused) != 1 {
		t.Errorf("refused %q", res.refused)
	}
}

// ownLlama: /completion's own shape from the documentation of the server, with 23,780 cached tokens; then a build without
// cache_n, a chunk of a stream, and nonsense.
const ownLlama = `{"content":"x","stop_type":"limit","timings":{"cache_n":23780,"prompt_n":1037,"prompt_ms":100.5,"predicted_n":8,"predicted_ms":20.25}}
{"id":"c2","object":"chat.completion.chunk","created":1795961900,"choices":[{"finish_reason":"stop"}],"timings":{"prompt_n":17,"prompt_ms":10,"predicted_n":2,"predicted_ms":5}}
{"id":"c2","object":"chat.completion.chunk","choices":[{"delta":{"content":"x"}}]}
{"id":"c3","object":"chat.completion","created":"NaN","timings":{"prompt_n":-1,"prompt_ms":"x","predicted_n":1e40,"predicted_ms":-3,"cache_n":9223372036854775807}}
{"error":{"code":503}}`

func TestLlamaCPP(t *testing.T) {
	want := &trace.Request{RequestID: "chatcmpl-1", RootRequestID: "chatcmpl-1", Attempt: 1, ResponseID: "chatcmpl-1", Arrival: n(1795961900000000 - 58410), PrefillUS: n(35800),
		DecodeUS: n(22610), Vantage: "engine", ClockDomain: "wall", TimePrecision: 1e6, ErrorClass: "ok", FinishReason: "stop", EndpointKind: "chat", Stream: trace.Ptr(false),
		ModelServed: "m", InputTokens: n(107), CachedInputTokens: n(0), OutputTokens: n(27), TokensSource: "usage", SourceFormat: "llamacpp", SourceFile: "in.log", SourceLine: 1,
		Quality: "arrival_derived,queue_unseen"}
	if diff := cmp.Diff(want, oneRow(t, LlamaCPP(), LlamaCPP().Example)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	res := read(t, LlamaCPP(), ownLlama)
	if len(res.rows) != 3 || len(res.refused) != 1 || res.skipped["stream_chunk"] != 1 {
		t.Fatalf("%d rows, refused %q, skipped %v", len(res.rows), res.refused, res.skipped)
	}
	if r := res.rows[0]; !is(r.InputTokens, 24817) || !is(r.CachedInputTokens, 23780) || r.Arrival != nil || r.EndUS != nil || !is(r.PrefillUS, 100500) || r.FinishReason != "length" {
		t.Errorf("own shape: %+v", r)
	}
	if r := res.rows[1]; r.InputTokens != nil || r.CachedInputTokens != nil || r.FirstUS != nil || !*r.Stream {
		t.Errorf("without cache_n the prompt's length is unknown: %+v", r)
	}
	if r := res.rows[2]; r.PrefillUS != nil || r.DecodeUS != nil || r.EndUS != nil || r.OutputTokens != nil || r.ErrorClass != "unknown" {
		t.Errorf("hostile: %+v", r)
	}
}

// oldLlama: a build that writes no stamps and times a task after its release (from a public parser's test), a task that
// is cut, one that the next launch shows to be over, one that is still running.
const oldLlama = `slot launch_slot_: id  0 | task 0 | processing task
slot update_slots: id  0 | task 0 | new prompt, n_ctx_slot = 65024, n_keep = 0, n_prompt_tokens = 33
slot update_slots: id  0 | task 0 | kv cache rm [0, end)
slot      release: id  0 | task 0 | stop processing: n_past = 742, truncated = 0
slot print_timing: id  0 | task 0 |
prompt eval time =     990.30 ms /    33 tokens
eval time =   19521.92 ms /   710 tokens
total time =   20512.22 ms /   743 tokens
srv  update_slots: all slots are idle
0.01.000.000 I slot launch_slot_: id  1 | task 9 | processing task, is_child = 0
0.01.000.000 I slot print_timing: id  1 | task 9 | prompt eval time = 1 ms / 5 tokens
0.01.500.000 I slot print_timing: id  1 | task 9 |        eval time = 2 ms / 3 tokens
0.01.500.000 I slot print_timing: id  1 | task 9 |       total time = 3 ms / 8 tokens
0.01.500.000 I slot      release: id  1 | task 9 | stop processing: n_tokens = 4096, truncated = 1
0.02.000.000 I slot launch_slot_: id  1 | task 10 | processing task, is_child = 0
0.03.000.000 I slot launch_slot_: id  1 | task 11 | processing task, is_child = 0
0.04.000.000 I slot      release: id  1 | task 99 | stop processing: n_tokens = 1, truncated = 0
slot launch_slot_: id x | task | y`

func TestLlamaCPPLog(t *testing.T) {
	want := &trace.Request{RequestID: "in.log:1", RootRequestID: "in.log:1", Attempt: 1, Arrival: n(7002884), PrefillUS: n(35800), DecodeUS: n(22610), Vantage: "engine",
		ClockDomain: "relative", TimePrecision: 1, ErrorClass: "ok", InputTokens: n(107), CachedInputTokens: n(0), OutputTokens: n(27), TokensSource: "usage",
		SourceFormat: "llamacpp-log", SourceFile: "in.log", SourceLine: 1, Quality: "id_derived,queue_unseen"}
	if diff := cmp.Diff(want, oneRow(t, LlamaCPPLog(), LlamaCPPLog().Example)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	res := read(t, LlamaCPPLog(), oldLlama)
	if len(res.rows) != 4 || len(res.refused) != 0 {
		t.Fatalf("%d rows, refused %q, skipped %v", len(res.rows), res.refused, res.skipped)
	}
	if r := res.rows[0]; r.Arrival != nil || r.EndUS != nil || !is(r.PrefillUS, 990300) || !is(r.DecodeUS, 19521920) || !is(r.InputTokens, 33) || !is(r.CachedInputTokens, 0) || !is(r.OutputTokens, 710) {
		t.Errorf("an older build: %+v", r)
	}
	if r := res.rows[1]; r.InputTokens != nil || r.CachedInputTokens != nil || !is(r.Arrival, 1000000) || r.ErrorClass != "ok" {
		t.Errorf("a slot that was cut: %+v", r)
	}
	if r := res.rows[2]; r.ErrorClass != "in_flight" || !is(r.Arrival, 2000000) || r.EndUS != nil {
		t.Errorf("no release: %+v", r)
	}
	if r := res.rows[3]; r.ErrorClass != "in_flight" || !is(r.Arrival, 3000000) {
		t.Errorf("still running: %+v", r)
	}
	for text, want := range map[string]int64{"0.07.002.884 I slot x": 7002884, "Feb 16 03:40:19 host llama[1]: 352.53.225.930 I slot x": 21173225930, "[32947] 0.04.950.046 W slot x": 4950046} {
		if got := llamaClock(text); !is(got, want) {
			t.Errorf("%q: %v, want %d", text, got, want)
		}
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
	p := newPending(inFlight)
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
