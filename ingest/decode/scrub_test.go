package decode

import (
	"strings"
	"testing"

	"reprise/ingest/trace"
)

func TestScrub(t *testing.T) {
	h := NewHasher(make([]byte, 16))
	for in, want := range map[string]string{
		// what names and ids look like stays
		"": "", "acme": "acme", "meta-llama/Llama-3.1-8B-Instruct": "meta-llama/Llama-3.1-8B-Instruct", "10.0.0.7:8000": "10.0.0.7:8000",
		"/v1/chat/completions": "/v1/chat/completions", "alice@example.com": "alice@example.com", "outbound|8000||llm.default.svc": "outbound|8000||llm.default.svc",
		"task-0123456789abcdef0123456789": "task-0123456789abcdef0123456789", "chatcmpl-9f86d081884c7d659a2feaa0c55ad015": "chatcmpl-9f86d081884c7d659a2feaa0c55ad015",
		"arn:aws:bedrock:us-east-1:1:key/a": "arn:aws:bedrock:us-east-1:1:key/a", "basic plan": "basic plan",
		// secrets go
		"/v1/chat/completions?api_key=hunter2":      "/v1/chat/completions",
		"https://alice:hunter2@gw:8443/v1?key=abcd": "https://gw:8443/v1",
		"/alice:hunter2@gw:8443/v1":                 "/gw:8443/v1",
		"alice:hunter2@gw:8443":                     "gw:8443",
		"https://gw/v1?sig=abc and more":            "https://gw/v1 and more",
		"tenant key=hunter2":                        "tenant key=redacted",
		"m?api-key=hunter2&x=1":                     "m?api-key=redacted&x=1",
	} {
		if got := h.Scrub(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	seen := map[string]string{}
	for _, token := range []string{"sk-proj-0123456789abcdefgh", "sk-proj-0123456789abcdefgi", "Bearer abc.def", "bearer abc", "AKIAIOSFODNN7EXAMPLE", "ghp_0123456789abcdefghij",
		"hf_0123456789abcdefghij", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ9.c2ln", "xoxb-0123456789-abcdefgh"} {
		got := h.Scrub("key " + token + ", again " + token)
		first, second, _ := strings.Cut(strings.TrimPrefix(got, "key "), ", again ")
		if strings.Contains(got, token) || first != second || !strings.HasPrefix(first, "redacted-") || seen[first] != "" {
			t.Errorf("%q became %q, want a hash of its own, twice the same", token, got)
		}
		seen[first] = token
	}
	c := NewContext(Options{Hash: h}, "f", nil, nil)
	r := &trace.Request{Route: "/v1?api_key=a", SessionID: "Bearer abc"}
	if c.Scrub(r); r.Route != "/v1" || !strings.HasPrefix(r.SessionID, "redacted-") {
		t.Errorf("got %+v", r)
	}
}

func TestTold(t *testing.T) {
	for in, want := range map[string]string{
		`expected an object, got "{\"key\":\"Ab1é\",": unexpected end`: `expected an object, got "{\"xxx\":\"xx9x\",": unexpected end`,
		`arrival: expected a time, got "2026-13-40T10:00"`:             `arrival: expected a time, got "2026-13-40T10:00"`,
		`expected ok, got "okay" and "Hunter2"`:                        `expected ok, got "okay" and "xxxxxx9"`,
		`expected a line like "(?P<a>\\S+)", got "my words"`:           `expected a line like "(?P<a>\\S+)", got "xx xxxxx"`,
		`parsing "abc`: `parsing "xxx`,
		"no quotes":    "no quotes",
	} {
		if got := Told(in); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

func FuzzScrub(f *testing.F) {
	f.Add(`got "a\"`, "https://a:b@c?d=e")
	f.Add("\"\xff", "Bearer \xff")
	h := NewHasher(make([]byte, 16))
	f.Fuzz(func(t *testing.T, detail, name string) {
		Told(detail)
		if got := h.Scrub(name); got != h.Scrub(name) || got == "" && name != "" && mayHoldSecret(name) && !strings.ContainsAny(name, "@?") {
			t.Errorf("%q became %q", name, got)
		}
	})
}

func BenchmarkScrub(b *testing.B) {
	c := NewContext(Options{Hash: NewHasher(make([]byte, 16))}, "f", nil, nil)
	id := "chatcmpl-9f86d081884c7d659a2feaa0c55ad015"
	r := &trace.Request{RequestID: id, RootRequestID: id, ResponseID: id, TraceID: id, SessionID: "s0123", Tenant: "acme", App: "search", Route: "/v1/chat/completions",
		ModelRequested: "meta-llama/Llama-3.1-8B-Instruct", ModelServed: "meta-llama/Llama-3.1-8B-Instruct", Provider: "openai", Replica: "10.0.0.7:8000", FinishReason: "stop", EndpointKind: "chat"}
	for b.Loop() {
		c.Scrub(r)
	}
}
