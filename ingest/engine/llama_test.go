package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

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
