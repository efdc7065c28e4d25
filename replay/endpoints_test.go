package replay

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/fakellm"
)

// every is a call of each endpoint, due 20 ms apart.
func everyEndpoint() []trace.Request {
	var rows []trace.Request
	for i, kind := range []string{"chat", "completions", "responses", "messages", "embeddings"} {
		r := row(kind, int64(i)*20, 30, 4)
		r.EndpointKind, r.FinishReason = kind, "stop"
		r.SystemPromptHash, r.SystemPromptTokens = "h", trace.Ptr(int64(10))
		if kind == "embeddings" {
			r.OutputTokens, r.Stream, r.SystemPromptHash, r.SystemPromptTokens = nil, trace.Ptr(false), "", nil
		}
		rows = append(rows, r)
	}
	return rows
}

// A call of each endpoint comes out as long as recorded, by the server's truth, and is stamped where the server's programme says:
// the first token 40 ms after arrival, then one every 10 ms.
func TestEndpoints(t *testing.T) {
	s, url := target(t, fakellm.Config{PrefillBase: 40 * time.Millisecond, DecodeBase: 10 * time.Millisecond})
	rep, rows := replayed(t, mustPlan(t, PlanOptions{}, everyEndpoint()...), Options{Target: url})
	if rep.Classes[trace.ClassOK] != 5 || *rep.Fidelity.InputRatio != 1 || *rep.Fidelity.OutputRatio != 1 {
		t.Fatalf("%v, input %v, output %v, examples %+v", rep.Classes, *rep.Fidelity.InputRatio, *rep.Fidelity.OutputRatio, rep.Examples)
	}
	truth := truthByID(s)
	for _, r := range rows {
		if want := "/v1/" + strings.Replace(r.EndpointKind, "chat", "chat/completions", 1); truth[r.RequestID].Path != want || truth[r.RequestID].PromptTokens != 30 {
			t.Errorf("%s: the server saw %+v", r.RequestID, truth[r.RequestID])
		}
		if r.EndpointKind == "embeddings" {
			if *r.OutputTokens != 0 || r.FirstUS != nil || *r.EndUS < 40_000 {
				t.Errorf("embeddings: %+v", r)
			}
			continue
		}
		if *r.OutputTokens != 4 || r.FinishReason != "length" || len(r.GapsUS) != 4 || *r.FirstUS < 40_000 || *r.LastUS < 70_000 || *r.InputTokens != 30 {
			t.Errorf("%s: first %d, last %d, gaps %v, finish %s, output %d", r.RequestID, *r.FirstUS, *r.LastUS, r.GapsUS, r.FinishReason, *r.OutputTokens)
		}
	}
}

// Whole answers, and everything that generates sent to chat completions when the target knows nothing else.
func TestEndpointChat(t *testing.T) {
	s, url := target(t, fakellm.Config{})
	rows := everyEndpoint()
	for i := range rows {
		rows[i].Stream = trace.Ptr(false)
	}
	rep, got := replayed(t, mustPlan(t, PlanOptions{}, rows...), Options{Target: url})
	for _, r := range got {
		if r.ErrorClass != trace.ClassOK || *r.Stream || r.InputTokens == nil || r.OutputTokens == nil {
			t.Errorf("%s: %+v", r.RequestID, r)
		}
	}
	if *rep.Fidelity.OutputRatio != 1 {
		t.Errorf("output ratio %v", *rep.Fidelity.OutputRatio)
	}
	body := func(id string, _ int32) []byte { return []byte(`{"input":"` + id + `","messages":[]}`) }
	p := mustPlan(t, PlanOptions{Endpoint: EndpointChat, Body: body}, rows...)
	replayed(t, p, Options{Target: url, NoPreflight: true})
	last := s.Truth().Requests
	for _, r := range last[len(last)-5:] {
		if want := r.ID == "responses" || r.ID == "messages"; want && (r.Path != "/v1/chat/completions" || r.PromptTokens != 30) {
			t.Errorf("%+v", r)
		}
	}
	if _, err := BuildPlan(seq(rows...), PlanOptions{Endpoint: "messages"}); err == nil {
		t.Error("an endpoint that cannot be sent to is accepted")
	}
}

// Headers of the Messages API, and a template that costs another endpoint more.
func TestEndpointHeadersAndTemplates(t *testing.T) {
	var mu sync.Mutex
	heads := map[string]http.Header{}
	words := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n := strings.Count(string(body), " ") + strings.Count(string(body), `"content":"`)
		mu.Lock()
		heads[r.URL.Path] = r.Header.Clone()
		words[r.Header.Get("X-Request-Id")] = n
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/messages" {
			json.NewEncoder(w).Encode(map[string]any{"type": "message", "content": []any{map[string]any{"type": "text", "text": "a"}}, "stop_reason": "end_turn",
				"usage": map[string]any{"input_tokens": n + 40, "output_tokens": 1}})
			return
		}
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": "a"}, "finish_reason": "stop"}},
			"usage": map[string]any{"prompt_tokens": n + 5, "completion_tokens": 1}})
	}))
	defer s.Close()
	a, b := row("chat", 0, 100, 1), row("messages", 5, 100, 1)
	b.EndpointKind = "messages"
	rep, _ := replayed(t, mustPlan(t, PlanOptions{Lengths: LengthsNatural}, a, b), Options{Target: s.URL, Header: http.Header{"Authorization": {"Bearer k"}}})
	mu.Lock()
	defer mu.Unlock()
	if words["chat"] != 95 || words["messages"] != 60 || *rep.Fidelity.InputRatio != 1 {
		t.Errorf("%v words for 100 tokens, want 95 and 60; %+v", words, rep.Calibration)
	}
	if h := heads["/v1/messages"]; h.Get("Anthropic-Version") == "" || h.Get("X-Api-Key") != "k" || h.Get("Authorization") != "Bearer k" {
		t.Errorf("messages: %v", h)
	}
	if h := heads["/v1/chat/completions"]; h.Get("Anthropic-Version") != "" || h.Get("X-Api-Key") != "" {
		t.Errorf("chat: %v", h)
	}
}

// Limits have another name everywhere, and a limit is never forced on an answer of a form, whoever asks for the form.
func TestLimits(t *testing.T) {
	item := func(endpoint, body string) Item {
		it := Item{RequestID: "a", Model: "m", Endpoint: endpoint, InputTokens: 3, OutputTokens: 7}
		if body != "" {
			it.Body = []byte(body)
		}
		return it
	}
	for _, c := range []struct{ endpoint, body, extra, want string }{
		{"responses", "", "", `"min_tokens":7,"ignore_eos":true,"max_output_tokens":7`},
		{"messages", "", "", `"min_tokens":7,"ignore_eos":true,"max_tokens":7`},
		{"responses", `{"input":"a","max_output_tokens":50,"text":{"format":{"type":"json_schema","schema":{}}}}`, "", `"max_output_tokens":50`},
		{"responses", `{"input":"a","text":{"format":{"type":"text"}}}`, "", `"ignore_eos":true,"max_output_tokens":7`},
		{"messages", `{"max_tokens":50,"tool_choice":{"type":"any"}}`, "", `"tool_choice":{"type":"any"},"model":"m","max_tokens":50`},
		{"messages", `{"max_tokens":50,"tool_choice":{"type":"auto"}}`, "", `"ignore_eos":true,"max_tokens":7`},
		{"chat", `{"max_tokens":50,"tool_choice":{"type":"function","function":{"name":"f"}}}`, "", `"model":"m","max_tokens":50`},
		{"chat", `{"max_tokens":50,"response_format":{"type":"json_object"}}`, "", `"model":"m","max_tokens":50`},
		{"chat", `{"max_tokens":50,"response_format":null}`, "", `"ignore_eos":true,"max_tokens":7`},
		{"chat", "", "guided_json", `"messages":[{"role":"user","content":`},
		{"chat", "", "grammar", `"messages":[{"role":"user","content":`},
	} {
		o := Options{}
		if c.extra != "" {
			o.Extra = []Field{{c.extra, []byte(`"x"`)}}
		}
		it := item(c.endpoint, c.body)
		b, err := maker(o, LengthsRecorded).body(&it)
		if got := string(b.bytes); err != nil || !strings.Contains(got, c.want) || b.free == strings.Contains(got, "ignore_eos") {
			t.Errorf("%s %s: %s, free %v, want %s", c.endpoint, c.body, got, b.free, c.want)
		}
	}
	natural := item("messages", "")
	if got := mustBody(t, maker(Options{}, LengthsNatural), natural); !strings.Contains(got, `"max_tokens":4096`) {
		t.Errorf("messages without a limit are refused: %s", got)
	}
	embed := item("embeddings", "")
	if got := mustBody(t, maker(Options{Extra: []Field{{"temperature", []byte("0")}}}, LengthsRecorded), embed); strings.Count(got, `":`) != 2 {
		t.Errorf("embeddings take a model and an input: %s", got)
	}
}

// An answer that has to be of a form is counted, and its length is no reason to doubt the run.
func TestRPL22FormedAnswersAreFree(t *testing.T) {
	_, url := target(t, fakellm.Config{NaturalStop: true, OutputTokens: 3})
	rows := []trace.Request{row("free", 0, 9, 200), row("formed", 5, 9, 200)}
	body := func(id string, _ int32) []byte {
		if id == "formed" {
			return []byte(`{"messages":[{"role":"user","content":"a b c d e f g h i"}],"response_format":{"type":"json_object"}}`)
		}
		return nil
	}
	rep, got := replayed(t, mustPlan(t, PlanOptions{Body: body}, rows...), Options{Target: url})
	for _, r := range got {
		if want := map[string]int64{"free": 200, "formed": 3}[r.RequestID]; *r.OutputTokens != want {
			t.Errorf("%s: %d tokens, want %d", r.RequestID, *r.OutputTokens, want)
		}
	}
	if f := rep.Fidelity; f.Unforced != 1 || *f.OutputRatio != 1 {
		t.Errorf("unforced %d, output ratio %v", f.Unforced, *f.OutputRatio)
	}
}

// Images and tools go out as they were recorded, and are counted; a tool call whose body was not kept is counted as lost.
func TestImagesAndTools(t *testing.T) {
	bodies := map[string]string{
		"image":     `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:x"}}]}]}`,
		"anthropic": `{"messages":[{"role":"user","content":[{"type":"image","source":{}}]}],"tools":[{"name":"f"}]}`,
		"words":     `{"messages":[{"role":"user","content":"say \"image_url\" and \"image\""}],"tools":[]}`,
	}
	body := func(id string, _ int32) []byte {
		if b, ok := bodies[id]; ok {
			return []byte(b)
		}
		return nil
	}
	lost := row("lost", 9, 5, 5)
	lost.FinishReason = "tool_calls"
	p := mustPlan(t, PlanOptions{Body: body}, row("image", 1, 5, 5), row("anthropic", 2, 5, 5), row("words", 3, 5, 5), lost)
	if s := p.Summary; s.Images != 2 || s.Tools != 1 || s.ToolsLost != 1 || !hasNotice(s.Notices, "tools_lost") {
		t.Errorf("images %d, tools %d, lost %d", s.Images, s.Tools, s.ToolsLost)
	}
	got := mustBody(t, maker(Options{}, LengthsNatural), p.Items[1])
	if !strings.Contains(got, `"content":[{"type":"image","source":{}}]`) || !strings.Contains(got, `"tools":[{"name":"f"}]`) {
		t.Error(got)
	}
}

func TestSaltOfEndpoints(t *testing.T) {
	for _, c := range []struct{ in, member string }{
		{`{"system":"be kind","messages":[{"role":"user","content":"hi"}]}`, `"system":"`},
		{`{"system":[{"type":"text","text":"be kind"}],"messages":[]}`, `"system":[{"type":"text","text":"`},
		{`{"instructions":"be kind","input":"hi"}`, `"instructions":"`},
		{`{"instructions":null,"input":[{"role":"user","content":"hi"}]}`, `"input":[{"content":"`},
		{`{"input":"hi"}`, `"input":"`},
	} {
		it := Item{RequestID: "a", Endpoint: "responses", InputTokens: 3, OutputTokens: 7, Body: []byte(c.in)}
		plain, salted := mustBody(t, maker(Options{}, LengthsNatural), it), mustBody(t, maker(Options{Salt: "s"}, LengthsNatural), it)
		first := newPrompter(Calibration{}, "s")
		w := &wordWriter{p: first, total: saltWords}
		w.put(seed("salt", "s"), saltWords)
		if !strings.Contains(salted, c.member+string(w.out.user)) || len(strings.Fields(salted))-len(strings.Fields(plain)) < saltWords-1 {
			t.Errorf("%s became %s", c.in, salted)
		}
	}
}
