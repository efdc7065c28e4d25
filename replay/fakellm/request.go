package fakellm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// request is a parsed body.
type request struct {
	model     string   // "" when not named
	texts     []string // whose words are the prompt's tokens
	stream    bool
	usage     bool // a usage frame is wanted at the end of the stream
	maxTokens int  // 0: not given
	minTokens int
	ignoreEOS bool
}

// body is what is read of a request of any shape; everything else is accepted and has no effect.
type body struct {
	Model     string          `json:"model"`
	Messages  []message       `json:"messages"`
	Prompt    json.RawMessage `json:"prompt"`
	Input     json.RawMessage `json:"input"`        // responses and embeddings
	Guide     json.RawMessage `json:"instructions"` // responses
	System    json.RawMessage `json:"system"`       // messages
	Stream    bool            `json:"stream"`
	N         *int            `json:"n"`
	MinTokens int             `json:"min_tokens"`
	IgnoreEOS bool            `json:"ignore_eos"`
	MaxTokens *int            `json:"max_tokens"`
	MaxNew    *int            `json:"max_completion_tokens"` // wins over max_tokens
	MaxOutput *int            `json:"max_output_tokens"`     // responses
	Options   struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// parseRequest reads a body. Errors are meant for the client.
func parseRequest(data []byte, shape api) (request, error) {
	var b body
	if err := json.Unmarshal(data, &b); err != nil {
		return request{}, fmt.Errorf("body is not the JSON of a request: %w", err)
	}
	r := request{
		model: b.Model, stream: b.Stream, usage: b.Options.IncludeUsage, minTokens: b.MinTokens, ignoreEOS: b.IgnoreEOS,
	}
	var err error
	if r.maxTokens, err = b.limit(); err != nil {
		return request{}, err
	}
	if b.N != nil && *b.N != 1 {
		return request{}, fmt.Errorf("n: this server makes 1 choice, got %d", *b.N)
	}
	switch shape {
	case apiChat:
		r.texts, err = chatTexts(b.Messages)
	case apiText:
		r.texts, err = promptTexts(b.Prompt)
	case apiResponses:
		r.texts, err = b.responsesTexts()
	case apiMessages:
		r.texts, err = b.messagesTexts()
	case apiEmbeddings:
		r.stream = false
		r.texts, err = embeddingTexts(b.Input)
	}
	return r, err
}

// limit is the asked maximum of output tokens, 0 when there is none.
func (b body) limit() (int, error) {
	asked := b.MaxNew
	for _, other := range []*int{b.MaxTokens, b.MaxOutput} {
		if asked == nil {
			asked = other
		}
	}
	if asked == nil {
		return 0, nil
	}
	if *asked < 1 || *asked > maxOutput {
		return 0, fmt.Errorf("max_tokens: want 1 to %d, got %d", maxOutput, *asked)
	}
	return *asked, nil
}

func chatTexts(messages []message) (texts []string, err error) {
	if len(messages) == 0 {
		return nil, errors.New("messages: want at least one, got none")
	}
	for i, m := range messages {
		if m.Role == "" {
			return nil, fmt.Errorf("messages[%d].role: want a text, got none", i)
		}
		parts, err := contentTexts(m.Content)
		if err != nil {
			return nil, fmt.Errorf("messages[%d].content: %w", i, err)
		}
		texts = append(texts, parts...)
	}
	return texts, nil
}

// contentTexts reads a text, a list of parts (of which those with text count), or nothing, as with tool calls.
func contentTexts(raw json.RawMessage) (texts []string, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []string{text}, nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return nil, errors.New("want a text or a list of parts")
	}
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return texts, nil
}

// promptTexts reads one prompt: a text, a list with one text, or a list of token ids.
func promptTexts(raw json.RawMessage) ([]string, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
		return []string{text}, nil
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 {
		return list, nil
	}
	var ids []int
	if json.Unmarshal(raw, &ids) != nil || len(ids) == 0 {
		return nil, errors.New("prompt: want one text or a list of token ids")
	}
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(id)
	}
	return words, nil
}
