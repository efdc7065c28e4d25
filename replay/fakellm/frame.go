package fakellm

import (
	"encoding/json"
	"strconv"
)

// frames renders the frames of one answer. What stays the same in each is rendered once.
type frames struct {
	call      *call
	head      string // up to the value of the choice's first field
	chat      bool
	draw      uint64
	reasoning int    // first tokens that go into the reasoning channel
	field     string // name of that channel
	tool      bool
	total     int
}

const doneFrame = "data: [DONE]\n\n"

// script renders a stream: what comes before the first token, each chunk of tokens, and what follows the last.
type script interface {
	role(b []byte) []byte
	tokens(b []byte, from, n int) []byte
	finish(b []byte, written int) []byte
}

// newScript prepares the events of a call with an answer of total tokens.
func newScript(c *call, total int) script {
	f := newFrames(c, total)
	switch c.api {
	case apiResponses:
		return &responsesScript{frames: f}
	case apiMessages:
		return &messagesScript{frames: f, block: -1}
	}
	return f
}

func newFrames(c *call, total int) *frames {
	field := `"text":`
	if c.api != apiText {
		field = `"delta":`
	}
	f := &frames{
		call: c,
		head: "data: {" + c.envelope(".chunk") + `,"choices":[{"index":0,` + field,
		chat: c.api.talks(), draw: c.info.Draw, total: total,
	}
	if f.chat {
		f.reasoning, f.tool, f.field = c.truth.ReasoningTokens, c.do.ToolCall, c.do.ReasoningField
		if f.field == "" {
			f.field = "reasoning_content"
		}
	}
	return f
}

// envelope is the fields that every frame (with part ".chunk") and every whole answer ("") begins with.
func (c *call) envelope(part string) string {
	prefix, object := "cmpl-", "text_completion"
	if c.api == apiChat {
		prefix, object = "chatcmpl-", "chat.completion"+part
	}
	return `"id":` + quoted(prefix+c.info.ID) + `,"object":"` + object + `","created":` +
		strconv.FormatInt(c.truth.ArrivalUnixUS/1e6, 10) + `,"model":` + quoted(c.info.Model)
}

// quoted is s as a JSON string.
func quoted(s string) string {
	text, _ := json.Marshal(s) // a string always marshals
	return string(text)
}

func (f *frames) role(b []byte) []byte {
	b = append(b, f.head...)
	return append(b, `{"role":"assistant","content":""},"finish_reason":null}]}`+"\n\n"...)
}

// tokens appends the frame with n output tokens from index from on.
func (f *frames) tokens(b []byte, from, n int) []byte {
	b = append(b, f.head...)
	if f.chat {
		b = append(f.fields(append(b, '{'), from, from+n), '}')
	} else {
		b = append(f.words(append(b, '"'), from, from+n, 0), '"')
	}
	return append(b, `,"finish_reason":null}]}`+"\n\n"...)
}

// fields appends the fields that carry these tokens: reasoning, then text or tool call. A chunk across the border has both.
func (f *frames) fields(b []byte, from, to int) []byte {
	if from < f.reasoning {
		b = append(append(append(b, '"'), f.field...), `":"`...)
		b = append(f.words(b, from, min(to, f.reasoning), 0), '"')
		if to > f.reasoning {
			b = append(b, ',')
		}
	}
	from = max(from, f.reasoning)
	switch {
	case from >= to:
	case f.tool:
		b = f.toolCalls(b, from, to)
	default:
		b = append(b, `"content":"`...)
		b = append(f.words(b, from, to, f.reasoning), '"')
	}
	return b
}

// words appends tokens, each with a space before it but the first of its channel.
func (f *frames) words(b []byte, from, to, first int) []byte {
	for i := from; i < to; i++ {
		if i > first {
			b = append(b, ' ')
		}
		b = append(b, word(f.draw, i)...)
	}
	return b
}

// toolCalls appends pieces of one call lookup({"q":"word word ..."}): its first token is the name, the others the argument.
func (f *frames) toolCalls(b []byte, from, to int) []byte {
	b = append(b, `"tool_calls":[{"index":0,`...)
	if from == f.reasoning {
		b = append(b, `"id":"call_`...)
		b = strconv.AppendUint(b, f.draw, 16)
		b = append(b, `","type":"function","function":{"name":"lookup","arguments":"`...)
	} else {
		b = append(b, `"function":{"arguments":"`...)
	}
	return append(f.arguments(b, from-f.reasoning, to-f.reasoning), `"}}]`...)
}

// arguments appends the part of the escaped argument text that tokens from to to-1 of the call carry.
func (f *frames) arguments(b []byte, from, to int) []byte {
	last := f.total - f.reasoning - 1
	if last == 0 {
		return append(b, `{}`...)
	}
	for i := max(from, 1); i < to; i++ {
		if i == 1 {
			b = append(b, `{\"q\":\"`...)
		} else {
			b = append(b, ' ')
		}
		b = append(b, word(f.draw, f.reasoning+i)...)
		if i == last {
			b = append(b, `\"}`...)
		}
	}
	return b
}

// finish appends the reason, the usage when it was asked for, and the end marker.
func (f *frames) finish(b []byte, written int) []byte {
	b = append(b, f.head...)
	if f.chat {
		b = append(b, `{}`...)
	} else {
		b = append(b, `""`...)
	}
	b = append(append(append(b, `,"finish_reason":"`...), f.call.reason...), `"}]}`+"\n\n"...)
	if f.call.req.usage {
		b = f.call.usageFrame(b, written)
	}
	return append(b, doneFrame...)
}

// usageFrame appends the frame without choices that OpenAI's include_usage asks for.
func (c *call) usageFrame(b []byte, output int) []byte {
	b = append(append(b, "data: {"...), c.envelope(".chunk")...)
	return append(append(append(b, `,"choices":[],"usage":`...), c.usage(output)...), "}\n\n"...)
}

// usage is the value of the usage field for an answer with this many tokens written.
func (c *call) usage(output int) string {
	t, itoa := &c.truth, strconv.Itoa
	return `{"prompt_tokens":` + itoa(t.PromptTokens) + `,"completion_tokens":` + itoa(output) +
		`,"total_tokens":` + itoa(t.PromptTokens+output) +
		`,"prompt_tokens_details":{"cached_tokens":` + itoa(t.CachedTokens) + `}` +
		`,"completion_tokens_details":{"reasoning_tokens":` + itoa(t.ReasoningTokens) + `}}`
}
