package wire

import (
	"slices"
	"strings"
	"testing"
)

// named is an event as both vendors write it: the type as its name, too.
func named(at int, kind, rest string) step {
	return step{at, "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + rest + "}\n\n"}
}

// last is the same with the type behind everything else, as a server writes it that sorts members by name.
func last(at int, kind, rest string) step {
	return step{at, "data: {" + strings.TrimPrefix(rest, ",") + ",\"type\":\"" + kind + "\"}\n\n"}
}

// An answer of the Responses API with reasoning, text and a call; what events of "done" repeat does not count again.
func TestResponsesStream(t *testing.T) {
	for name, ev := range map[string]func(int, string, string) step{"type first": named, "type last": last} {
		o := shaped(Responses, "text/event-stream",
			ev(5, "response.created", `,"response":{"id":"resp_1","object":"response","status":"in_progress","error":null,"incomplete_details":null,"model":"m-1","output":[],"usage":null}`),
			ev(6, "response.in_progress", `,"response":{"id":"resp_1","status":"in_progress","usage":null}`),
			ev(10, "response.output_item.added", `,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}`),
			ev(100, "response.reasoning_text.delta", `,"item_id":"rs_1","output_index":0,"content_index":0,"delta":"hm"`),
			ev(110, "response.output_item.added", `,"output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}`),
			ev(111, "response.content_part.added", `,"part":{"type":"output_text","text":"","annotations":[]}`),
			ev(150, "response.output_text.delta", `,"item_id":"msg_1","delta":"","logprobs":[]`),
			ev(200, "response.output_text.delta", `,"item_id":"msg_1","delta":"H\u00e9"`),
			ev(240, "response.output_text.delta", `,"item_id":"msg_1","delta":"llo"`),
			ev(250, "response.output_text.done", `,"item_id":"msg_1","text":"Hello"`),
			ev(251, "response.output_item.done", `,"item":{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"Hello"}]}`),
			ev(300, "response.output_item.added", `,"output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"c","name":"get_weather","arguments":""}`),
			ev(340, "response.function_call_arguments.delta", `,"item_id":"fc_1","delta":"{\"a\":1}"`),
			ev(350, "response.function_call_arguments.done", `,"arguments":"{\"a\":1}"`),
			ev(360, "response.completed", `,"response":{"id":"resp_1","status":"completed","model":"m-1","output":[{"type":"message","content":[{"type":"output_text","text":"Hello"}]},{"type":"function_call","name":"get_weather","arguments":"{}"}],"usage":{"input_tokens":36,"input_tokens_details":{"cached_tokens":32},"output_tokens":87,"output_tokens_details":{"reasoning_tokens":64},"total_tokens":123}}`))
		wantOK(t, o)
		if got := times(o); got != [4]int{100, 200, 340, 360} || !slices.Equal(gaps(o, 0), []int{100, 40, 60, 40}) {
			t.Errorf("%s: first, visible, last, end %v, gaps %v", name, got, gaps(o, 0))
		}
		if o.ID != "resp_1" || o.Model != "m-1" || o.Finish != "tool_calls" || o.Text != "Héllo" || o.Chunks[1].Bytes != 3 {
			t.Errorf("%s: %+v", name, o)
		}
		if u := o.Usage; *u.Input != 36 || *u.Cached != 32 || *u.Output != 87 || *u.Reasoning != 64 {
			t.Errorf("%s: usage %+v", name, u)
		}
	}
}

func TestResponsesEnds(t *testing.T) {
	a := named(1, "response.output_text.delta", `,"delta":"a"`)
	done := func(kind, rest string) step {
		return named(2, "response."+kind, `,"response":{"status":"`+kind+`"`+rest+`}`)
	}
	stop := shaped(Responses, "text/event-stream", a, done("completed", ""))
	cut := shaped(Responses, "text/event-stream", a, done("incomplete", `,"incomplete_details":{"reason":"max_output_tokens"}`))
	filtered := shaped(Responses, "text/event-stream", a, done("incomplete", `,"incomplete_details":{"reason":"content_filter"}`))
	if stop.Finish != "stop" || cut.Finish != "length" || filtered.Finish != "content_filter" || cut.Class != ClassOK {
		t.Errorf("finish %q %q %q", stop.Finish, cut.Finish, filtered.Finish)
	}
	wantFail(t, shaped(Responses, "text/event-stream", a, done("failed", `,"error":{"code":"server_error","message":"x"}`)), ClassUpstream, "error_frame")
	wantFail(t, shaped(Responses, "text/event-stream", a, named(2, "error", `,"code":"rate_limit_exceeded","message":"slow down","param":null`)), ClassRateLimited, "error_frame")
	wantFail(t, shaped(Responses, "text/event-stream", a), ClassUpstream, "truncated")
	wantFail(t, shaped(Responses, "text/event-stream", a, marker(2)), ClassUpstream, "no_finish")
	wantFail(t, shaped(Responses, "text/event-stream", done("completed", "")), ClassUpstream, "empty")

	o := shaped(Responses, "application/json", step{9, `{"id":"r","object":"response","status":"completed","error":null,"model":"m","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"no"}]},{"content":[{"type":"output_text","text":"Hi"}],"role":"assistant","type":"message"}],"usage":{"input_tokens":3,"output_tokens":1}}`})
	wantOK(t, o)
	if o.Finish != "stop" || o.Text != "Hi" || *o.Usage.Input != 3 || o.First() != nil {
		t.Errorf("whole: %+v", o)
	}
	wantFail(t, shaped(Responses, "application/json", step{9, `{"id":"r","status":"failed","error":{"code":"server_error","message":"x"},"output":[]}`}), ClassUpstream, "error_body")
	wantFail(t, shaped(Responses, "application/json", step{9, `{"error":{"message":"x","type":"invalid_request_error"}}`}), ClassClientError, "error_body")
	wantFail(t, shaped(Responses, "application/json", step{9, `{"object":"error","message":"x","type":"BadRequestError","code":400}`}), ClassClientError, "error_body")
}

// An answer of the Messages API: thinking, text, a tool. Cached and written tokens are no part of Anthropic's input_tokens, and the
// output count at the start is a placeholder.
func TestMessagesStream(t *testing.T) {
	for name, ev := range map[string]func(int, string, string) step{"type first": named, "type last": last} {
		o := shaped(Messages, "text/event-stream",
			ev(5, "message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"c-4","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":1}}`),
			step{6, "event: ping\ndata: {\"type\": \"ping\"}\n\n"},
			ev(10, "content_block_start", `,"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}`),
			ev(100, "content_block_delta", `,"index":0,"delta":{"type":"thinking_delta","thinking":"hm"}`),
			ev(110, "content_block_delta", `,"index":0,"delta":{"type":"signature_delta","signature":"EqQB"}`),
			ev(111, "content_block_stop", `,"index":0`),
			ev(112, "content_block_start", `,"index":1,"content_block":{"type":"text","text":""}`),
			ev(200, "content_block_delta", `,"index":1,"delta":{"type":"text_delta","text":"Okay"}`),
			ev(250, "content_block_delta", `,"index":1,"delta":{"text":", let's","type":"text_delta"}`),
			ev(251, "content_block_stop", `,"index":1`),
			ev(300, "content_block_start", `,"index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{}}`),
			ev(310, "content_block_delta", `,"index":2,"delta":{"type":"input_json_delta","partial_json":""}`),
			ev(340, "content_block_delta", `,"index":2,"delta":{"type":"input_json_delta","partial_json":"{\"location\":"}`),
			ev(350, "content_block_stop", `,"index":2`),
			ev(360, "message_delta", `,"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}`),
			step{370, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"})
		wantOK(t, o)
		if got := times(o); got != [4]int{100, 200, 340, 370} || !slices.Equal(gaps(o, 0), []int{100, 50, 50, 40}) {
			t.Errorf("%s: first, visible, last, end %v, gaps %v", name, got, gaps(o, 0))
		}
		if o.ID != "msg_1" || o.Model != "c-4" || o.Finish != "tool_calls" || o.Text != "Okay, let's" {
			t.Errorf("%s: %+v", name, o)
		}
		if u := o.Usage; *u.Input != 135 || *u.Cached != 100 || *u.Written != 10 || *u.Output != 89 || u.Reasoning != nil {
			t.Errorf("%s: usage %+v", name, u)
		}
	}
}

func TestMessagesEnds(t *testing.T) {
	start := named(0, "message_start", `,"message":{"id":"m","usage":{"input_tokens":7,"output_tokens":1}}`)
	a := named(1, "content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":"a"}`)
	stop := func(reason string) step {
		return named(2, "message_delta", `,"delta":{"stop_reason":"`+reason+`"},"usage":{"output_tokens":1}`)
	}
	for reason, want := range map[string]string{"end_turn": "stop", "max_tokens": "length", "stop_sequence": "stop", "refusal": "content_filter", "pause_turn": "other"} {
		if o := shaped(Messages, "text/event-stream", start, a, stop(reason)); o.Finish != want || o.Class != ClassOK {
			t.Errorf("%s: %s %s", reason, o.Finish, o.Class)
		}
	}
	o := shaped(Messages, "text/event-stream", start, a)
	wantFail(t, o, ClassUpstream, "truncated")
	if *o.Usage.Input != 7 || o.Usage.Output != nil {
		t.Errorf("a broken stream: usage %+v; its output is unknown", o.Usage)
	}
	wantFail(t, shaped(Messages, "text/event-stream", start, a, named(2, "error", `,"error":{"type":"overloaded_error","message":"x"}`)), ClassUpstream, "error_frame")
	wantFail(t, shaped(Messages, "text/event-stream", start, a, named(2, "message_stop", `,"x":1`)), ClassUpstream, "no_finish")
	o = shaped(Messages, "application/json", step{9, `{"id":"m","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hi"}],"model":"c","stop_reason":"end_turn","usage":{"input_tokens":5,"cache_read_input_tokens":2,"output_tokens":4}}`})
	wantOK(t, o)
	if o.Text != "Hi" || o.Finish != "stop" || *o.Usage.Input != 7 || *o.Usage.Output != 4 {
		t.Errorf("whole: %+v", o)
	}
	wantFail(t, shaped(Messages, "application/json", step{9, `{"type":"error","error":{"type":"rate_limit_error","message":"x"}}`}), ClassRateLimited, "error_body")
}

func TestEmbeddings(t *testing.T) {
	o := shaped(Embeddings, "application/json", step{9, `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.1,-2e-3]}],"model":"e","usage":{"prompt_tokens":8,"total_tokens":8}}`})
	wantOK(t, o)
	if o.Model != "e" || *o.Usage.Input != 8 || *o.Usage.Output != 0 || o.Finish != "" || ms(o.End) != 9 {
		t.Errorf("%+v", o)
	}
	wantOK(t, shaped(Embeddings, "application/json", step{9, `{"data":[{"embedding":"zczMPQ=="}]}`}))
	for _, nothing := range []string{`{"data":[]}`, `{"data":[{"embedding":[]}]}`, `{"object":"list"}`} {
		wantFail(t, shaped(Embeddings, "application/json", step{9, nothing}), ClassUpstream, "empty")
	}
	wantFail(t, shaped(Embeddings, "application/json", step{9, `{"error":{"message":"x","code":400}}`}), ClassClientError, "error_body")
}

// Text of a chat is kept when asked for, across a surrogate pair that two frames share, without reasoning and calls.
func TestKeptText(t *testing.T) {
	o := shaped(Chat, "text/event-stream", delta(1, `"reasoning":"no"`), delta(2, `"content":"a\ud83d"`), delta(3, `"content":"\ude00\n"`), delta(4, `"tool_calls":[{"function":{"name":"f"}}]`), done(5))
	if wantOK(t, o); o.Text != "a😀\n" {
		t.Errorf("%q", o.Text)
	}
	if o := events(delta(1, `"content":"a"`), done(2)); o.Text != "" {
		t.Errorf("kept without being asked: %q", o.Text)
	}
}

// Whatever the bytes, every shape gives an outcome with a class, and any split of them gives the same.
func FuzzShapes(f *testing.F) {
	f.Add("responses", named(1, "response.output_text.delta", `,"delta":"a"`).text+named(2, "response.completed", `,"response":{"status":"completed"}`).text, 9)
	f.Add("messages", named(1, "content_block_delta", `,"delta":{"text":"a"}`).text+named(2, "message_delta", `,"delta":{"stop_reason":"end_turn"}`).text, 40)
	f.Add("embeddings", `data: {"data":[{"embedding":[1]}]}`, 3)
	f.Fuzz(func(t *testing.T, api, text string, cut int) {
		whole := shaped(API(api), "text/event-stream", step{1, text})
		cut = min(max(cut, 0), len(text))
		parts := shaped(API(api), "text/event-stream", step{1, text[:cut]}, step{1, text[cut:]})
		if whole.Class == "" || whole.Class != parts.Class || whole.Reason != parts.Reason || whole.Text != parts.Text || len(whole.Chunks) != len(parts.Chunks) {
			t.Fatalf("%q cut at %d: %s %s, whole %s %s", text, cut, parts.Class, parts.Reason, whole.Class, whole.Reason)
		}
	})
}
