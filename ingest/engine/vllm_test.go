package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

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
	// With the year and the zone it is a wall time: date -u -d '2026-12-31 22:59:58' +%s is 1798757998; the year goes on.
	res = &result{}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	c, g := newContext(res, decode.Options{Year: 2026, Zone: berlin}), VLLMLog().Group()
	for line := range strings.SplitSeq(oldVLLM, "\n") {
		if err := g.Line(c, []byte(line)); err != nil {
			t.Error(err)
		}
	}
	if r := res.rows[0]; !is(r.Arrival, 1798757998e6) || !is(r.EndUS, 3e6) || r.ClockDomain != "wall" || !r.HasQuality(trace.QNaiveTime) {
		t.Errorf("with a year: %+v", r)
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
