package fakellm

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// lab is a server on loopback, closed at the end of the test.
type lab struct {
	*Server
	t    *testing.T
	base string
}

func newLab(t *testing.T, cfg Config) lab {
	t.Helper()
	cfg.KeepTruth = true
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return lab{s, t, "http://" + l.Addr().String()}
}

// answer is what a client saw.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

const chatPath, textPath = "/v1/chat/completions", "/v1/completions"

// post sends a body and reads the answer to its end.
func (l lab) post(ctx context.Context, path, id, body string) answer {
	l.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.base+path, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	if id != "" {
		r.Header.Set("X-Request-Id", id)
	}
	return l.do(r)
}

func (l lab) get(path string) answer {
	l.t.Helper()
	r, err := http.NewRequest(http.MethodGet, l.base+path, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.do(r)
}

func (l lab) do(r *http.Request) answer {
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(data), err}
}

// request is the truth of one request; of one whose client went away it may take a moment to be there.
func (l lab) request(id string) RequestTruth {
	l.t.Helper()
	for range 5000 {
		for _, r := range l.Truth().Requests {
			if r.ID == id {
				return r
			}
		}
		time.Sleep(ms)
	}
	l.t.Fatalf("no truth of request %q", id)
	return RequestTruth{}
}

// frame is the part of an event or of a whole answer that the tests look at.
type frame struct {
	ID      string
	Object  string
	Model   string
	Choices []struct {
		Delta, Message struct {
			Role             *string
			Content          string
			ReasoningContent string `json:"reasoning_content"`
			Reasoning        string
			ToolCalls        []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Text         string
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		TotalTokens      int `json:"total_tokens"`
		PromptDetails    struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionDetails struct {
			ReasoningTokens int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	Error *struct {
		Message, Type string
		Code          int
	}
}

// events splits a stream at its blank lines and keeps the data texts and comments.
func (a answer) events() (texts []string) {
	for _, e := range strings.Split(a.body, "\n\n") {
		if e != "" {
			texts = append(texts, strings.TrimPrefix(e, "data: "))
		}
	}
	return texts
}

// kinds names each event: role, reasoning, text, both, tool, finish=REASON, usage, error, done, comment.
func (a answer) kinds(t *testing.T) (kinds []string) {
	t.Helper()
	for _, e := range a.events() {
		kinds = append(kinds, kind(t, e))
	}
	return kinds
}

func kind(t *testing.T, event string) string {
	t.Helper()
	switch {
	case event == "[DONE]":
		return "done"
	case event[0] == ':':
		return "comment"
	}
	f := decoded(t, event)
	if f.Error != nil {
		return "error"
	}
	if len(f.Choices) == 0 {
		return "usage"
	}
	c := f.Choices[0]
	reasoning := c.Delta.Reasoning + c.Delta.ReasoningContent
	switch {
	case c.FinishReason != nil:
		return "finish=" + *c.FinishReason
	case c.Delta.Role != nil:
		return "role"
	case len(c.Delta.ToolCalls) > 0:
		return "tool"
	case reasoning != "" && c.Delta.Content != "":
		return "both"
	case reasoning != "":
		return "reasoning"
	case c.Delta.Content+c.Text != "":
		return "text"
	}
	return "empty"
}

func decoded(t *testing.T, text string) (f frame) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return f
}
