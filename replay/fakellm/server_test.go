package fakellm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const threeWords = `{"messages":[{"role":"user","content":"one two three"}]`

func TestStream(t *testing.T) {
	l := newLab(t, Config{CacheBlocks: -1, BlockTokens: 2})
	a := l.post(t.Context(), chatPath, "s", threeWords+`,"stream":true,"max_tokens":3,"stream_options":{"include_usage":true}}`)
	want := []string{"role", "text", "text", "text", "finish=length", "usage", "done"}
	if diff := cmp.Diff(want, a.kinds(t)); diff != "" || a.status != 200 || a.err != nil {
		t.Fatalf("status %d, error %v, events (-want +got):\n%s", a.status, a.err, diff)
	}
	if got := a.header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	text := ""
	for _, e := range a.events()[:5] {
		f := decoded(t, e)
		text += f.Choices[0].Delta.Content
		if f.ID != "chatcmpl-s" || f.Object != "chat.completion.chunk" || f.Model != "fake" {
			t.Errorf("envelope of %s", e)
		}
	}
	if n := len(strings.Fields(text)); n != 3 {
		t.Errorf("text %q has %d words, want 3", text, n)
	}
	u := decoded(t, a.events()[5]).Usage
	if u.PromptTokens != 3 || u.CompletionTokens != 3 || u.TotalTokens != 6 || u.PromptDetails.CachedTokens != 0 {
		t.Errorf("usage %+v", u)
	}
	// The same prompt again: one block of 2 tokens is cached.
	a = l.post(t.Context(), chatPath, "again", threeWords+`,"stream":true,"max_tokens":1,"stream_options":{"include_usage":true}}`)
	if u := decoded(t, a.events()[3]).Usage; u.PromptDetails.CachedTokens != 2 {
		t.Errorf("usage of the second call %+v, want 2 cached", u)
	}
}

func TestTextStream(t *testing.T) {
	l := newLab(t, Config{})
	a := l.post(t.Context(), textPath, "", `{"prompt":"one two","stream":true,"max_tokens":2}`)
	if diff := cmp.Diff([]string{"text", "text", "finish=length", "done"}, a.kinds(t)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if r := l.request("req-1"); r.PromptTokens != 2 || r.OutputTokens != 2 || r.Outcome != "length" || !r.Stream {
		t.Errorf("truth %+v", r)
	}
}

func TestUnary(t *testing.T) {
	l := newLab(t, Config{Behave: Rules{
		{ID: "tool", Do: Behaviour{ToolCall: true}}, {ID: "think", Do: Behaviour{ReasoningTokens: 2}},
	}.For})
	text := decoded(t, l.post(t.Context(), textPath, "text", `{"prompt":[7,8,9],"max_tokens":4}`).body)
	if n := len(strings.Fields(text.Choices[0].Text)); n != 4 || text.Object != "text_completion" {
		t.Errorf("text answer %+v", text)
	}
	if u := text.Usage; u.PromptTokens != 3 || u.CompletionTokens != 4 || u.TotalTokens != 7 {
		t.Errorf("usage %+v", u)
	}
	think := decoded(t, l.post(t.Context(), chatPath, "think", threeWords+`,"max_tokens":5}`).body)
	m := think.Choices[0].Message
	if len(strings.Fields(m.ReasoningContent)) != 2 || len(strings.Fields(m.Content)) != 3 || *m.Role != "assistant" {
		t.Errorf("message %+v", m)
	}
	if n := think.Usage.CompletionDetails.ReasoningTokens; n != 2 {
		t.Errorf("reasoning tokens %d, want 2", n)
	}
	tool := decoded(t, l.post(t.Context(), chatPath, "tool", threeWords+`,"max_tokens":5}`).body)
	call := tool.Choices[0].Message.ToolCalls[0]
	if q := arguments(t, call.Function.Arguments); call.Function.Name != "lookup" || len(strings.Fields(q)) != 4 {
		t.Errorf("call %+v", call)
	}
	if reason := *tool.Choices[0].FinishReason; reason != "tool_calls" {
		t.Errorf("finish reason %q", reason)
	}
}

// arguments is the q of a tool call's argument text.
func arguments(t *testing.T, text string) string {
	t.Helper()
	var args struct{ Q string }
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		t.Fatalf("arguments %q: %v", text, err)
	}
	return args.Q
}

func TestRefusals(t *testing.T) {
	l := newLab(t, Config{APIKey: "sk-x", MaxBody: 100, Models: []string{"m1", "m2"}})
	for _, c := range []struct {
		name, method, path, key, body string
		status                        int
		kind                          string
	}{
		{"no key", "POST", chatPath, "", `{}`, 401, "authentication_error"},
		{"wrong key", "POST", chatPath, "sk-y", `{}`, 401, "authentication_error"},
		{"unknown model", "POST", chatPath, "sk-x", threeWords + `,"model":"m3"}`, 404, "not_found_error"},
		{"not JSON", "POST", chatPath, "sk-x", `{"messages":`, 400, "invalid_request_error"},
		{"no messages", "POST", chatPath, "sk-x", `{"prompt":"x"}`, 400, "invalid_request_error"},
		{"no prompt", "POST", textPath, "sk-x", threeWords + `}`, 400, "invalid_request_error"},
		{"no room", "POST", textPath, "sk-x", `{"prompt":"x","max_tokens":0}`, 400, "invalid_request_error"},
		{"two choices", "POST", textPath, "sk-x", `{"prompt":"x","n":2}`, 400, "invalid_request_error"},
		{"too large", "POST", textPath, "sk-x", `{"prompt":"` + strings.Repeat("x", 100) + `"}`, 413, "invalid_request_error"},
		{"other path", "POST", "/v1/rerank", "sk-x", `{}`, 404, "not_found_error"},
		{"other method", "GET", chatPath, "sk-x", ``, 404, "not_found_error"},
	} {
		r, err := http.NewRequest(c.method, l.base+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.key)
		a := l.do(r)
		if a.status != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.name, a.status, c.status, a.body)
			continue
		}
		if e := decoded(t, a.body).Error; e.Type != c.kind || e.Code != c.status || e.Message == "" {
			t.Errorf("%s: error %+v, want type %q", c.name, e, c.kind)
		}
	}
	for _, r := range l.Truth().Requests {
		if r.Outcome != OutcomeRefused || r.HTTPStatus < 400 || r.EnqueuedUS != nil {
			t.Errorf("truth %+v, want a refusal that the engine never saw", r)
		}
	}
}

func TestInfo(t *testing.T) {
	l := newLab(t, Config{Models: []string{"m1", `m"2`}, CacheBlocks: -1, BlockTokens: 2})
	for range 2 {
		l.post(t.Context(), chatPath, "", threeWords+`,"max_tokens":5}`)
	}
	var models struct{ Data []struct{ ID string } }
	if err := json.Unmarshal([]byte(l.get("/v1/models").body), &models); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`[{m1} {m"2}]`, fmt.Sprint(models.Data)); diff != "" {
		t.Error(diff)
	}
	if a := l.get("/health"); a.status != 200 {
		t.Errorf("health: %d", a.status)
	}
	for _, line := range []string{
		"fakellm_requests_running 0\n", "fakellm_requests_waiting 0\n", "fakellm_prompt_tokens_total 6\n",
		"fakellm_cached_tokens_total 2\n", "fakellm_generation_tokens_total 10\n", "fakellm_steps_total 10\n",
		`vllm:num_requests_running{engine="0",model_name="m1"} 0` + "\n", `vllm:prefix_cache_hits_total{engine="0",model_name="m1"} 2` + "\n",
		`vllm:prefix_cache_queries_total{engine="0",model_name="m1"} 6` + "\n", `vllm:generation_tokens_total{engine="0",model_name="m1"} 10` + "\n",
	} {
		if got := l.get("/metrics").body; !strings.Contains(got, "\n"+line) {
			t.Errorf("metrics lack %q:\n%s", line, got)
		}
	}
}

// The page under load says what the engine does: 3 streams that would last for ever hold both slots and one place in the
// queue, and 2 of the 4 blocks are taken by the one whole block of each of two prompts of 3 words.
func TestMetricsUnderLoad(t *testing.T) {
	l := newLab(t, Config{Slots: 2, DecodeBase: ms, BlockTokens: 2, CacheBlocks: 4})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i, prompt := range []string{"a b c", "d e f", "a b c"} {
		all.Go(func() {
			l.post(ctx, chatPath, fmt.Sprint(i), fmt.Sprintf(`{"messages":[{"role":"user","content":%q}],"stream":true,"max_tokens":1000000}`, prompt))
		})
		for l.inside() <= i {
			time.Sleep(ms)
		}
	}
	labels := `{engine="0",model_name="fake"} `
	want := []string{"vllm:num_requests_running" + labels + "2\n", "vllm:num_requests_waiting" + labels + "1\n", "vllm:kv_cache_usage_perc" + labels + "0.5\n",
		"vllm:num_preemptions_total" + labels + "0\n"}
	var page string
	for range 1000 { // the prompts enter the cache when their prefill ends
		page = l.get("/metrics").body
		if strings.Contains(page, want[2]) {
			break
		}
		time.Sleep(ms)
	}
	for _, line := range want {
		if !strings.Contains(page, "\n"+line) {
			t.Errorf("metrics lack %q:\n%s", line, page)
		}
	}
	cancel()
	all.Wait()
}

// inside counts the requests in the engine.
func (l lab) inside() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.engine.running) + len(l.engine.waiting)
}

// A client that goes away frees the only slot: the second request is served although the first asked for a million
// tokens at 1 ms.
func TestCancelFreesTheSlot(t *testing.T) {
	l := newLab(t, Config{DecodeBase: ms})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan answer)
	go func() { first <- l.post(ctx, chatPath, "long", threeWords+`,"stream":true,"max_tokens":1000000}`) }()
	for l.running() == 0 {
		time.Sleep(ms)
	}
	cancel()
	if a := l.post(t.Context(), chatPath, "next", threeWords+`,"stream":true,"max_tokens":2}`); a.status != 200 {
		t.Fatalf("status %d", a.status)
	}
	<-first
	long, next := l.request("long"), l.request("next")
	if long.Outcome != OutcomeCancelled || long.CancelledUS == nil || long.OutputTokens >= 1000000 {
		t.Errorf("truth of the cancelled request: %+v", long)
	}
	if *next.AdmittedUS < *long.CancelledUS {
		t.Errorf("admitted at %d before the slot was free at %d", *next.AdmittedUS, *long.CancelledUS)
	}
}

func (l lab) running() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.engine.running)
}

// The queue is full while the only slot is taken by a stream that would last for ever.
func TestFullQueue(t *testing.T) {
	l := newLab(t, Config{DecodeBase: ms, QueueLimit: -1})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := make(chan answer)
	go func() { first <- l.post(ctx, chatPath, "long", threeWords+`,"stream":true,"max_tokens":1000000}`) }()
	for l.running() == 0 {
		time.Sleep(ms)
	}
	if a := l.post(t.Context(), chatPath, "late", threeWords+`}`); a.status != 429 {
		t.Errorf("status %d, want 429", a.status)
	}
	if r := l.request("late"); r.HTTPStatus != 429 || r.Outcome != OutcomeRefused {
		t.Errorf("truth %+v", r)
	}
	cancel()
	<-first
}

// Truth on the writer is truth in memory, line by line.
func TestTruthLines(t *testing.T) {
	var out bytes.Buffer
	l := newLab(t, Config{Truth: &out, Pauses: []Pause{{time.Hour, time.Second}}})
	l.post(t.Context(), chatPath, "a", threeWords+`,"stream":true,"max_tokens":2}`)
	l.post(t.Context(), chatPath, "b", `{}`)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var got Truth
	for line := range bytes.Lines(out.Bytes()) {
		var kind struct{ Kind string }
		if err := json.Unmarshal(line, &kind); err != nil {
			t.Fatal(err)
		}
		var err error
		switch kind.Kind {
		case "server":
			err = json.Unmarshal(line, &got.Server)
		case "step":
			got.Steps = append(got.Steps, StepTruth{})
			err = json.Unmarshal(line, &got.Steps[len(got.Steps)-1])
		case "request":
			got.Requests = append(got.Requests, RequestTruth{})
			err = json.Unmarshal(line, &got.Requests[len(got.Requests)-1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(l.Truth(), got); diff != "" || len(got.Requests) != 2 || len(got.Steps) != 2 {
		t.Errorf("memory and lines differ (-memory +lines):\n%s", diff)
	}
}

// Close breaks a running stream off and waits for its truth.
func TestCloseEndsStreams(t *testing.T) {
	var out bytes.Buffer
	l := newLab(t, Config{DecodeBase: time.Hour, Truth: &out})
	ended := make(chan answer)
	go func() { ended <- l.post(t.Context(), chatPath, "x", threeWords+`,"stream":true,"max_tokens":2}`) }()
	for l.running() == 0 {
		time.Sleep(ms)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if a := <-ended; a.err == nil {
		t.Errorf("got a whole answer: %+v", a)
	}
	if lines := out.String(); !strings.Contains(lines, `"outcome":"closed"`) {
		t.Errorf("truth lacks the request that was cut off:\n%s", lines)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestTruthThatCannotBeWritten(t *testing.T) {
	s, err := New(Config{Truth: fullDisk{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err == nil || err.Error() != "disk full" {
		t.Errorf("close: got %v, want disk full", err)
	}
}
