package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

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
	if r := res.rows[1]; r.RequestID != "b" || r.ErrorClass != "unknown" || !is(r.Arrival, 1786531262000000) || !*r.Stream {
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
