package fakellm

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRequest(t *testing.T) {
	for _, c := range []struct {
		name, body string
		api        api
		words      int
		want       request // without texts
	}{
		{
			"chat", `{"model":"m","messages":[{"role":"system","content":"a b"},{"role":"user","content":"c"}],"stream":true,
			"stream_options":{"include_usage":true},"max_tokens":7,"min_tokens":2,"ignore_eos":true,"temperature":0.5}`,
			apiChat, 3, request{model: "m", stream: true, usage: true, maxTokens: 7, minTokens: 2, ignoreEOS: true},
		},
		{
			"parts, null and no content", `{"messages":[{"role":"user","content":[{"type":"text","text":"a b"},
			{"type":"image_url","image_url":{"url":"x y z"}},{"type":"text","text":"c"}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},{"role":"tool"}]}`,
			apiChat, 3, request{},
		},
		{
			"max_completion_tokens wins", `{"messages":[{"role":"user","content":""}],"max_tokens":7,"max_completion_tokens":9}`,
			apiChat, 0, request{maxTokens: 9},
		},
		{"words do not join", `{"messages":[{"role":"a","content":"x"},{"role":"b","content":"y"}]}`, apiChat, 2, request{}},
		{"any white space parts words", `{"prompt":" a\tb\n\nc\u00a0d\u2003e "}`, apiText, 5, request{}},
		{"list of one prompt", `{"prompt":["a b"]}`, apiText, 2, request{}},
		{"responses text", `{"input":"a b","instructions":"c","max_output_tokens":7}`, apiResponses, 3, request{maxTokens: 7}},
		{
			"responses items", `{"input":[{"role":"user","content":[{"type":"input_text","text":"a b"}]},{"type":"function_call_output","output":"x"},
			{"role":"user","content":"c"}],"stream":true}`, apiResponses, 3, request{stream: true},
		},
		{
			"messages", `{"system":[{"type":"text","text":"a b"}],"messages":[{"role":"user","content":"c"}],"max_tokens":5}`,
			apiMessages, 3, request{maxTokens: 5},
		},
		{"embeddings", `{"input":["a b","c"],"stream":true}`, apiEmbeddings, 3, request{}},
		{"embedding ids", `{"input":[5,6]}`, apiEmbeddings, 2, request{}},
		{"token ids", `{"prompt":[11,12,11]}`, apiText, 3, request{}},
	} {
		got, err := parseRequest([]byte(c.body), c.api)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if words, _ := chain(got.texts, 16); words != c.words {
			t.Errorf("%s: %d words, want %d", c.name, words, c.words)
		}
		got.texts = nil
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(request{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestParseRequestRefuses(t *testing.T) {
	for body, want := range map[string]string{
		``:                               "not the JSON of a request",
		`[]`:                             "not the JSON of a request",
		`{"messages":[]}`:                "messages: want at least one",
		`{"messages":[{"content":"x"}]}`: "messages[0].role",
		`{"messages":[{"role":"user","content":3}]}`:                 "messages[0].content: want a text or a list",
		`{"messages":[{"role":"u","content":"x"}],"max_tokens":-1}`:  "max_tokens: want 1 to 1048576, got -1",
		`{"messages":[{"role":"u","content":"x"}],"max_tokens":1e9}`: "max_tokens",
		`{"messages":[{"role":"u","content":"x"}],"n":3}`:            "n: this server makes 1 choice, got 3",
	} {
		if _, err := parseRequest([]byte(body), apiChat); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", body, err, want)
		}
	}
	for _, prompt := range []string{`null`, `[]`, `["a","b"]`, `[[1,2],[3]]`, `{}`, `7`} {
		if got, err := parseRequest([]byte(`{"prompt":`+prompt+`}`), apiText); err == nil {
			t.Errorf("prompt %s: got %+v, want an error", prompt, got)
		}
	}
}

// Whatever the body, parsing ends; what it accepts has limits in range and as many words as strings.Fields finds, and a
// block hash for every full block.
func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"text":"a b"}]}],"stream":true,"max_tokens":3}`), "chat")
	f.Add([]byte(`{"prompt":"a b c","stream_options":{"include_usage":true}}`), "completions")
	f.Add([]byte(`{"prompt":[1,2,3],"n":1}`), "completions")
	f.Add([]byte(`{"input":[{"role":"user","content":"a"}],"instructions":"b"}`), "responses")
	f.Add([]byte(`{"system":[{"text":"a"}],"messages":[{"role":"user","content":"b"}],"max_tokens":1}`), "messages")
	f.Add([]byte(`{"input":["a",[1]]}`), "embeddings")
	f.Fuzz(func(t *testing.T, data []byte, shape string) {
		r, err := parseRequest(data, api(shape))
		if err != nil {
			return
		}
		if r.maxTokens < 0 || r.maxTokens > maxOutput {
			t.Errorf("max tokens %d", r.maxTokens)
		}
		want := 0
		for _, text := range r.texts {
			want += len(strings.Fields(text))
		}
		if words, blocks := chain(r.texts, 2); words != want || len(blocks) != want/2 {
			t.Errorf("%d words in %d blocks of 2, want %d words", words, len(blocks), want)
		}
	})
}
