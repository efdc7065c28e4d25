package decode

import "testing"

func TestHostPort(t *testing.T) {
	for base, want := range map[string]string{
		"http://127.0.0.1:8900/v1": "127.0.0.1:8900", "https://api.openai.com": "", "vllm-0.vllm:8000": "vllm-0.vllm:8000",
		"http://user:secret@10.0.0.1:80/v1": "10.0.0.1:80", "http://user:secret@host/v1": "", "http://[::1]:8000/v1": "[::1]:8000",
		"": "", "http://:80": "", "http://h:": "",
	} {
		if got := HostPort(base); got != want {
			t.Errorf("HostPort(%q) = %q, want %q", base, got, want)
		}
	}
}

func TestLiteLLMKind(t *testing.T) {
	for call, want := range map[string]string{
		"acompletion": "chat", "/v1/chat/completions": "chat", "/openai/v1/embeddings": "embeddings", "atext_completion": "completions",
		"anthropic_messages": "messages", "aresponses": "responses", "arerank": "rerank", "pass_through_endpoint": "other", "": "",
		"afile_list": "skip", "acreate_batch": "skip", "call_mcp_tool": "skip", "get_messages": "skip", "aimage_generation": "other",
		"aget_responses": "skip", "alist_input_items": "skip", "/v1/models": "skip", "/v1/messages/count_tokens": "skip",
	} {
		kind, model := LiteLLMKind(call)
		if !model {
			kind = "skip"
		}
		if kind != want {
			t.Errorf("LiteLLMKind(%q) = %q, want %q", call, kind, want)
		}
	}
}

func TestNearest(t *testing.T) {
	for s, want := range map[string]string{"": "id", "arival": "arrival", "inputtokens": "input_tokens", "end_u": "end_us"} {
		if got := Nearest(s, []string{"arrival", "input_tokens", "end_us", "id"}); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", s, got, want)
		}
	}
}
