package gateway

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

func n(v int64) *int64 { return &v }

// want starts a row of the capture; the cases below say what is different in each.
func want(line int64, id, session string, arrival, end int64) trace.Request {
	return trace.Request{SourceLine: line, RequestID: id, RootRequestID: id, SessionID: session, Arrival: &arrival, EndUS: &end,
		Attempt: 1, Turn: trace.Ptr(int32(1)), Vantage: "gateway", ClockDomain: "wall", TimePrecision: 1,
		EndpointKind: "chat", CachedResponse: trace.Ptr(false), Route: "/v1/chat/completions", Provider: "openai",
		ModelRequested: "demo-13m", ModelServed: "demo-13m", Replica: "127.0.0.1:8900",
		Deployment: "dce2e8f2903ed2d6c147d265d01134242e2c6e77b7adb342060770604d4e70c9",
		App:        "chat", SourceFormat: "litellm", SourceFile: "in.jsonl"}
}

// served completes a finished call.
func served(r trace.Request, responseID string, in, cached, out, system int64) trace.Request {
	r.ErrorClass, r.ResponseID, r.TokensSource = "ok", responseID, "usage"
	r.InputTokens, r.CachedInputTokens, r.OutputTokens, r.MaxTokens, r.SystemPromptTokens = &in, &cached, &out, &out, &system
	r.AddQuality(trace.QSystemEstimated)
	return r
}

func streamed(r trace.Request, first int64) trace.Request {
	r.Stream, r.FirstUS, r.TTFTKind = trace.Ptr(true), &first, "first_any_chunk"
	r.ReasoningTokens = n(0)
	return r
}

func failed(r trace.Request, class string, status int32, limit int64) trace.Request {
	r.ErrorClass, r.MaxTokens = class, &limit
	if status != 0 {
		r.HTTPStatus = &status
	}
	return r
}

func with(r trace.Request, change func(*trace.Request)) trace.Request {
	change(&r)
	return r
}

// One row of each kind, worked out from the text of testdata/litellm.jsonl and from what the client saw.
func TestLiteLLMRows(t *testing.T) {
	tenant := func(name string) func(*trace.Request) { return func(r *trace.Request) { r.Tenant = name } }
	wanted := []trace.Request{
		with(streamed(served(want(1, "r00000", "s0001", 1795961900757231, 127530), "chatcmpl-o0HHL9BU1ww50ZaYgK6f4axUdY6sg2wL", 107, 0, 27, 71), 93720), func(r *trace.Request) {
			r.Tenant = "cobalt"
			// HMAC-SHA-256 and chains of XXH3 and AES computed with Python's hmac, xxhash and cryptography.
			r.KeyHash, r.UserHash = "f5cd09c2b50b0415f0383254bc91adf9", "64efb98b02091615251939ecb27df89f"
			r.SystemPromptHash, r.PrefixHashIDs = "36f845957386dea5fabf841acaee6b31", []int64{-6230733498935662557, 6447136770363091582}
		}),
		with(streamed(served(want(2, "r00297", "s0083", 1795962121910652, 114967), "chatcmpl-p6Tixv6GhkKGWeDcrFtE4AZeLsSUk17T", 283, 199, 29, 66), 48344), func(r *trace.Request) {
			r.Tenant, r.Turn = "acme", trace.Ptr(int32(3))
		}),
		// No usage asked for: LiteLLM's own count, 41 for a limit of 28; here the finish reason is the engine's.
		with(streamed(served(want(3, "r00213", "s0074", 1795962075344924, 263652), "chatcmpl-iFlY52kGkV0RMdE5PMU2oHlykaFSlvaX", 96, 0, 41, 65), 39081), func(r *trace.Request) {
			r.Tenant, r.CachedInputTokens, r.MaxTokens, r.FinishReason = "acme", nil, n(28), "length"
			r.TokensSource, r.ReasoningTokens = "estimated", nil
			r.AddQuality(trace.QTokensEstimated)
		}),
		// Not streamed: completionStartTime is the end.
		with(served(want(4, "r00693", "s0232", 1795962396592296, 49431), "chatcmpl-jWL1qpgef9QKnGR1qWZ5RU3gYRmDJMgn", 125, 75, 23, 67), func(r *trace.Request) {
			r.Tenant, r.Stream, r.FinishReason = "cobalt", trace.Ptr(false), "length"
			r.CachedResponse = nil // cache_hit is null here
		}),
		// The client hung up after 59 ms; the log cannot know.
		with(streamed(served(want(5, "r00645", "s0212", 1795962355688622, 214206), "chatcmpl-9opJfTmunnAbTGKH8bwY75sOqWi8vTFO", 103, 73, 51, 72), 30462), tenant("acme")),
		// A wrong key: no code, no team, no id; the quoted source line has the 401.
		with(failed(want(6, "at-1795961931440451", "s0308", 1795961931440451, 289), "client_error", 401, 48), func(r *trace.Request) {
			r.Provider, r.ModelServed, r.Replica, r.Deployment, r.Quality = "", "", "", "", trace.QIDDerived
		}),
		with(failed(want(7, "r00462", "s0288", 1795962206593307, 832616), "context_length", 400, 52), func(r *trace.Request) {
			r.Tenant, r.Stream = "acme", trace.Ptr(false)
		}),
		// An unknown model: nothing served it.
		with(failed(want(8, "r00142", "s0301", 1795962029729168, 6015), "client_error", 400, 92), func(r *trace.Request) {
			r.Tenant, r.Provider, r.ModelRequested, r.ModelServed, r.Replica, r.Deployment = "cobalt", "", "demo-70b", "", "", ""
		}),
		with(failed(want(9, "r00209", "s0299", 1795962074124663, 7609), "client_error", 400, 67), func(r *trace.Request) {
			r.Tenant, r.Stream = "acme", trace.Ptr(false)
		}),
		with(failed(want(10, "r00336", "s0319", 1795962137666008, 1026531), "timeout", 408, 44), func(r *trace.Request) {
			r.Tenant, r.App, r.Stream = "cobalt", "agent", trace.Ptr(true)
		}),
		with(failed(want(11, "r00445", "s0140", 1795962197208746, 50812), "upstream_error", 500, 24), func(r *trace.Request) {
			r.Tenant, r.App, r.Stream, r.Turn = "cobalt", "agent", trace.Ptr(true), trace.Ptr(int32(5))
		}),
		// A timeout in the middle of the stream: class APITimeoutError and no code.
		with(failed(want(12, "r00379", "s0312", 1795962826751066, 179527), "timeout", 0, 41), func(r *trace.Request) {
			r.Tenant, r.App, r.Stream = "cobalt", "agent", trace.Ptr(true)
		}),
	}
	res := decodeLines(t, LiteLLM(), decode.Options{}, read(t, "testdata/litellm.jsonl"))
	if len(res.rows) != len(wanted) || len(res.refused) != 0 {
		t.Fatalf("%d rows, refused %v; want %d", len(res.rows), res.refused, len(wanted))
	}
	for i, got := range res.rows {
		if i > 0 { // hashes are checked in the first row
			if got.KeyHash == "" || got.SystemPromptHash == "" || len(got.PrefixHashIDs) == 0 || (got.UserHash == "") != (i == 5) {
				t.Errorf("line %d: a hash is missing: %+v", i+1, got)
			}
			got.KeyHash, got.UserHash, got.SystemPromptHash, got.PrefixHashIDs = "", "", "", nil
		}
		if diff := cmp.Diff(&wanted[i], got); diff != "" {
			t.Errorf("line %d: -want +got\n%s", i+1, diff)
		}
		if res.bodies[i] != "" {
			t.Errorf("line %d: a body without --keep-bodies", i+1)
		}
	}
}

// LiteLLM's own sample: text stamps without a zone, first chunk stored as the end, a mocked stream without details.
func TestLiteLLMPublicSample(t *testing.T) {
	res := decodeLines(t, LiteLLM(), decode.Options{}, read(t, "testdata/standard_logging_payload.jsonl"))
	w := trace.Request{RequestID: "chatcmpl-2299b6a2-82a3-465a-b47c-04e685a2227f", RootRequestID: "chatcmpl-2299b6a2-82a3-465a-b47c-04e685a2227f",
		ResponseID: "chatcmpl-2299b6a2-82a3-465a-b47c-04e685a2227f", Attempt: 1, Turn: trace.Ptr(int32(1)),
		Arrival: n(1737710446847371), EndUS: n(4583), // date -u -d '2025-01-24 09:20:46' +%s
		Vantage: "gateway", ClockDomain: "wall", TimePrecision: 1, ErrorClass: "ok", FinishReason: "stop", EndpointKind: "chat", Stream: trace.Ptr(true),
		ModelRequested: "gpt-4o", ModelServed: "gpt-4o", Provider: "openai", InputTokens: n(10), OutputTokens: n(20), TokensSource: "estimated",
		SystemPromptTokens: n(0), SourceFormat: "litellm", SourceFile: "in.jsonl", SourceLine: 1, Quality: "naive_time,tokens_estimated,ttft_equals_end"}
	if len(res.rows) != 1 {
		t.Fatalf("refused %v", res.refused)
	}
	res.rows[0].PrefixHashIDs = nil
	if diff := cmp.Diff(&w, res.rows[0]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
