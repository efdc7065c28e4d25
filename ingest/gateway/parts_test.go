package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

func TestOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		status string
		f      said
		class  string
		http   int32
	}{
		"fine":                        {"success", said{}, "ok", 0},
		"nothing said":                {"", said{}, "unknown", 0},
		"hung up, logged as success":  {"success", said{Text: "Client disconnected the request"}, "client_cancel", 0},
		"hung up, logged as failure":  {"failure", said{Class: "CancelledError"}, "client_cancel", 0},
		"server hung up":              {"failure", said{Code: "500", Class: "APIConnectionError", Text: "Server disconnected without sending a response."}, "upstream_error", 500},
		"no connection, no answer":    {"failure", said{Class: "APIConnectionError"}, "network", 0},
		"timeout with another code":   {"failure", said{Code: "500", Class: "Timeout"}, "timeout", 500},
		"timeout by code":             {"failure", said{Code: "504", Class: "InternalServerError"}, "timeout", 504},
		"quota":                       {"failure", said{Code: "429", Class: "RateLimitError", Text: "tokens per minute, context length 10"}, "rate_limited", 429},
		"too long by class":           {"failure", said{Code: "400", Class: "ContextWindowExceededError"}, "context_length", 400},
		"too long by OpenAI's text":   {"failure", said{Code: "400", Text: "This model's maximum context length is 4096 tokens"}, "context_length", 400},
		"too long by Anthropic's":     {"failure", said{Code: "400", Text: "prompt is too long: 210000 tokens > 200000 maximum"}, "context_length", 400},
		"engine fault that says so":   {"failure", said{Code: "500", Text: "context window overflow in kernel"}, "upstream_error", 500},
		"policy":                      {"failure", said{Code: "400", Class: "ContentPolicyViolationError"}, "content_filter", 400},
		"policy by Azure's text":      {"failure", said{Code: "400", Class: "BadRequestError", Text: "triggering Azure OpenAI's content management policy"}, "content_filter", 400},
		"guardrail":                   {"failure", said{Code: "400", Class: "HTTPException", Guarded: true}, "content_filter", 400},
		"refused key, code in source": {"failure", said{Class: "ProxyException", Traceback: `x(code=200)` + "\n" + `raise ProxyException(param="key", code=401)`}, "client_error", 401},
		"refused key, code by name":   {"failure", said{Class: "ProxyException", Traceback: "code=status.HTTP_403_FORBIDDEN,"}, "client_error", 403},
		"refused, nothing proves it":  {"failure", said{Class: "ProxyException", Traceback: `raise e`}, "unknown", 0},
		"code is no number":           {"failure", said{Code: "invalid_api_key", Class: "AuthenticationError"}, "client_error", 0},
		"code out of range":           {"failure", said{Code: "1000"}, "unknown", 0},
	} {
		r := trace.Request{ErrorClass: trace.ClassUnknown}
		outcome(&r, c.status, c.f.failure(t))
		var http int32
		if r.HTTPStatus != nil {
			http = *r.HTTPStatus
		}
		if r.ErrorClass != c.class || http != c.http {
			t.Errorf("%s: %s %d; want %s %d", name, r.ErrorClass, http, c.class, c.http)
		}
	}
}

// said is an error as LiteLLM's error_information has it.
type said struct {
	Code      string `json:"error_code"`
	Class     string `json:"error_class"`
	Text      string `json:"error_message"`
	Traceback string `json:"traceback"`
	Guarded   bool   `json:"-"`
}

func (s said) failure(t *testing.T) failure {
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	v, err := decode.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	f := failureOf(v)
	f.guarded = s.Guarded
	return f
}

func TestTraceID(t *testing.T) {
	for id, want := range map[string]string{
		"s0001": "", "0AF7651916CD43DD8448EB211C80319C": "0af7651916cd43dd8448eb211c80319c",
		"03d89267-E85f-4403-955d-5f0cb374eb3f": "03d89267-e85f-4403-955d-5f0cb374eb3f", "0af7651916cd43dd8448eb211c80319": "", "": "",
	} {
		if got := traceID(id); got != want {
			t.Errorf("traceID(%q) = %q, want %q", id, got, want)
		}
	}
}

// record is a small payload with parts put in place of the defaults.
func record(parts ...string) string {
	base := `{"id":"chatcmpl-9","call_type":"acompletion","status":"success","startTime":100.5,"endTime":101.5,"model":"m","messages":MESSAGES,` +
		`"model_parameters":PARAMS,"response":RESPONSE,"metadata":META,"hidden_params":{},"model_map_information":{}}`
	for i := 0; i+1 < len(parts); i += 2 {
		base = strings.Replace(base, parts[i], parts[i+1], 1)
	}
	return strings.NewReplacer("MESSAGES", "null", "PARAMS", "{}", "RESPONSE", "{}", "META", "{}").Replace(base)
}

func one(t *testing.T, o decode.Options, line string) (*trace.Request, string) {
	t.Helper()
	res := decodeLines(t, LiteLLM(), o, []byte(line))
	if len(res.rows) != 1 {
		t.Fatalf("refused %v, skipped %v: %s", res.refused, res.skipped, line)
	}
	return res.rows[0], res.bodies[0]
}

// A body is rebuilt from the prompt and an allow-list: no user, header or key may slip in.
func TestBodies(t *testing.T) {
	keep := decode.Options{KeepBodies: true}
	_, body := one(t, keep, record("MESSAGES", `[{"role":"user","content":"hi \"x\""}]`,
		"PARAMS", `{"user":"u","api_key":"sk-1","extra_headers":{"a":"b"},"seed":7,"max_tokens":5,"tools":[{"type":"function"}]}`))
	want := `{"model":"m","messages":[{"role":"user","content":"hi \"x\""}],"max_tokens":5,"seed":7,"tools":[{"type":"function"}]}`
	if body != want {
		t.Errorf("got  %s\nwant %s", body, want)
	}
	for name, messages := range map[string]string{"redacted": `[{"role":"user","content":"redacted-by-litellm"}]`,
		"cut": `[{"role":"user","content":"ab... (litellm_truncated skipped 9 chars) ...z"}]`, "none": `null`, "empty": `[]`, "no list": `{}`} {
		r, body := one(t, keep, record("MESSAGES", messages))
		if body != "" || r.PrefixHashIDs != nil || r.SystemPromptTokens != nil || r.Turn != nil {
			t.Errorf("%s: a prompt that is not there got a shape: %q %+v", name, body, r)
		}
		if (name == "cut") != r.HasQuality(trace.QModelTextCut) {
			t.Errorf("%s: quality %q", name, r.Quality)
		}
	}
	_, body = one(t, keep, record("acompletion", "aresponses", "MESSAGES", `"hello"`, "PARAMS", `{"instructions":"be brief"}`))
	if want := `{"model":"m","input":"hello","instructions":"be brief"}`; body != want {
		t.Errorf("got %s, want %s", body, want)
	}
}

// The same text in parts is the same prompt; another picture is another prompt, and its tokens are no text's share.
func TestPromptParts(t *testing.T) {
	usage := `{"usage":{"prompt_tokens":100,"completion_tokens":5}}`
	shapeOf := func(messages, params string) *trace.Request {
		r, _ := one(t, decode.Options{}, record("MESSAGES", messages, "PARAMS", params, "RESPONSE", usage))
		return r
	}
	plain := shapeOf(`[{"role":"system","content":"abcd"},{"role":"user","content":"efgh"}]`, `{}`)
	parts := shapeOf(`[{"role":"system","content":[{"type":"text","text":"ab"},{"type":"text","text":"cd"}]},{"role":"user","content":"efgh"}]`, `{}`)
	if diff := cmp.Diff(plain, parts); diff != "" {
		t.Errorf("text in parts differs:\n%s", diff)
	}
	top := shapeOf(`[{"role":"user","content":"efgh"}]`, `{"system":"abcd"}`)
	if top.SystemPromptHash != plain.SystemPromptHash || *top.SystemPromptTokens != *plain.SystemPromptTokens {
		t.Error("Anthropic's top-level system must count as the system message")
	}
	if *plain.SystemPromptTokens != 50 { // 6+1+4 of 12+10 bytes of 100 tokens
		t.Errorf("system tokens %d, want 50", *plain.SystemPromptTokens)
	}
	picture := func(url string) *trace.Request {
		return shapeOf(`[{"role":"system","content":"abcd"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"`+url+`"}}]}]`, `{}`)
	}
	if a, b := picture("data:1"), picture("data:2"); cmp.Equal(a.PrefixHashIDs, b.PrefixHashIDs) || a.SystemPromptTokens != nil {
		t.Error("pictures must tell prompts apart and leave the share unknown")
	}
	agent := shapeOf(`[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"ls"}]},`+
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a b"}]}]`, `{"tools":[{"name":"ls"}]}`)
	if *agent.Turn != 1 || agent.SystemPromptHash == "" {
		t.Errorf("turn %d: a tool's result is no turn; tools are part of the instructions", *agent.Turn)
	}
}

func TestUsageDialects(t *testing.T) {
	for name, c := range map[string]struct{ response, want string }{
		"OpenAI":           {`{"usage":{"prompt_tokens":10,"completion_tokens":6,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":5}}}`, "in=10/4 out=6/5 "},
		"Responses API":    {`{"usage":{"input_tokens":10,"output_tokens":6,"input_tokens_details":{"cached_tokens":4},"output_tokens_details":{"reasoning_tokens":5}}}`, "in=10/4 out=6/5 "},
		"Anthropic's own":  {`{"usage":{"input_tokens":10,"output_tokens":6,"cache_read_input_tokens":400,"cache_creation_input_tokens":90}}`, "in=500/400 out=6/- cached_added"},
		"Anthropic, added": {`{"usage":{"prompt_tokens":500,"completion_tokens":6,"cache_read_input_tokens":400,"cache_creation_input_tokens":90}}`, "in=500/400 out=6/- "},
		"zeros":            {`{"usage":{"prompt_tokens":0,"completion_tokens":0}}`, "in=-/- out=-/- tokens_missing"},
		"an empty answer":  {`{"usage":{"prompt_tokens":10,"completion_tokens":0}}`, "in=10/- out=0/- "},
	} {
		r, _ := one(t, decode.Options{}, record("RESPONSE", c.response))
		if got := brief(r); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestFinishOf(t *testing.T) {
	for response, want := range map[string]string{
		`{"choices":[{"finish_reason":"function_call"}]}`: "tool_calls", `{"choices":[{"finish_reason":null}]}`: "", `{"stop_reason":"max_tokens"}`: "length",
		`{"stop_reason":"end_turn"}`: "stop", `{"object":"response","status":"completed"}`: "stop", `{"choices":[{"finish_reason":"eos_token"}]}`: "other",
		`{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}`: "length", `{}`: "", `[]`: "",
	} {
		v, err := decode.Parse([]byte(response))
		if err != nil {
			t.Fatal(err)
		}
		if got := finishOf(v); got != want {
			t.Errorf("%s: %q, want %q", response, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for line, want := range map[string]string{
		`{"call_type":"acompletion"}`:                                       "not_litellm",
		`{"call_type":"acompletion","startTime":null}`:                      "no_time",
		`{"call_type":"acompletion","startTime":"soon"}`:                    "bad_time",
		`{"call_type":"acompletion","startTime":1,"endTime":"2026-13-01 "}`: "bad_time",
	} {
		res := decodeLines(t, LiteLLM(), decode.Options{}, []byte(line))
		if len(res.refused) != 1 || !strings.Contains(res.refused[0], want) {
			t.Errorf("%s: refused %q, want %s", line, res.refused, want)
		}
	}
	res := decodeLines(t, LiteLLM(), decode.Options{}, []byte(record("META", `{"user_api_key_alias":"litellm-internal-health-check"}`)+"\n"+record("acompletion", "afile_list")))
	if diff := cmp.Diff(map[string]int64{"health_check": 1, "not_a_model_call": 1}, res.skipped); diff != "" {
		t.Error(diff)
	}
}

// A row of a retried call and one of the gateway's own cache.
func TestAttemptsAndCache(t *testing.T) {
	r, _ := one(t, decode.Options{}, record("META", `{"attempted_retries":1}`, `"id":"chatcmpl-9"`, `"id":"chatcmpl-9_cache_hit1786.5","cache_hit":true,"trace_id":"0af7651916cd43dd8448eb211c80319c"`))
	if r.Attempt != 2 || r.ResponseID != "chatcmpl-9" || !*r.CachedResponse || r.TraceID != r.SessionID || *r.Stream {
		t.Errorf("got %+v", r)
	}
}

func FuzzLiteLLM(f *testing.F) { fuzz(f, LiteLLM(), "testdata/standard_logging_payload.jsonl") }

func FuzzSpendLogs(f *testing.F) {
	fuzz(f, SpendLogs(), "testdata/spend_logs_payload.jsonl", "testdata/issue35958_spendlog_row.jsonl")
}

// fuzz: whatever the record holds, one of three things happens, and a request has an id, a time and a known class.
func fuzz(f *testing.F, format decode.Format, files ...string) {
	for _, name := range files {
		for _, line := range strings.SplitAfter(string(read(f, name)), "\n") {
			f.Add([]byte(line))
		}
	}
	f.Add([]byte(record("MESSAGES", `["a",[],{"content":[1,{"text":2}]}]`)))
	f.Add([]byte(`{"startTime":"0000-01-01T00:00:00Z"}`)) // no year: kept, without its time
	f.Fuzz(func(t *testing.T, line []byte) {
		v, err := decode.Parse(line)
		if err != nil || v.GetObject() == nil {
			return
		}
		n := 0
		c := decode.NewContext(decode.Options{Hash: decode.NewHasher(line), KeepBodies: true}, "f", func(r *trace.Request, body []byte) {
			n++
			if trace.Check(r); r.RequestID == "" || (r.Arrival == nil) != r.HasQuality(trace.QTimeRange) || r.ErrorClass == "" || (r.TTFTKind == "") != (r.FirstUS == nil) {
				t.Errorf("inconsistent request %+v", r)
			}
			if body != nil {
				if _, err := decode.Parse(body); err != nil {
					t.Errorf("body is no JSON: %v: %q", err, body)
				}
			}
		}, func(string, int64) { n++ })
		if err := format.JSON(c, v); (err == nil) != (n == 1) || n > 1 {
			t.Errorf("%d outcomes and error %v", n, err)
		}
	})
}
