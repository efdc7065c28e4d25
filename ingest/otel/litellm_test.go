package otel

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

type litellmClient struct {
	ID        string
	SentNS    int64 `json:"sent_ns"`
	Status    int32
	EndUS     int64 `json:"end_us"`
	Outcome   string
	Finish    string
	RespID    string `json:"resp_id"`
	Stream    bool
	AsksUsage bool  `json:"asks_usage"`
	MaxTokens int64 `json:"max_tokens"`
	Tenant    string
	App       string
	Session   string
	Usage     *litellmUsage
}

type litellmUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Details    *struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// litellmLog is what LiteLLM's own log says of a call.
type litellmLog struct {
	ID       string
	Start    float64 `json:"startTime"`
	Messages []struct{ Role, Content string }
}

// classes of the planned faults: r00015 had a wrong key, r00040 was too long, r00142 asked for an unknown model, r00209
// sent a temperature "hot", r00336 ran into its timeout, r00445 met a broken connection.
var litellmFaults = map[string]string{"r00015": trace.ClassClientError, "r00040": trace.ClassContextLength, "r00142": trace.ClassClientError,
	"r00209": trace.ClassClientError, "r00336": trace.ClassTimeout, "r00445": trace.ClassUpstream}

func TestLiteLLM(t *testing.T) {
	clients := truths(t, "litellm/client.jsonl.gz", func(c litellmClient) string { return c.ID })
	got := decodeJSON(t, JSON(), decode.Options{PlainUser: true}, lines(t, "litellm/spans.jsonl.gz")...)
	byID := map[string][]*trace.Request{}
	for _, r := range got.rows {
		byID[r.RequestID] = append(byID[r.RequestID], r)
	}
	refused := refusedID(t, byID, clients["r00015"])
	byID["r00015"] = byID[refused]
	delete(byID, refused)
	for id, c := range clients {
		rows := byID[id]
		want := 1
		if id == "r00015" || id == "r00142" { // the sync and the async logger each write one, with one start
			want = 2
		}
		if len(rows) != want {
			t.Fatalf("%s: %d rows, want %d", id, len(rows), want)
		}
		for _, r := range rows {
			checkLiteLLM(t, r, c)
		}
		if want == 2 && *rows[0].Arrival != *rows[1].Arrival {
			t.Errorf("%s: the two views start at %d and %d", id, *rows[0].Arrival, *rows[1].Arrival)
		}
	}
	if len(byID) != len(clients) {
		t.Errorf("%d request ids, want %d", len(byID), len(clients))
	}
	if got.skipped[healthCheck] != 1 || got.skipped[duplicateView] != 9 {
		t.Errorf("skipped %v, want 1 health check and 9 second views", got.skipped)
	}
}

// refusedID finds the row of the call with a wrong key, which carries no id of the caller's at all.
func refusedID(t *testing.T, rows map[string][]*trace.Request, c litellmClient) string {
	t.Helper()
	for id, r := range rows {
		if len(id) == len("at-1795961931440451") && id[:3] == "at-" && *r[0].Arrival-c.SentNS/1000 < 50000 {
			return id
		}
	}
	t.Fatal("no row with a derived id")
	return ""
}

func checkLiteLLM(t *testing.T, r *trace.Request, c litellmClient) {
	t.Helper()
	want := trace.ClassOK // also for the calls that the client left: the proxy reads on to the end
	if fault := litellmFaults[c.ID]; fault != "" {
		want = fault
		if show(r.HTTPStatus) != c.Status {
			t.Errorf("%s: HTTP status %v, want %d", c.ID, show(r.HTTPStatus), c.Status)
		}
	}
	if r.ErrorClass != want {
		t.Errorf("%s: error class %q, want %q", c.ID, r.ErrorClass, want)
	}
	if late := *r.Arrival - c.SentNS/1000; late < 0 || late > 60000 {
		t.Errorf("%s: arrival %d us after the send", c.ID, late)
	}
	if r.Vantage != trace.Gateway || r.EndpointKind != "chat" || r.Route != "/v1/chat/completions" || r.KeyHash == "" || r.FirstUS != nil {
		t.Errorf("%s: vantage %q, kind %q, route %q, key %q, first %v", c.ID, r.Vantage, r.EndpointKind, r.Route, r.KeyHash, show(r.FirstUS))
	}
	if c.ID != "r00015" && (r.Tenant != c.Tenant || r.App != c.App || r.SessionID != c.Session || r.UserHash != c.Tenant+"-user-"+c.Session) {
		t.Errorf("%s: tenant %q, app %q, session %q, user %q", c.ID, r.Tenant, r.App, r.SessionID, r.UserHash)
	}
	if show(r.MaxTokens) != c.MaxTokens {
		t.Errorf("%s: max tokens %v, want %d", c.ID, show(r.MaxTokens), c.MaxTokens)
	}
	if want != trace.ClassOK {
		if r.InputTokens != nil || r.ModelServed != "" || r.FinishReason != "" {
			t.Errorf("%s: failed, but tokens %v, served by %q, finish %q", c.ID, show(r.InputTokens), r.ModelServed, r.FinishReason)
		}
		return
	}
	if c.RespID != "" && r.ResponseID != c.RespID || show(r.Stream) != c.Stream || r.Replica != "127.0.0.1:8900" || r.ModelServed != "demo-13m" {
		t.Errorf("%s: response %q, stream %v, replica %q, served %q", c.ID, r.ResponseID, show(r.Stream), r.Replica, r.ModelServed)
	}
	checkLiteLLMUsage(t, r, c)
}

func checkLiteLLMUsage(t *testing.T, r *trace.Request, c litellmClient) {
	t.Helper()
	if c.Stream && !c.AsksUsage {
		if r.TokensSource != "estimated" || !r.HasQuality(trace.QTokensEstimated) || r.CachedInputTokens != nil || r.ReasoningTokens != nil {
			t.Errorf("%s: source %q, quality %q, cached %v: LiteLLM counted by itself", c.ID, r.TokensSource, r.Quality, show(r.CachedInputTokens))
		}
		if c.Outcome == "ok" && r.FinishReason != c.Finish {
			t.Errorf("%s: finish %q, want %q", c.ID, r.FinishReason, c.Finish)
		}
		return
	}
	if r.TokensSource != "usage" || r.CachedInputTokens == nil {
		t.Errorf("%s: source %q, cached %v", c.ID, r.TokensSource, show(r.CachedInputTokens))
	}
	if c.Stream && r.FinishReason != "" { // "stop" whatever happened
		t.Errorf("%s: finish %q, want unknown", c.ID, r.FinishReason)
	}
	if !c.Stream && r.FinishReason != c.Finish {
		t.Errorf("%s: finish %q, want %q", c.ID, r.FinishReason, c.Finish)
	}
	if u := c.Usage; u != nil && (show(r.InputTokens) != u.Prompt || show(r.OutputTokens) != u.Completion || u.Details != nil && *r.CachedInputTokens != u.Details.Cached) {
		t.Errorf("%s: tokens %v, %v, %v; want %+v", c.ID, show(r.InputTokens), show(r.OutputTokens), show(r.CachedInputTokens), u)
	}
}

// TestLiteLLMAgreesWithLog feeds the messages of LiteLLM's own log to the hashes by hand: spans must give the same
// ones, and the same start, so that a call has one identity in both.
func TestLiteLLMAgreesWithLog(t *testing.T) {
	logs := truths(t, "litellm/log.jsonl.gz", func(l litellmLog) string { return l.ID })
	compared := 0
	for _, r := range decodeJSON(t, JSON(), decode.Options{}, lines(t, "litellm/spans.jsonl.gz")...).rows {
		l, ok := logs[r.RequestID]
		if !ok {
			continue
		}
		compared++
		p := testHasher.Prompt()
		turns := int32(0)
		for _, m := range l.Messages {
			p.Add(m.Role, []byte(m.Content))
			if m.Role == "user" {
				turns++
			}
		}
		if r.SystemPromptHash != p.SystemHash() || !slices.Equal(r.PrefixHashIDs, p.Blocks()) || show(r.Turn) != turns {
			t.Errorf("%s: system %q, %d blocks, turn %v; want %q, %d, %d", r.RequestID, r.SystemPromptHash, len(r.PrefixHashIDs), show(r.Turn),
				p.SystemHash(), len(p.Blocks()), turns)
		}
		if start := int64(math.Round(l.Start * 1e6)); *r.Arrival != start {
			t.Errorf("%s: arrival %d, the log says %d", r.RequestID, *r.Arrival, start)
		}
	}
	if compared != len(logs)+1 { // one call has two spans
		t.Errorf("compared %d rows, want %d", compared, len(logs)+1)
	}
}

// From 1.81 on the proxy's own span carries the call; in the mode of the newest conventions the span is "chat MODEL".
func TestLiteLLMNewer(t *testing.T) {
	record := func(name, attributes string) string {
		b, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		return `{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"litellm"},"spans":[{"name":` + string(b) + `,"startTimeUnixNano":"1000000","endTimeUnixNano":"2000000","attributes":` + attributes + `}]}]}]}`
	}
	for _, c := range []struct{ name, attributes, kind, skipped string }{
		{"Received Proxy Server Request", `{"gen_ai.operation.name":"acompletion","gen_ai.request.model":"m","litellm.call_id":"c-1"}`, "chat", ""},
		{"embeddings m", `{"gen_ai.operation.name":"embeddings","gen_ai.request.model":"m","litellm.call_id":"c-1"}`, "embeddings", ""},
		{"litellm_request", `{"llm.request.type":"anthropic_messages","litellm.call_id":"c-1"}`, "messages", ""},
		{"litellm_request", `{"llm.request.type":"aresponses","metadata.requester_metadata":"{'request_id': 'c-1', 'n': None}","litellm.call_id":"c-2"}`, "responses", ""},
		{"litellm_request", `{"llm.request.type":"afile_list"}`, "", notLLM},
		{"litellm_request", `{"llm.request.type":"acompletion","metadata.user_api_key_alias":"litellm-internal-health-check"}`, "", healthCheck},
		{"Received Proxy Server Request", `{"gen_ai.cost.total_cost":0.1}`, "", notLLM},
		{"raw_gen_ai_request", `{"llm.openai.model":"m"}`, "", duplicateView},
	} {
		got := decodeJSON(t, JSON(), decode.Options{}, record(c.name, c.attributes))
		switch {
		case c.skipped != "" && got.skipped[c.skipped] != 1:
			t.Errorf("%s %s: skipped %v, want %s", c.name, c.attributes, got.skipped, c.skipped)
		case c.skipped == "" && (len(got.rows) != 1 || got.rows[0].EndpointKind != c.kind || got.rows[0].RequestID != "c-1" || got.rows[0].Vantage != trace.Gateway):
			t.Errorf("%s %s: rows %+v, skipped %v", c.name, c.attributes, got.rows, got.skipped)
		}
	}
}
