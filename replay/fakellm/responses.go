package fakellm

import (
	"encoding/json"
	"errors"
	"strconv"
)

// responsesTexts reads instructions and input: a text, or a list of items of which those with content count.
func (b body) responsesTexts() ([]string, error) {
	texts, err := contentTexts(b.Guide)
	if err != nil {
		return nil, errors.New("instructions: want a text")
	}
	var items []message
	if json.Unmarshal(b.Input, &items) != nil {
		var text string
		if json.Unmarshal(b.Input, &text) != nil {
			return nil, errors.New("input: want a text or a list of items")
		}
		return append(texts, text), nil
	}
	if len(items) == 0 {
		return nil, errors.New("input: want at least one item, got none")
	}
	for _, it := range items {
		parts, err := contentTexts(it.Content)
		if err != nil {
			return nil, errors.New("input: content: " + err.Error())
		}
		texts = append(texts, parts...)
	}
	return texts, nil
}

// responsesScript renders the events of the Responses API that carry something, without those that only repeat.
type responsesScript struct {
	*frames
	events int
}

// event appends one event with these members.
func (f *responsesScript) event(b []byte, kind, members string) []byte {
	b = append(b, "event: "+kind+"\ndata: {\"type\":\""+kind+`","sequence_number":`...)
	b = strconv.AppendInt(b, int64(f.events), 10)
	f.events++
	return append(append(append(b, ','), members...), "}\n\n"...)
}

// head are the members of the response object but output and usage.
func (f *responsesScript) head(status string) string {
	return `"id":` + quoted("resp_"+f.call.info.ID) + `,"object":"response","status":"` + status + `","error":null,"model":` + quoted(f.call.info.Model)
}

func (f *responsesScript) role(b []byte) []byte {
	return f.event(b, "response.created", `"response":{`+f.head("in_progress")+`,"output":[],"usage":null}`)
}

func (f *responsesScript) tokens(b []byte, from, n int) []byte {
	to := from + n
	if from < f.reasoning {
		b = f.delta(b, "response.reasoning_text.delta", f.words(nil, from, min(to, f.reasoning), 0))
	}
	if from = max(from, f.reasoning); from >= to {
		return b
	}
	if !f.tool {
		return f.delta(b, "response.output_text.delta", f.words(nil, from, to, f.reasoning))
	}
	if from == f.reasoning {
		b = f.event(b, "response.output_item.added", `"output_index":0,"item":{"type":"function_call","call_id":"call_1","name":"lookup","arguments":""}`)
	}
	if text := f.arguments(nil, from-f.reasoning, to-f.reasoning); len(text) > 0 {
		b = f.delta(b, "response.function_call_arguments.delta", text)
	}
	return b
}

// delta appends an event with text that is escaped already.
func (f *responsesScript) delta(b []byte, kind string, text []byte) []byte {
	return f.event(b, kind, `"output_index":0,"content_index":0,"delta":"`+string(text)+`"`)
}

func (f *responsesScript) finish(b []byte, written int) []byte {
	kind := "response.completed"
	if f.call.reason == "length" {
		kind = "response.incomplete"
	}
	return f.event(b, kind, `"response":`+string(f.whole(written)))
}

// whole is the response object of an answer with n tokens.
func (f *responsesScript) whole(n int) []byte {
	status, why := "completed", "null"
	if f.call.reason == "length" {
		status, why = "incomplete", `{"reason":"max_output_tokens"}`
	}
	b := append([]byte("{"), f.head(status)+`,"incomplete_details":`+why+`,"output":[`...)
	if r := min(n, f.reasoning); r > 0 {
		b = append(f.words(append(b, `{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"`...), 0, r, 0), `"}]},`...)
	}
	if f.tool {
		b = append(f.arguments(append(b, `{"type":"function_call","call_id":"call_1","name":"lookup","arguments":"`...), 0, n-f.reasoning), `"}`...)
	} else {
		b = append(f.words(append(b, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"`...), f.reasoning, n, f.reasoning), `"}]}`...)
	}
	t, itoa := &f.call.truth, strconv.Itoa
	return append(b, `],"usage":{"input_tokens":`+itoa(t.PromptTokens)+`,"input_tokens_details":{"cached_tokens":`+itoa(t.CachedTokens)+
		`},"output_tokens":`+itoa(n)+`,"output_tokens_details":{"reasoning_tokens":`+itoa(t.ReasoningTokens)+
		`},"total_tokens":`+itoa(t.PromptTokens+n)+`}}`...)
}
