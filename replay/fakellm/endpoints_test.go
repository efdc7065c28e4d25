package fakellm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// typed is the part of an event of the newer shapes that the tests look at.
type typed struct {
	Type     string
	Delta    json.RawMessage
	Response struct {
		Status string
		Output []struct {
			Type    string
			Content []struct{ Text string }
		}
		Usage struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
		}
	}
	Message struct {
		Usage struct {
			Input int `json:"input_tokens"`
			Read  int `json:"cache_read_input_tokens"`
		}
	}
	Usage struct {
		Output int `json:"output_tokens"`
	}
}

// typedEvents are the events of a stream; the name of each must be its type.
func typedEvents(t *testing.T, a answer) (list []typed, kinds []string) {
	t.Helper()
	for _, e := range strings.Split(strings.TrimSpace(a.body), "\n\n") {
		name, data, _ := strings.Cut(e, "\ndata: ")
		var v typed
		if err := json.Unmarshal([]byte(data), &v); err != nil || name != "event: "+v.Type {
			t.Fatalf("%q: %v", e, err)
		}
		list, kinds = append(list, v), append(kinds, v.Type)
	}
	return list, kinds
}

func TestResponsesEvents(t *testing.T) {
	l := newLab(t, Config{Behave: Rules{{ID: "think", Do: Behaviour{ReasoningTokens: 1}}, {ID: "tool", Do: Behaviour{ToolCall: true}}}.For})
	const ask = `{"input":"one two three","max_output_tokens":2,"stream":true}`
	list, kinds := typedEvents(t, l.post(t.Context(), "/v1/responses", "think", ask))
	want := []string{"response.created", "response.reasoning_text.delta", "response.output_text.delta", "response.incomplete"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	end := list[3].Response
	if end.Status != "incomplete" || end.Usage.Input != 3 || end.Usage.Output != 2 || len(end.Output) != 2 || `"`+end.Output[1].Content[0].Text+`"` != string(list[2].Delta) {
		t.Errorf("%+v", end)
	}
	_, kinds = typedEvents(t, l.post(t.Context(), "/v1/responses", "tool", ask))
	want = []string{"response.created", "response.output_item.added", "response.function_call_arguments.delta", "response.completed"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var whole struct{ Status string }
	if a := l.post(t.Context(), "/v1/responses", "", `{"input":"a"}`); json.Unmarshal([]byte(a.body), &whole) != nil || whole.Status != "completed" {
		t.Errorf("%+v", a)
	}
}

func TestMessagesEvents(t *testing.T) {
	l := newLab(t, Config{CacheBlocks: -1, BlockTokens: 2, Behave: Rules{{ID: "think", Do: Behaviour{ReasoningTokens: 1}}, {ID: "tool", Do: Behaviour{ToolCall: true}}}.For})
	const ask = `{"system":"one","messages":[{"role":"user","content":"two three"}],"max_tokens":2,"stream":true}`
	list, kinds := typedEvents(t, l.post(t.Context(), "/v1/messages", "think", ask))
	want := []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "content_block_start", "content_block_delta",
		"content_block_stop", "message_delta", "message_stop"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if list[0].Message.Usage.Input != 3 || list[7].Usage.Output != 2 || string(list[7].Delta) != `{"stop_reason":"max_tokens","stop_sequence":null}` {
		t.Errorf("%+v, %+v", list[0], list[7])
	}
	list, kinds = typedEvents(t, l.post(t.Context(), "/v1/messages", "tool", ask))
	if len(kinds) != 6 || list[0].Message.Usage.Read != 2 || list[0].Message.Usage.Input != 1 {
		t.Errorf("%v %+v", kinds, list[0])
	}
	var whole struct {
		Content []struct{ Text string }
		Stop    string `json:"stop_reason"`
	}
	a := l.post(t.Context(), "/v1/messages", "", strings.Replace(ask, "true", "false", 1))
	if json.Unmarshal([]byte(a.body), &whole) != nil || len(strings.Fields(whole.Content[0].Text)) != 2 || whole.Stop != "max_tokens" {
		t.Errorf("%+v", a)
	}
	if a := l.post(t.Context(), "/v1/messages", "", `{"messages":[{"role":"user","content":"a"}]}`); a.status != 400 {
		t.Errorf("without max_tokens: %d", a.status)
	}
}

func TestEmbeddingVector(t *testing.T) {
	l := newLab(t, Config{PrefillPerToken: 1})
	a := l.post(t.Context(), "/v1/embeddings", "e", `{"input":["one two","three"]}`)
	var v struct {
		Data  []struct{ Embedding []float64 }
		Usage struct {
			Prompt int `json:"prompt_tokens"`
		}
	}
	if json.Unmarshal([]byte(a.body), &v) != nil || len(v.Data) != 1 || len(v.Data[0].Embedding) != 8 || v.Usage.Prompt != 3 {
		t.Errorf("%+v", a)
	}
	if r := l.request("e"); r.OutputTokens != 0 || r.PromptTokens != 3 || r.Stream {
		t.Errorf("truth %+v", r)
	}
}
