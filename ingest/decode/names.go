package decode

import (
	"bytes"
	"strings"
)

// HostPort cuts host:port out of a base URL; "" when no port is named (a provider's public host).
func HostPort(base string) string {
	if i := strings.Index(base, "://"); i >= 0 {
		base = base[i+3:]
	}
	for i := range len(base) {
		if c := base[i]; c == '/' || c == '?' || c == '#' {
			base = base[:i]
			break
		}
	}
	base = base[strings.LastIndexByte(base, '@')+1:] // never a password
	colon := strings.LastIndexByte(base, ':')
	if colon < 1 || colon == len(base)-1 || strings.Trim(base[colon+1:], "0123456789") != "" {
		return ""
	}
	return base
}

// LiteLLMHealth is the account under which LiteLLM probes its own deployments.
const LiteLLMHealth = "litellm-internal-health-check"

// LiteLLMApp is the NAME of a tag "app:NAME". LiteLLM adds tags of its own (User-Agent: ...).
func LiteLLMApp(tags *Value) string {
	for _, t := range tags.GetArray() {
		if name, ok := strings.CutPrefix(Text(t), "app:"); ok {
			return name
		}
	}
	return ""
}

// LiteLLMKind gives the endpoint kind of a call type (acompletion, aembedding ...); false for calls that ask no model
// (files, batches, tools, threads). Calls refused before they were understood have the path in place of the type.
func LiteLLMKind(t string) (kind string, model bool) {
	if i := strings.LastIndex(t, "/v1/"); i >= 0 {
		t = t[i+len("/v1/"):]
	}
	switch t = strings.Trim(t, "_/"); t {
	case "":
		return "", true
	case "acompletion", "completion", "chat", "chat/completions", "agenerate_content_stream", "agenerate_content", "generate_content":
		return "chat", true
	case "atext_completion", "text_completion", "completions":
		return "completions", true
	case "aembedding", "embedding", "embeddings":
		return "embeddings", true
	case "anthropic_messages", "messages":
		return "messages", true
	case "aresponses", "responses":
		return "responses", true
	case "arerank", "rerank":
		return "rerank", true
	}
	for _, part := range []string{"file", "batch", "assistant", "thread", "message", "fine_tuning", "mcp", "vector_store", "search",
		"retrieve", "get_", "delete", "cancel", "list", "models", "count_tokens"} {
		if strings.Contains(t, part) {
			return "", false
		}
	}
	return "other", true
}

// LiteLLMCut knows the mark LiteLLM leaves where it shortened a text. The rare underscore first: a search for text that
// begins with an everyday letter costs as much as reading the record.
func LiteLLMCut(text []byte) bool {
	return bytes.Contains(text, []byte("_truncated")) && bytes.Contains(text, []byte("litellm_truncated"))
}

// Nearest returns the name that takes the fewest edits to reach from s.
func Nearest(s string, names []string) string {
	best, least := "", 1<<30
	for _, name := range names {
		if d := edits(s, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// edits is the Levenshtein distance; of long texts only the first 64 bytes count.
func edits(a, b string) int {
	a = a[:min(len(a), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before, row[j+1] = row[j+1], min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// AnswerID is the id of the answer's body. vLLM's request id is the same, but /v1/completions adds the prompt's index.
func AnswerID(id string) string {
	if !strings.HasPrefix(id, "cmpl-") {
		return id
	}
	i := strings.LastIndexByte(id, '-')
	if i < len("cmpl-") || i == len(id)-1 || strings.Trim(id[i+1:], "0123456789") != "" {
		return id
	}
	return id[:i]
}

// AnswerKind gives the endpoint kind that the prefix of an answer's id names; "" for others.
func AnswerKind(id string) string {
	prefix, _, _ := strings.Cut(id, "-")
	switch prefix {
	case "chatcmpl":
		return "chat"
	case "cmpl":
		return "completions"
	case "embd":
		return "embeddings"
	case "rerank", "score":
		return "rerank"
	}
	return ""
}
