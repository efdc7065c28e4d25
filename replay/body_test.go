package replay

import (
	"encoding/json"
	"strings"
	"testing"

	"reprise/ingest/trace"
)

func maker(o Options, lengths string) *bodyMaker {
	o.Target = "http://h"
	if err := o.check(); err != nil {
		panic(err)
	}
	return &bodyMaker{prompter: newPrompter(Calibration{}, o.Salt), opt: &o, lengths: lengths}
}

func mustBody(t *testing.T, m *bodyMaker, it Item) string {
	t.Helper()
	built, err := m.body(&it)
	b := built.bytes
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b) {
		t.Fatalf("not JSON: %s", b)
	}
	return string(b)
}

func TestBodies(t *testing.T) {
	chat := Item{RequestID: "a", Model: "m", Endpoint: "chat", Stream: true, InputTokens: 3, OutputTokens: 7, MaxTokens: trace.Ptr(int64(50))}
	whole := chat
	whole.Stream, whole.MaxTokens = false, nil
	system := chat
	system.SystemHash, system.SystemTokens = "h", 2
	completion := chat
	completion.Endpoint = "completions"
	for _, c := range []struct {
		name    string
		opt     Options
		lengths string
		item    Item
		want    string
	}{
		{"forced", Options{}, LengthsRecorded, chat, `{"model":"m","messages":[{"role":"user","content":"W W W"}],"stream":true,"stream_options":{"include_usage":true},"min_tokens":7,"ignore_eos":true,"max_tokens":7}`},
		{"natural", Options{}, LengthsNatural, chat, `{"model":"m","messages":[{"role":"user","content":"W W W"}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":50}`},
		{"natural without a limit", Options{}, LengthsNatural, whole, `{"model":"m","messages":[{"role":"user","content":"W W W"}]}`},
		{"system", Options{}, LengthsNatural, system, `{"model":"m","messages":[{"role":"system","content":"W W"},{"role":"user","content":"W"}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":50}`},
		{"completions", Options{Model: "x"}, LengthsNatural, completion, `{"model":"x","prompt":"W W W","stream":true,"stream_options":{"include_usage":true},"max_tokens":50}`},
		{"rewritten", Options{ModelMap: map[string]string{"m": "y"}, MaxTokensField: "max_completion_tokens", Extra: []Field{{"stream_options", []byte("null")}, {"temperature", []byte("0")}}}, LengthsNatural, chat,
			`{"model":"y","messages":[{"role":"user","content":"W W W"}],"stream":true,"max_completion_tokens":50,"temperature":0}`},
	} {
		got := mustBody(t, maker(c.opt, c.lengths), c.item)
		for _, w := range strings.Fields(wordList) { // any word of the list
			got = strings.NewReplacer(`"`+w+` `, `"W `, ` `+w+` `, ` W `, ` `+w+`"`, ` W"`, `"content":"`+w+`"`, `"content":"W"`).Replace(got)
		}
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestRecordedBodies(t *testing.T) {
	item := func(body string) Item {
		return Item{RequestID: "a", Model: "m", Endpoint: "chat", Stream: true, InputTokens: 3, OutputTokens: 7, Body: []byte(body)}
	}
	const recorded = `{"temperature":0.7, "model":"old","messages":[{"role":"user","content":"hi <b>"}],"max_completion_tokens":90,"stream":false}`
	for _, c := range []struct{ name, lengths, salt, in, want string }{
		{"natural", LengthsNatural, "", recorded, `{"temperature":0.7,"model":"new","messages":[{"role":"user","content":"hi <b>"}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":90}`},
		{"forced", LengthsRecorded, "", recorded, `{"temperature":0.7,"model":"new","messages":[{"role":"user","content":"hi <b>"}],"stream":true,"stream_options":{"include_usage":true},"min_tokens":7,"ignore_eos":true,"max_tokens":7}`},
		{"of a form", LengthsRecorded, "", `{"messages":[],"response_format":{"type":"json_schema","json_schema":{"name":"text"}}}`, `{"messages":[],"response_format":{"type":"json_schema","json_schema":{"name":"text"}},"model":"new","stream":true,"stream_options":{"include_usage":true}}`},
		{"of a form, with a limit", LengthsRecorded, "", `{"messages":[],"max_completion_tokens":90,"guided_regex":"a+"}`, `{"messages":[],"guided_regex":"a+","model":"new","stream":true,"stream_options":{"include_usage":true},"max_tokens":90}`},
		{"forced tool", LengthsRecorded, "", `{"tool_choice":"required"}`, `{"tool_choice":"required","model":"new","stream":true,"stream_options":{"include_usage":true}}`},
		{"free tool", LengthsRecorded, "", `{"tool_choice":"auto"}`, `{"tool_choice":"auto","model":"new","stream":true,"stream_options":{"include_usage":true},"min_tokens":7,"ignore_eos":true,"max_tokens":7}`},
	} {
		if got := mustBody(t, maker(Options{Model: "new", Salt: c.salt}, c.lengths), item(c.in)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	salted := mustBody(t, maker(Options{Salt: "s"}, LengthsNatural), item(`{"messages":[{"role":"system","content":"be kind"},{"role":"user","content":"hi"}]}`))
	var v struct{ Messages []struct{ Content string } }
	json.Unmarshal([]byte(salted), &v)
	if f := strings.Fields(v.Messages[0].Content); len(f) != saltWords+2 || f[saltWords] != "be" || v.Messages[1].Content != "hi" {
		t.Errorf("salted: %s", salted)
	}
	parts := mustBody(t, maker(Options{Salt: "s"}, LengthsNatural), item(`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]}`))
	if !strings.Contains(parts, `"content":[{"type":"text","text":"`) || !strings.Contains(parts, `{"type":"image_url","image_url":{}}`) {
		t.Errorf("salted parts: %s", parts)
	}
	for _, bad := range []string{`[]`, `{"a":`, `x`, ``} {
		it := item(bad)
		if it.Body == nil {
			it.Body = []byte{}
		}
		if _, err := maker(Options{}, LengthsNatural).body(&it); err == nil {
			t.Errorf("%q: want an error", bad)
		}
	}
}

// A recorded hang-up needs an answer that is still under way: its length is the caller's limit, not what had come.
func TestCancelledLength(t *testing.T) {
	it := Item{RequestID: "a", Endpoint: "chat", Stream: true, InputTokens: 3, OutputTokens: 7, MaxTokens: trace.Ptr(int64(500)), CancelUS: trace.Ptr(int64(9))}
	if got := mustBody(t, maker(Options{Cancel: CancelRecorded}, LengthsRecorded), it); !strings.Contains(got, `"max_tokens":500`) {
		t.Error(got)
	}
	if got := mustBody(t, maker(Options{}, LengthsRecorded), it); !strings.Contains(got, `"max_tokens":7`) {
		t.Error(got)
	}
}

func TestOptions(t *testing.T) {
	for _, bad := range []Options{{}, {Target: "h:1"}, {Target: "ftp://h"}, {Target: "http://"}, {Target: "http://h", Cancel: "maybe"}, {Target: "http://h", Extra: []Field{{"a", []byte("{")}}}} {
		if err := bad.check(); err == nil {
			t.Errorf("%+v: want an error", bad)
		}
	}
}

// Whatever a recorded body is, it is refused or comes out as JSON with the target's model.
func FuzzRecordedBody(f *testing.F) {
	f.Add([]byte(`{"model":"a","messages":[{"role":"user","content":"hi"}],"max_tokens":5}`), "salt")
	f.Add([]byte(`{"messages":[{"content":[{"type":"text"}]}],"prompt":"a","tool_choice":"auto"}`), "")
	f.Add([]byte(`{"a":1,"a":2,"stream":null,"\u0001":"\u0000","Model":1}`), "s")
	f.Fuzz(func(t *testing.T, body []byte, salt string) {
		it := Item{RequestID: "a", Endpoint: "chat", Stream: true, InputTokens: 3, OutputTokens: 7, Body: body}
		if it.Body == nil {
			it.Body = []byte{}
		}
		built, err := maker(Options{Model: "new", Salt: salt}, LengthsRecorded).body(&it)
		got := built.bytes
		if err != nil {
			return
		}
		var v map[string]json.RawMessage
		if err := json.Unmarshal(got, &v); err != nil || string(v["model"]) != `"new"` || string(v["max_tokens"]) != "7" && !built.free {
			t.Fatalf("%q became %q: %v", body, got, err)
		}
	})
}
