package fakellm

import (
	"encoding/json"
	"strconv"
)

// embeddingTexts reads one text, a list of texts, or a list of token ids.
func embeddingTexts(raw json.RawMessage) ([]string, error) {
	var list []string
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		return list, nil
	}
	return promptTexts(raw)
}

// embedding is the answer of an embeddings call: one vector of no meaning.
func (c *call) embedding() []byte {
	b := []byte(`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[`)
	for i := range 8 {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(mix(c.info.Draw+uint64(i))%2001)/1000-1, 'g', -1, 64)
	}
	n := strconv.Itoa(c.truth.PromptTokens)
	return append(b, `]}],"model":`+quoted(c.info.Model)+`,"usage":{"prompt_tokens":`+n+`,"total_tokens":`+n+`}}`...)
}
