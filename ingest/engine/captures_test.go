package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

func classes(rows []*trace.Request) map[string]int {
	m := map[string]int{}
	for _, r := range rows {
		m[r.ErrorClass]++
	}
	return m
}

// TestLlamaCapture: every task of the log against an independent reading of it, and the token counts against the usage
// that the client got. The log names uncached and generated tokens only; the whole prompt follows from the release line.
func TestLlamaCapture(t *testing.T) {
	type task struct {
		Task, Launch_unix_us, Release_unix_us int64
		Prompt_n, Predicted_n                 *int64
		Prompt_ms, Predicted_ms               *float64
		Input, Cached, Output                 *int64
	}
	res, truth := read(t, LlamaCPPLog(), file(t, "llamacpp.log.gz")), jsonLines[task](t, "llamacpp.truth.jsonl.gz")
	if len(res.rows) != 370 || len(res.refused) != 0 {
		t.Fatalf("%d rows, refused %q", len(res.rows), res.refused)
	}
	// Of 376 requests 6 never reached the engine. 348 were answered; 11 callers left, which the engine cannot see, because
	// the proxy reads on; 7 times the proxy itself hung up (its timeout); 4 prompts were too long for a slot.
	if got, want := classes(res.rows), map[string]int{"ok": 359, "client_cancel": 7, "context_length": 4}; !cmp.Equal(got, want) {
		t.Errorf("classes %v, want %v", got, want)
	}
	slices.SortStableFunc(res.rows, func(a, b *trace.Request) int { return int(*a.Arrival - *b.Arrival) })
	slices.SortStableFunc(truth, func(a, b task) int { return int(a.Launch_unix_us - b.Launch_unix_us) })
	start, counted := truth[0].Launch_unix_us-*res.rows[0].Arrival, 0
	for i, r := range res.rows {
		want := truth[i]
		if *r.Arrival+start != want.Launch_unix_us || r.ClockDomain != "relative" {
			t.Errorf("task %d: %+v", want.Task, r)
		}
		if want.Prompt_ms != nil && *r.PrefillUS+*r.DecodeUS > want.Release_unix_us-want.Launch_unix_us+20 { // the log rounds to 10 us
			t.Errorf("task %d: longer at work than in its slot (%d us): %+v", want.Task, want.Release_unix_us-want.Launch_unix_us, r)
		}
		if want.Prompt_ms != nil && (!is(r.PrefillUS, int64(*want.Prompt_ms*1000+0.5)) || !is(r.DecodeUS, int64(*want.Predicted_ms*1000+0.5)) || !is(r.OutputTokens, *want.Predicted_n)) {
			t.Errorf("task %d: stages %+v", want.Task, r)
		}
		if r.FirstUS != nil || r.EndUS != nil || r.QueueUS != nil || !r.HasQuality(trace.QQueueUnseen) {
			t.Errorf("task %d: a latency or a wait that the log does not know: %+v", want.Task, r)
		}
		if want.Input != nil {
			counted++
			if !is(r.InputTokens, *want.Input) || !is(r.CachedInputTokens, *want.Cached) || !is(r.OutputTokens, *want.Output) {
				t.Errorf("task %d: tokens %+v, the client was told %d (%d cached) in, %d out", want.Task, r, *want.Input, *want.Cached, *want.Output)
			}
		}
	}
	if counted != 322 {
		t.Errorf("%d tasks with usage, want 322", counted)
	}
}

// TestVLLMCapture: the client's 420 requests that were answered with 200 are in the log, its 14 cancelled ones as such; the
// other 18 rows are the warm-up's, 4 of them cancelled. How the rest ended the log does not say. Whole seconds are cut off.
func TestVLLMCapture(t *testing.T) {
	type call struct {
		X, Outcome, Resp_id string
		Sent_ns, Status     int64
		Max_tokens          *int64
	}
	res := read(t, VLLMLog(), file(t, "vllm.log.gz"))
	if got, want := classes(res.rows), map[string]int{"unknown": 420, "client_cancel": 18}; !cmp.Equal(got, want) {
		t.Errorf("classes %v, want %v", got, want)
	}
	rows := map[string][]*trace.Request{}
	slices.SortStableFunc(res.rows, func(a, b *trace.Request) int { return int(a.SourceLine - b.SourceLine) })
	for _, r := range res.rows {
		rows[r.ResponseID] = append(rows[r.ResponseID], r)
		if r.ClockDomain != "relative" || r.TimePrecision != 1e6 || r.FirstUS != nil {
			t.Errorf("%+v", r)
		}
	}
	calls := jsonLines[call](t, "vllm.truth.jsonl.gz")
	slices.SortFunc(calls, func(a, b call) int { return int(a.Sent_ns - b.Sent_ns) })
	const newYear = 1767225600e6 // 2026-01-01; the log's calendar has a 29 February that 2026 has not
	for _, c := range calls {
		if c.Status != 200 {
			continue // the log has no id for them
		}
		id := c.Resp_id
		if id == "" { // left before the first token
			id = "chatcmpl-" + c.X
		}
		if len(rows[id]) == 0 {
			t.Errorf("%s is not in the log", id)
			continue
		}
		r := rows[id][0]
		rows[id] = rows[id][1:]
		if late := c.Sent_ns/1000 - newYear + 24*3600e6 - *r.Arrival; late < -50_000 || late >= 1_050_000 {
			t.Errorf("%s: sent %d us after the second of its line", id, late)
		}
		if (c.Outcome == "client_cancel") != (r.ErrorClass == "client_cancel") || c.Max_tokens != nil && !is(r.MaxTokens, *c.Max_tokens) {
			t.Errorf("%s: %s, limit %v: %+v", id, c.Outcome, *c.Max_tokens, r)
		}
	}
}

// TestVLLMCrash: the two requests in flight when the engine died failed; the log says so.
func TestVLLMCrash(t *testing.T) {
	res := read(t, VLLMLog(), file(t, "vllm-crash.log.gz"))
	failed := map[string]string{}
	for _, r := range res.rows {
		if r.ErrorClass != "unknown" {
			failed[r.RequestID] = r.ErrorClass
		}
	}
	if want := map[string]string{"chatcmpl-r0000": "upstream_error", "chatcmpl-r0005": "upstream_error"}; len(res.rows) != 10 || !cmp.Equal(failed, want) {
		t.Errorf("%d rows, failed %v, want %v", len(res.rows), failed, want)
	}
}

// TestOllamaCapture: the access lines in the order of the log beside the client's own durations in ms. A line of over a
// minute is cut to seconds (65,805.83 becomes 1m5s); the client measures up to 13 ms more. can1 hung up mid-answer: the
// log calls it 200. The last line is an unknown model.
func TestOllamaCapture(t *testing.T) {
	res := read(t, OllamaLog(), file(t, "ollama.log"))
	client := []struct {
		id, class string
		status    int32
		ms        float64
	}{{"t1", "client_error", 400, 12.28}, {"can0", "client_cancel", 500, 153.29}, {"s1", "ok", 200, 36707.17}, {"n1", "ok", 200, 46674.28}, {"s2", "ok", 200, 46009.78},
		{"s3", "ok", 200, 45964.47}, {"s4", "ok", 200, 46603.99}, {"m1", "ok", 200, 45808.5}, {"e429", "ok", 200, 45113.04}, {"can1", "ok", 200, 54519.02},
		{"e400", "ok", 200, 65805.83}, {"cut1", "ok", 200, 65641.77}, {"l1", "ok", 200, 65536.53}, {"e500", "ok", 200, 67726.62}}
	if len(res.rows) != len(client)+1 || res.skipped[otherLine] != 7 || res.skipped[partOfRequest] != 1 {
		t.Fatalf("%d rows, skipped %v", len(res.rows), res.skipped)
	}
	for i, c := range client {
		r, slack := res.rows[i], int64(13_000)
		if c.ms > 60_000 {
			slack = 1_000_000
		}
		if late := int64(c.ms*1000) - *r.EndUS; *r.HTTPStatus != c.status || r.ErrorClass != c.class || late < 0 || late > slack {
			t.Errorf("%s: %+v", c.id, r)
		}
	}
	want := &trace.Request{RequestID: "in.log:23", RootRequestID: "in.log:23", Attempt: 1, Arrival: n(1795957178000000 - 1329), EndUS: n(1329), Vantage: "engine", ClockDomain: "wall",
		TimePrecision: 1e6, ErrorClass: "client_error", HTTPStatus: trace.Ptr(int32(404)), EndpointKind: "chat", SourceFormat: "ollama-log", SourceFile: "in.log", SourceLine: 23,
		Quality: "arrival_derived,id_derived,naive_time"}
	if diff := cmp.Diff(want, res.rows[14]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	// Probes and model lists are no calls; a line that is none of GIN's is another line.
	other := read(t, OllamaLog(), strings.Join([]string{`[GIN] 2026/11/29 - 12:58:28 | 200 |    41µs | 127.0.0.1 | HEAD     "/"`, `[GIN] 2026/11/29 - 12:58:28 | 200 | 1.2ms | 127.0.0.1 | GET      "/api/tags"`,
		`[GIN] 2026/11/29`, `[GIN] 2026/11/29 - 12:58:28 | 200 | soon | 127.0.0.1 | POST "/api/chat"`, `[GIN] yesterday | 200 | 1ms | 127.0.0.1 | POST "/api/chat"`}, "\n"))
	if len(other.rows) != 0 || len(other.refused) != 2 || other.skipped["not_a_model_call"] != 2 || other.skipped[otherLine] != 1 {
		t.Errorf("%d rows, refused %q, skipped %v", len(other.rows), other.refused, other.skipped)
	}
	// An abort explains one 500 right behind it, and no later one.
	abort, failed := "level=INFO msg=\""+string(abortLine)+"\"\n", "[GIN] 2026/11/29 - 12:58:28 | 500 | 1.2ms | 127.0.0.1 | POST \"/api/chat\"\n"
	res = read(t, OllamaLog(), abort+failed+failed+abort+strings.Repeat(strings.Replace(failed, "500", "200", 1), 9)+failed)
	if got, want := classes(res.rows), map[string]int{"client_cancel": 1, "upstream_error": 2, "ok": 9}; !cmp.Equal(got, want) {
		t.Errorf("classes %v, want %v", got, want)
	}
}
