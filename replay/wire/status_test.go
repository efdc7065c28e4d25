package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStreamEnds(t *testing.T) {
	a := delta(1, `"content":"a"`)
	wantFail(t, events(a), ClassUpstream, "truncated")
	wantOK(t, events(a, finish(2, "stop")))
	wantOK(t, events(a, done(2)))
	wantFail(t, events(a, marker(2)), ClassUpstream, "no_finish") // LiteLLM was seen to end a broken stream like this
	wantOK(t, events(a, finish(2, "stop"), step{2, "data: [DONE]"}))
	wantOK(t, events(step{1, strings.TrimRight(a.text, "\n")}, step{2, "\n\n" + finish(2, "stop").text + "data: [DONE]\n"}))
	cut := finish(2, "stop")
	wantFail(t, events(a, step{2, cut.text[:len(cut.text)-8]}), ClassUpstream, "truncated")
	wantFail(t, feed("text/html", 200, []step{{1, "<html>"}}), ClassUpstream, "content_type")
	wantOK(t, feed("text/plain", 200, []step{a, done(2)}))
	wantOK(t, feed("", 200, []step{{1, `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`}}))
	wantOK(t, events(step{1, "data: {\"choices\":[{\"text\":\"a\",\"index\":0}]}\n\n"}, done(2)))
	wantOK(t, events(a, step{2, "event: ping\ndata: beep\n\n"}, done(3)))
}

func TestUnary(t *testing.T) {
	o := feed("application/json; charset=utf-8", 200, []step{{5, `{"id":"c1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},`},
		{9, `"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"prompt_tokens_details":null}}`}})
	wantOK(t, o)
	if o.Streamed || o.First() != nil || o.ID != "c1" || o.Finish != "stop" || *o.Usage.Output != 1 || ms(o.End) != 9 {
		t.Errorf("%+v", o)
	}
	wantFail(t, feed("application/json", 200, []step{{1, `{"choices":[`}}), ClassUpstream, "bad_json")
}

func TestStatusClasses(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		class  string
	}{
		{400, `{"error":{"message":"x","type":"invalid_request_error"}}`, ClassClientError}, {401, "", ClassClientError},
		{404, `{"detail":"Not Found"}`, ClassClientError}, {422, "", ClassClientError}, {302, "", ClassClientError},
		{408, "", ClassTimeout}, {504, "", ClassTimeout}, {429, "", ClassRateLimited}, {499, "", ClassUpstream},
		{500, "<html>", ClassUpstream}, {503, "", ClassUpstream},
		{400, `{"error":{"message":"the context length is 8","code":400}}`, ClassContextLength},
		{400, `{"error":{"code":"context_length_exceeded"}}`, ClassContextLength},
		{400, `{"error":{"code":"content_filter"}}`, ClassContentFilter},
	} {
		o := feed("application/json", c.status, []step{{1, c.body}})
		if o.Class != c.class || o.Reason != "status" && c.status != 302 {
			t.Errorf("%d %s: got %s %s, want %s", c.status, c.body, o.Class, o.Reason, c.class)
		}
	}
}

// The message of an error may quote the prompt: it must not come out.
func TestNoMessageInOutcome(t *testing.T) {
	o := feed("application/json", 400, []step{{1, `{"error":{"message":"secret","type":"secret sentence","code":"secret: words"}}`}})
	if s := fmt.Sprintf("%+v", o); strings.Contains(s, "secret") {
		t.Errorf("outcome repeats the server's words: %s", s)
	}
}

func TestCoalesced(t *testing.T) {
	a, b := delta(1, `"content":"a"`), delta(1, `"content":"b"`)
	if o := events(step{1, a.text + b.text + b.text}, b, done(3)); o.Coalesced != 2 {
		t.Errorf("got %d, want 2", o.Coalesced)
	}
}

func TestFinishReasons(t *testing.T) {
	got := map[string]string{}
	for _, r := range []string{"stop", "eos", "max_tokens", "function_call", "abort", "weird"} {
		got[r] = events(delta(1, `"content":"a"`), finish(2, r)).Finish
	}
	if d := cmp.Diff(map[string]string{"stop": "stop", "eos": "stop", "max_tokens": "length", "function_call": "tool_calls", "abort": "abort", "weird": "other"}, got); d != "" {
		t.Error(d)
	}
}
