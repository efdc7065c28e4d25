package fakellm

import (
	"errors"
	"strconv"
)

// messagesTexts reads the system prompt and the messages.
func (b body) messagesTexts() ([]string, error) {
	if b.MaxTokens == nil {
		return nil, errors.New("max_tokens: want a number, got none")
	}
	system, err := contentTexts(b.System)
	if err != nil {
		return nil, errors.New("system: " + err.Error())
	}
	texts, err := chatTexts(b.Messages)
	return append(system, texts...), err
}

// messagesScript renders the events of Anthropic's Messages API. Each channel is a block of its own.
type messagesScript struct {
	*frames
	block int // index of the open block, -1 for none
	kind  string
}

func (f *messagesScript) event(b []byte, kind, members string) []byte {
	return append(b, "event: "+kind+"\ndata: {\"type\":\""+kind+`"`+members+"}\n\n"...)
}

// head are the members of the message object up to the stop reason.
func (f *messagesScript) head() string {
	return `"id":` + quoted("msg_"+f.call.info.ID) + `,"type":"message","role":"assistant","model":` + quoted(f.call.info.Model)
}

// usage counts as Anthropic does: input without what the cache had.
func (f *messagesScript) usage(n int) string {
	t := &f.call.truth
	return `"usage":{"input_tokens":` + strconv.Itoa(t.PromptTokens-t.CachedTokens) + `,"cache_creation_input_tokens":0,"cache_read_input_tokens":` +
		strconv.Itoa(t.CachedTokens) + `,"output_tokens":` + strconv.Itoa(n) + `}`
}

func (f *messagesScript) role(b []byte) []byte {
	return f.event(b, "message_start", `,"message":{`+f.head()+`,"content":[],"stop_reason":null,`+f.usage(1)+`}`)
}

func (f *messagesScript) tokens(b []byte, from, n int) []byte {
	to := from + n
	if from < f.reasoning {
		b = f.open(b, "thinking", `"thinking":""`)
		b = f.delta(b, `"type":"thinking_delta","thinking":"`, f.words(nil, from, min(to, f.reasoning), 0))
	}
	if from = max(from, f.reasoning); from >= to {
		return b
	}
	if !f.tool {
		b = f.open(b, "text", `"text":""`)
		return f.delta(b, `"type":"text_delta","text":"`, f.words(nil, from, to, f.reasoning))
	}
	b = f.open(b, "tool_use", `"id":"toolu_1","name":"lookup","input":{}`)
	if text := f.arguments(nil, from-f.reasoning, to-f.reasoning); len(text) > 0 {
		b = f.delta(b, `"type":"input_json_delta","partial_json":"`, text)
	}
	return b
}

// open begins a block of a kind unless it is open.
func (f *messagesScript) open(b []byte, kind, members string) []byte {
	if f.kind == kind {
		return b
	}
	b = f.close(b)
	f.kind = kind
	f.block++
	return f.event(b, "content_block_start", f.index()+`,"content_block":{"type":"`+kind+`",`+members+`}`)
}

func (f *messagesScript) close(b []byte) []byte {
	if f.kind == "" {
		return b
	}
	return f.event(b, "content_block_stop", f.index())
}

func (f *messagesScript) index() string { return `,"index":` + strconv.Itoa(f.block) }

// delta appends text that is escaped already.
func (f *messagesScript) delta(b []byte, head string, text []byte) []byte {
	return f.event(b, "content_block_delta", f.index()+`,"delta":{`+head+string(text)+`"}`)
}

// stop is the reason in Anthropic's words.
func (f *messagesScript) stop() string {
	switch f.call.reason {
	case "length":
		return "max_tokens"
	case "tool_calls":
		return "tool_use"
	}
	return "end_turn"
}

func (f *messagesScript) finish(b []byte, written int) []byte {
	b = f.close(b)
	b = f.event(b, "message_delta", `,"delta":{"stop_reason":"`+f.stop()+`","stop_sequence":null},`+f.usage(written))
	return f.event(b, "message_stop", "")
}

// whole is the message object of an answer with n tokens.
func (f *messagesScript) whole(n int) []byte {
	b := append([]byte("{"), f.head()+`,"content":[`...)
	if r := min(n, f.reasoning); r > 0 {
		b = append(f.words(append(b, `{"type":"thinking","thinking":"`...), 0, r, 0), `"},`...)
	}
	if f.tool {
		b = append(b, `{"type":"tool_use","id":"toolu_1","name":"lookup","input":{}}`...)
	} else {
		b = append(f.words(append(b, `{"type":"text","text":"`...), f.reasoning, n, f.reasoning), `"}`...)
	}
	return append(b, `],"stop_reason":"`+f.stop()+`",`+f.usage(n)+`}`...)
}
