package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The tests are named after the pitfalls (pitfalls.md part C) they guard against; the figures are the ones given there.

func TestRPL01RoleFrameIsNoToken(t *testing.T) {
	o := events(delta(30, `"role":"assistant","content":""`), delta(800, `"content":"hi"`), finish(810, "stop"), done(811))
	wantOK(t, o)
	if got := times(o); got != [4]int{800, 800, 800, 811} {
		t.Errorf("first, visible, last, end: %v", got)
	}
	for _, role := range []string{`"role":"assistant"`, `"role":"assistant","content":null`, `"role":"assistant","content":"","reasoning_content":null,"tool_calls":[]`} {
		if o := events(delta(30, role), delta(800, `"content":"hi"`), done(811)); ms(o.First()) != 800 {
			t.Errorf("role frame %s: first %d, want 800", role, ms(o.First()))
		}
	}
}

func TestRPL02EmptyTextIsNoToken(t *testing.T) {
	o := events(delta(10, `"content":""`), delta(20, `"content":""`), delta(500, `"content":"a"`), delta(510, `"content":""`), delta(540, `"content":"b"`), done(541))
	wantOK(t, o)
	if ms(o.First()) != 500 || !slices.Equal(gaps(o, 0), []int{40}) {
		t.Errorf("first %d gaps %v, want 500 and one gap of 40", ms(o.First()), gaps(o, 0))
	}
}

func TestRPL03TrailingUsage(t *testing.T) {
	o := events(delta(100, `"content":"a"`), delta(900, `"content":"b"`), finish(900, "stop"), usage(950, "11", "2"), done(951))
	wantOK(t, o)
	if got := times(o); got != [4]int{100, 100, 900, 951} {
		t.Errorf("first, visible, last, end: %v", got)
	}
	if *o.Usage.Input != 11 || *o.Usage.Output != 2 || o.Usage.Cached != nil {
		t.Errorf("usage %+v", o.Usage)
	}
	if o.Chunks[1].Tokens != -1 {
		t.Error("a total is not the token count of a frame")
	}
}

// Usage beside the last payload is a total too.
func TestUsageInLastPayloadFrame(t *testing.T) {
	last := step{50, `data: {"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":40,"prompt_tokens_details":{"cached_tokens":2},"completion_tokens_details":{"reasoning_tokens":30}}}` + "\n\n"}
	o := events(delta(10, `"content":"a"`), last, done(51))
	wantOK(t, o)
	if o.Chunks[0].Tokens != -1 || o.Chunks[1].Tokens != -1 {
		t.Errorf("tokens %d %d, want unknown", o.Chunks[0].Tokens, o.Chunks[1].Tokens)
	}
	if *o.Usage.Cached != 2 || *o.Usage.Reasoning != 30 {
		t.Errorf("usage %+v", o.Usage)
	}
}

// vLLM with continuous usage: the running total of each frame gives the tokens of each chunk.
func TestContinuousUsage(t *testing.T) {
	f := func(at int, text string, total int) step {
		return step{at, fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%q}}],"usage":{"prompt_tokens":9,"completion_tokens":%d}}`+"\n\n", text, total)}
	}
	o := events(f(10, "", 0), f(20, "a", 1), f(30, "", 2), f(40, "b", 4), finish(41, "stop"), usage(42, "9", "5"), done(43))
	wantOK(t, o)
	var got []int32
	for _, c := range o.Chunks {
		got = append(got, c.Tokens)
	}
	if !slices.Equal(got, []int32{1, 3}) || *o.Usage.Output != 5 {
		t.Errorf("tokens a chunk %v, total %d; want 1 and 3 (the held-back one comes with b) of 5", got, *o.Usage.Output)
	}
}

func TestRPL04ReasoningIsGenerated(t *testing.T) {
	for _, field := range []string{"reasoning_content", "reasoning"} {
		o := events(delta(300, `"`+field+`":"hm"`), delta(400, `"`+field+`":"hmm","content":null`), delta(9000, `"content":"42"`), done(9001))
		wantOK(t, o)
		if got := times(o); got != [4]int{300, 9000, 9000, 9001} {
			t.Errorf("%s: first, visible, last, end: %v", field, got)
		}
	}
	o := events(delta(300, `"reasoning":"hm","content":"x"`), done(301))
	if o.Chunks[0].Kind != Reasoning|Content || ms(o.FirstVisible()) != 300 {
		t.Errorf("both channels in one frame: %v", o.Chunks[0].Kind)
	}
}

func TestRPL05ToolCallsAreGenerated(t *testing.T) {
	o := events(delta(390, `"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"","arguments":""}}]`),
		delta(400, `"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"get","arguments":""}}]`),
		delta(450, `"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]`),
		delta(500, `"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]`), finish(501, "tool_calls"), marker(502))
	wantOK(t, o)
	if ms(o.First()) != 400 || !slices.Equal(gaps(o, 0), []int{50, 50}) || o.Finish != "tool_calls" {
		t.Errorf("first %d gaps %v finish %s", ms(o.First()), gaps(o, 0), o.Finish)
	}
	if c := o.Chunks[1]; c.Kind != Tool || c.Bytes != 4 || c.Chars != 4 {
		t.Errorf("chunk %+v, want 4 characters of a tool call", c)
	}
}

func TestRPL06CommentsAreNothing(t *testing.T) {
	o := events(step{10, ":\n\n"}, step{20, ": still working\n\n"}, delta(700, `"content":"a"`), step{710, ":\n"}, done(720))
	wantOK(t, o)
	if got := times(o); got != [4]int{700, 700, 700, 720} {
		t.Errorf("first, visible, last, end: %v", got)
	}
}

// stream200 has everything in it: a character of four bytes, escapes, a role frame, a tool call, usage.
const stream200 = ": hi\n\ndata: {\"id\":\"x1\",\"model\":\"m\",\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\" \\u00e9\U0001F600 \\ud83d\\ude00 \"}}]}\n\n" +
	"event: message\nid: 7\ndata: {\"choices\":[{\"delta\":\ndata: {\"reasoning\":\"\\n\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6}}\n\ndata: [DONE]\n\n"

func TestRPL07AnySplitGivesTheSame(t *testing.T) {
	want := summary(events(step{0, stream200}))
	if !strings.Contains(want, "ok") || strings.Count(want, "{") < 2 {
		t.Fatalf("the stream must be good in one piece: %s", want)
	}
	for cut := range len(stream200) + 1 {
		if got := summary(events(step{0, stream200[:cut]}, step{0, stream200[cut:]})); got != want {
			t.Fatalf("cut at %d:\n%s\nwant\n%s", cut, got, want)
		}
	}
	var single []step
	for i := range len(stream200) {
		single = append(single, step{0, stream200[i : i+1]})
	}
	if got := summary(events(single...)); got != want {
		t.Errorf("byte by byte:\n%s\nwant\n%s", got, want)
	}
}

// summary is everything of an outcome that must not depend on how the bytes were cut.
func summary(o Outcome) string {
	var chunks []string
	for _, c := range o.Chunks {
		chunks = append(chunks, fmt.Sprintf("%+v", c))
	}
	in, out := int64(-1), int64(-1)
	if o.Usage.Input != nil {
		in, out = *o.Usage.Input, *o.Usage.Output
	}
	return fmt.Sprint(o.Class, " ", o.Reason, " ", o.Finish, " ", o.ID, " ", o.Model, " ", in, " ", out, "\n", strings.Join(chunks, "\n"))
}

func TestTextSizes(t *testing.T) {
	c := events(step{0, stream200}).Chunks
	// " é😀 😀 " is 6 characters: 3 spaces, 2+4+4 bytes.
	if c[0].Chars != 6 || c[0].Bytes != 13 || c[1].Chars != 1 || c[1].Bytes != 1 {
		t.Errorf("got %d characters %d bytes, %d and %d; want 6 and 13, 1 and 1", c[0].Chars, c[0].Bytes, c[1].Chars, c[1].Bytes)
	}
}

func TestRPL08SyntaxVariants(t *testing.T) {
	want := summary(events(step{0, stream200}))
	for name, variant := range map[string]string{
		"crlf":       strings.ReplaceAll(stream200, "\n", "\r\n"),
		"cr":         strings.ReplaceAll(stream200, "\n", "\r"),
		"no space":   strings.ReplaceAll(stream200, "data: ", "data:"),
		"bom":        "\xEF\xBB\xBF" + stream200,
		"done space": strings.ReplaceAll(stream200, "[DONE]", " [DONE] "),
		"retry":      "retry: 100\n\n" + stream200,
		"no name":    strings.ReplaceAll(stream200, "event: message\n", ""),
	} {
		for cut := 0; cut < len(variant); cut += 7 {
			if got := summary(events(step{0, variant[:cut]}, step{0, variant[cut:]})); got != want {
				t.Errorf("%s cut at %d:\n%s\nwant\n%s", name, cut, got, want)
				break
			}
		}
	}
}

func TestRPL09LargeEvents(t *testing.T) {
	o := events(delta(1, `"content":"a"`), delta(2, `"content":"`+long(4<<20)+`"`), delta(3, `"content":"b"`), done(4))
	wantOK(t, o)
	if len(o.Chunks) != 3 || o.Chunks[1].Bytes != 4<<20 {
		t.Errorf("%d chunks", len(o.Chunks))
	}
	o = events(delta(1, `"content":"a"`), delta(2, `"content":"`+long(DefaultMaxEvent)+`"`), delta(3, `"content":"b"`), done(4))
	wantFail(t, o, ClassUpstream, "event_too_large")
	if len(o.Chunks) != 1 {
		t.Errorf("%d chunks, want the one before the cap was hit", len(o.Chunks))
	}
	var lines strings.Builder
	for range 20 {
		lines.WriteString("data: " + long(1<<20) + "\n")
	}
	wantFail(t, events(step{1, lines.String()}), ClassUpstream, "event_too_large")
}

func TestRPL10ErrorInside200(t *testing.T) {
	for _, c := range []struct{ frame, class, code string }{
		{`data: {"error":{"message":"boom","type":"server_error","code":500}}`, ClassUpstream, "500"},
		{`data: {"error":{"message":"boom","type":"server_error"}}`, ClassUpstream, "server_error"},
		{`data: {"error":"boom"}`, ClassUpstream, ""},
		{"event: error\ndata: boom", ClassUpstream, ""},
		{"event: error\ndata: {\"message\":\"slow down\",\"type\":\"rate_limit_error\"}", ClassRateLimited, "rate_limit_error"},
		{`data: {"object":"error","message":"boom","type":"InternalServerError","code":500}`, ClassUpstream, "500"},
		{`data: {"type":"error","error":{"type":"overloaded_error"}}`, ClassUpstream, "overloaded_error"},
		{`data: {"error":{"message":"This model's maximum context length is 10 tokens","code":null}}`, ClassContextLength, ""},
		{`data: not json`, ClassUpstream, ""},
	} {
		o := events(delta(1, `"content":"a"`), step{2, c.frame + "\n\n"}, done(3))
		if o.Class != c.class || o.Code != c.code || o.Status != 200 || len(o.Chunks) != 1 {
			t.Errorf("%s: got %s %s code %q chunks %d; want %s code %q and the partial token", c.frame, o.Class, o.Reason, o.Code, len(o.Chunks), c.class, c.code)
		}
	}
	wantFail(t, feed("application/json", 200, []step{{1, `{"error":{"message":"boom","type":"server_error"}}`}}), ClassUpstream, "error_body")
	wantFail(t, events(delta(1, `"content":"a"`), finish(2, "error"), marker(3)), ClassUpstream, "finish_error")
	for _, fine := range []string{`"error":null`, `"error":false`, `"error":""`} {
		wantOK(t, events(step{1, `data: {"choices":[{"delta":{"content":"a"}}],` + fine + "}\n\n"}, done(2)))
	}
}

func TestRPL11NothingIsAFailure(t *testing.T) {
	for name, o := range map[string]Outcome{
		"role and done":     events(delta(1, `"role":"assistant"`), done(2)),
		"done":              events(done(2)),
		"nothing":           events(),
		"finish, no counts": events(finish(1, "stop"), done(2)),
		"no choices":        feed("application/json", 200, []step{{1, `{"id":"x","choices":[]}`}}),
	} {
		if o.Class != ClassUpstream || o.Reason != "empty" || o.First() != nil {
			t.Errorf("%s: got %s %s first %v, want upstream_error empty without a first token", name, o.Class, o.Reason, o.First())
		}
	}
	o := events(finish(1, "stop"), usage(2, "5", "0"), done(3))
	wantOK(t, o)
	if o.First() != nil || *o.Usage.Output != 0 {
		t.Error("a declared zero-token answer is ok and has no first token")
	}
}

func TestRPL12Choices(t *testing.T) {
	f := func(at, index int) step {
		return step{at, fmt.Sprintf(`data: {"choices":[{"index":%d,"delta":{"content":"a"}}]}`+"\n\n", index)}
	}
	o := events(f(10, 1), f(20, 0), f(30, 1), f(40, 0), f(50, 1), f(60, 0), usage(61, "7", "6"), done(62))
	wantOK(t, o)
	if ms(o.First()) != 10 || !slices.Equal(gaps(o, 0), []int{20, 20}) || !slices.Equal(gaps(o, 1), []int{20, 20}) || o.Choices != 2 {
		t.Errorf("first %d gaps %v %v choices %d", ms(o.First()), gaps(o, 0), gaps(o, 1), o.Choices)
	}
}
