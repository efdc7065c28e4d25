package replay

import (
	"encoding/json"
	"strconv"
)

// limit sets how long the answer may, or must, be, and says whether it was to be forced but must not be. Forcing uses the
// switches of vLLM, SGLang, TensorRT-LLM and llama.cpp (ignore_eos, min_tokens). Answers that have to be of a form (a JSON
// schema, a grammar, a forced tool call) are never forced: past their end they would be broken, and before it, too. They
// may be as long as the recorded caller allowed.
func (m *bodyMaker) limit(f *fields, it *Item) (free bool) {
	own := f.take("max_tokens")
	for _, other := range []string{"max_completion_tokens", "max_output_tokens"} {
		if v := f.take(other); v != nil {
			own = v
		}
	}
	if it.MaxTokens != nil {
		own = strconv.AppendInt(nil, *it.MaxTokens, 10)
	}
	forced := m.lengths == LengthsRecorded
	free = forced && (f.formed() || fieldsOf(m.opt.Extra).formed())
	if forced && !free {
		own = strconv.AppendInt(nil, m.length(it), 10)
		f.set("min_tokens", own)
		f.set("ignore_eos", []byte("true"))
	}
	if own == nil && it.Endpoint == "messages" { // which has to have one
		own = strconv.AppendInt(nil, max(4096, 2*it.OutputTokens), 10)
	}
	if own != nil {
		f.set(m.limitField(it), own)
	}
	return free
}

// length is what an answer is forced to.
func (m *bodyMaker) length(it *Item) int64 {
	if m.opt.Cancel == CancelRecorded && (it.CancelUS != nil || it.TimeoutUS != nil) && it.MaxTokens != nil {
		return max(it.OutputTokens, *it.MaxTokens) // what was recorded is only the part before the end
	}
	return it.OutputTokens
}

// limitField names the length limit of an endpoint.
func (m *bodyMaker) limitField(it *Item) string {
	switch it.Endpoint {
	case "responses":
		return "max_output_tokens"
	case "messages":
		return "max_tokens"
	}
	return m.opt.MaxTokensField
}

// take removes a member and returns its value, nil when there is none.
func (f *fields) take(key string) []byte {
	for _, x := range *f {
		if x.key == key {
			f.set(key, []byte("null"))
			return x.value
		}
	}
	return nil
}

// formed says whether the answer has to be of a form.
func (f fields) formed() bool {
	for _, x := range f {
		if string(x.value) == "null" {
			continue
		}
		switch x.key {
		case "response_format", "tool_choice":
			if !freeChoice(x.value) {
				return true
			}
		case "text", "output_config": // {"format":{"type":"json_schema"}}, of responses and of messages
			var v struct{ Format json.RawMessage }
			if json.Unmarshal(x.value, &v) == nil && v.Format != nil && !freeChoice(v.Format) {
				return true
			}
		case "guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "guided_decoding", // vLLM, TensorRT-LLM
			"grammar", "json_schema", "regex", "ebnf", "output_format": // llama.cpp, SGLang, Anthropic
			return true
		}
	}
	return false
}

// freeChoice says whether a tool choice or a response format leaves the answer free: "auto", "none" or an object of type text,
// auto or none.
func freeChoice(value []byte) bool {
	var kind string
	var object struct{ Type string }
	if json.Unmarshal(value, &kind) != nil && json.Unmarshal(value, &object) == nil {
		kind = object.Type
	}
	return kind == "auto" || kind == "none" || kind == "text"
}

func fieldsOf(list []Field) fields {
	f := make(fields, len(list))
	for i, x := range list {
		f[i] = field{x.Key, x.Value}
	}
	return f
}
