package otel

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

const (
	instruction = "You are a shop's assistant."
	question    = "Where is my \"order\"?\n"
)

// quote writes a JSON string, depth times over: JSON in a string.
func quote(t *testing.T, s string, depth int) string {
	t.Helper()
	for range depth {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		s = string(b)
	}
	return s
}

// promptSpellings are one conversation (an instruction, a question) as each convention records it.
func promptSpellings(t *testing.T) map[string]string {
	i, q := quote(t, instruction, 1), quote(t, question, 1)
	list := `[{"role":"system","content":` + i + `},{"role":"user","content":` + q + `}]`
	parts := `[{"role":"system","parts":[{"type":"text","content":` + i + `}]},{"role":"user","parts":[{"type":"text","content":` + q + `}]}]`
	return map[string]string{
		"gen_ai.input.messages": `"gen_ai.input.messages":` + quote(t, parts, 1),
		"gen_ai.system_instructions": `"gen_ai.system_instructions":` + quote(t, `[{"type":"text","content":`+i+`}]`, 1) +
			`,"gen_ai.input.messages":` + quote(t, `[{"role":"user","parts":[{"type":"text","content":`+q+`}]}]`, 1),
		"flat list":        `"gen_ai.input.messages":` + quote(t, list, 1),
		"gen_ai.prompt":    `"gen_ai.prompt.0.role":"system","gen_ai.prompt.0.content":` + i + `,"gen_ai.prompt.1.role":"user","gen_ai.prompt.1.content":` + q,
		"content parts":    `"gen_ai.prompt.0.role":"system","gen_ai.prompt.0.content":` + i + `,"gen_ai.prompt.1.role":"user","gen_ai.prompt.1.content":` + quote(t, `[{"type":"text","text":`+q+`}]`, 1),
		"Python parts":     `"gen_ai.prompt.0.role":"system","gen_ai.prompt.0.content":` + i + `,"gen_ai.prompt.1.role":"user","gen_ai.prompt.1.content":` + quote(t, `[{'type': 'text', 'text': 'Where is my "order"?\n'}]`, 1),
		"openinference":    `"llm.input_messages.0.message.role":"system","llm.input_messages.0.message.content":` + i + `,"llm.input_messages.1.message.role":"user","llm.input_messages.1.message.contents.0.message_content.type":"text","llm.input_messages.1.message.contents.0.message_content.text":` + q,
		"ai.prompt":        `"ai.prompt.messages":` + quote(t, `[{"role":"system","content":`+i+`},{"role":"user","content":[{"type":"text","text":`+q+`}]}]`, 1),
		"langfuse":         `"langfuse.observation.input":` + quote(t, `{"messages":`+list+`}`, 1),
		"input.value":      `"input.value":` + quote(t, `{"model":"m","messages":`+list+`}`, 1),
		"top-level system": `"input.value":` + quote(t, `{"system":`+i+`,"messages":[{"role":"user","content":`+q+`}]}`, 1),
	}
}

func TestPromptShape(t *testing.T) {
	p := testHasher.Prompt()
	p.Add("system", []byte(instruction))
	p.Add("user", []byte(question))
	for name, attributes := range promptSpellings(t) {
		r := only(t, oneSpan(`{"gen_ai.request.model":"m","gen_ai.usage.input_tokens":40,`+attributes+`}`, ""))
		// 34 of the 61 bytes that are fed are the instruction and its role: 22.3 of 40 tokens.
		if r.SystemPromptHash != p.SystemHash() || !slices.Equal(r.PrefixHashIDs, p.Blocks()) || show(r.SystemPromptTokens) != int64(22) || show(r.Turn) != int32(1) {
			t.Errorf("%s: system %q, blocks %v, tokens %v, turn %v", name, r.SystemPromptHash, r.PrefixHashIDs, show(r.SystemPromptTokens), show(r.Turn))
		}
		if !r.HasQuality(trace.QSystemEstimated) {
			t.Errorf("%s: quality %q", name, r.Quality)
		}
	}
}

// ING-28: a cut or redacted prompt has no shape, but the row stays.
func TestCutPrompt(t *testing.T) {
	for _, c := range []struct {
		attributes, more string
		cut              bool
	}{
		{`"gen_ai.input.messages":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"conte"`, "", true},
		{`"gen_ai.prompt.0.role":"user","gen_ai.prompt.0.content":"hi"`, `"droppedAttributesCount":2`, true},
		{`"gen_ai.prompt.0.role":"user","gen_ai.prompt.0.content":"hi (litellm_truncated 900 chars) there"`, "", true},
		{`"llm.input_messages.0.message.role":"user","llm.input_messages.0.message.content":"__REDACTED__"`, "", false},
		{`"gen_ai.prompt.0.role":"user","gen_ai.prompt.0.content":"redacted-by-litellm"`, "", false},
		{`"gen_ai.request.max_tokens":5`, "", false},
		{`"llm.prompts.0.prompt.text":"a","llm.prompts.1.prompt.text":"b"`, "", false}, // a batch
	} {
		r := only(t, oneSpan(`{"gen_ai.request.model":"m","gen_ai.usage.input_tokens":40,`+c.attributes+`}`, c.more))
		if r.SystemPromptTokens != nil || r.PrefixHashIDs != nil || r.SystemPromptHash != "" || r.HasQuality(trace.QModelTextCut) != c.cut || r.EndUS == nil {
			t.Errorf("%s: tokens %v, blocks %v, quality %q", c.attributes, show(r.SystemPromptTokens), r.PrefixHashIDs, r.Quality)
		}
	}
}

// Pictures have tokens that text shares cannot see, and two of them are two prompts.
func TestMedia(t *testing.T) {
	image := func(url string) *trace.Request {
		return only(t, oneSpan(`{"openinference.span.kind":"LLM","llm.token_count.prompt":500,"llm.input_messages.0.message.role":"user",
			"llm.input_messages.0.message.contents.0.message_content.type":"image","llm.input_messages.0.message.contents.0.message_content.image.image.url":"`+url+`"}`, ""))
	}
	a, b := image("data:1"), image("data:2")
	if a.SystemPromptTokens != nil || len(a.PrefixHashIDs) != 1 || a.PrefixHashIDs[0] == b.PrefixHashIDs[0] {
		t.Errorf("tokens %v, blocks %v and %v", show(a.SystemPromptTokens), a.PrefixHashIDs, b.PrefixHashIDs)
	}
}

func TestBodies(t *testing.T) {
	const want = `{"model":"m","messages":[{"role":"system","content":"You are a shop's assistant."},{"role":"user","content":"Where is my \"order\"?\u000a"}],"max_tokens":64,"stream":true}`
	for name, attributes := range promptSpellings(t) {
		record := oneSpan(`{"gen_ai.request.model":"m","gen_ai.request.max_tokens":64,"gen_ai.request.stream":true,`+attributes+`}`, "")
		if got := decodeJSON(t, JSON(), decode.Options{KeepBodies: true}, record).bodies[0]; got != want {
			t.Errorf("%s: body %s", name, got)
		}
		if got := decodeJSON(t, JSON(), decode.Options{}, record).bodies[0]; got != "" {
			t.Errorf("%s: body kept without being asked", name)
		}
	}
	text := oneSpan(`{"gen_ai.operation.name":"text_completion","gen_ai.request.model":"m","gen_ai.input.messages":"once upon"}`, "")
	if got := decodeJSON(t, JSON(), decode.Options{KeepBodies: true}, text).bodies[0]; got != `{"model":"m","prompt":"once upon"}` {
		t.Errorf("completion: body %s", got)
	}
	tools := oneSpan(`{"gen_ai.request.model":"m","gen_ai.tool.definitions":"[{\"name\":\"f\"}]","gen_ai.input.messages":"[{\"role\":\"user\",\"content\":\"hi\"}]"}`, "")
	if got := decodeJSON(t, JSON(), decode.Options{KeepBodies: true}, tools).bodies[0]; got != "" {
		t.Errorf("a body without its tools: %s", got)
	}
}

// No text of a prompt, an answer, an error or a key is in any column.
func TestNoTextStored(t *testing.T) {
	for _, name := range []string{"js-vercel7/traces.jsonl.gz", "js-langfuse/traces.jsonl.gz", "litellm/spans.jsonl.gz"} {
		b, err := json.Marshal(decodeJSON(t, JSON(), decode.Options{}, lines(t, name)...).rows)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"assistant", "handbook", "alpha bravo", "maximum context", "Invalid model", "2ab06cfadcdcc1bb", "sk-"} {
			if strings.Contains(string(b), secret) {
				t.Errorf("%s: a column holds %q", name, secret)
			}
		}
	}
}

// One prompt in the writings of the generations of the conventions has one hash.
func TestEventPrompts(t *testing.T) {
	event := func(name, attributes string) string {
		return `{"name":"` + name + `","timeUnixNano":"1735689600000000001","attributes":{` + attributes + `}}`
	}
	const list = `[{\"role\":\"system\",\"content\":\"be brief\"},{\"role\":\"user\",\"content\":\"hi\"}]`
	want := only(t, oneSpan(`{"gen_ai.operation.name":"chat","gen_ai.prompt.0.role":"system","gen_ai.prompt.0.content":"be brief","gen_ai.prompt.1.role":"user","gen_ai.prompt.1.content":"hi"}`, ""))
	if want.SystemPromptHash == "" || len(want.PrefixHashIDs) != 1 || *want.Turn != 1 {
		t.Fatalf("got %+v", want)
	}
	for name, events := range map[string]string{
		"1.27": event("gen_ai.content.prompt", `"gen_ai.prompt":"`+list+`"`),
		"1.28": event("gen_ai.system.message", `"content":"be brief"`) + "," + event("gen_ai.user.message", `"content":"hi"`) + "," + event("gen_ai.choice", `"message":"{}"`),
		"Azure": event("gen_ai.system.message", `"gen_ai.event.content":"{\"content\":\"be brief\"}"`) + "," +
			event("gen_ai.user.message", `"gen_ai.event.content":"{\"role\":\"user\",\"content\":\"hi\"}"`),
		"1.37": event(operationDetails, `"gen_ai.system_instructions":"[{\"type\":\"text\",\"content\":\"be brief\"}]","gen_ai.input.messages":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"hi\"}]}]"`),
	} {
		r := only(t, oneSpan(`{"gen_ai.operation.name":"chat"}`, `"events":[`+events+`]`))
		if r.SystemPromptHash != want.SystemPromptHash || !slices.Equal(r.PrefixHashIDs, want.PrefixHashIDs) || show(r.Turn) != int32(1) {
			t.Errorf("%s: %+v", name, r)
		}
		if cut := only(t, oneSpan(`{"gen_ai.operation.name":"chat"}`, `"droppedEventsCount":1,"events":[`+events+`]`)); cut.PrefixHashIDs != nil || !cut.HasQuality("text_cut") {
			t.Errorf("%s, events dropped: %+v", name, cut)
		}
	}
}
