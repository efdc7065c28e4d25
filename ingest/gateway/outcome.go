package gateway

import (
	"strconv"
	"strings"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// failure is what LiteLLM says of an error. Nothing of it is kept: texts may quote the prompt or a key.
type failure struct {
	code, class, text, traceback string
	guarded                      bool // a guardrail stopped the call
}

func (p *payload) failure() failure {
	f := failureOf(decode.Nested(p.errorObj))
	f.text = firstOf(decode.Text(p.errorText), f.text)
	if !p.ok {
		f.guarded = decode.Text(p.statusFields, "guardrail_status") == "guardrail_intervened"
	}
	return f
}

// failureOf reads an error_information object; a nil one gives the zero failure.
func failureOf(e *decode.Value) failure {
	return failure{code: decode.Text(e, "error_code"), class: decode.Text(e, "error_class"),
		text: decode.Text(e, "error_message"), traceback: decode.Text(e, "traceback")}
}

// outcome fills ErrorClass and HTTPStatus from the status text (success, failure) and the error.
func outcome(r *trace.Request, status string, f failure) {
	switch {
	case hungUp(f):
		r.ErrorClass = trace.ClassCancel
	case status == "success":
		r.ErrorClass = trace.ClassOK
	case status == "failure":
		if n := f.status(); n != 0 {
			r.HTTPStatus = &n
		}
		r.ErrorClass = f.errorClass()
	}
}

// hungUp: the caller went away. LiteLLM logs that as success with an error text, or as a cancelled task.
func hungUp(f failure) bool {
	return f.class == "CancelledError" || f.class == "ClientDisconnect" || f.code == "499" ||
		f.text != "" && strings.Contains(strings.ToLower(f.text), "client disconnected")
}

// status is the HTTP code, 0 when the row does not prove one. Refusals of the proxy's own key check have an empty code;
// the traceback then quotes the line that raised it ("raise ProxyException(..., code=401)").
func (f failure) status() int32 {
	text := f.code
	if text == "" && f.class == "ProxyException" {
		_, text, _ = cutLast(f.traceback, "code=")
		text = strings.TrimPrefix(text, "status.HTTP_")
		text = text[:min(3, len(text))]
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 100 || n > 599 {
		return 0
	}
	return int32(n)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// errorClass: the exception's class where it says more than the HTTP code, then the code, then the class's family.
func (f failure) errorClass() string {
	code := f.status()
	switch {
	case f.class == "ContextWindowExceededError" || code != 429 && code < 500 && says(f.text, tooLong):
		return trace.ClassContextLength
	case f.guarded || f.class == "ContentPolicyViolationError" || code == 400 && says(f.text, filtered):
		return trace.ClassContentFilter
	}
	if c := classes[f.class]; c == trace.ClassTimeout || code == 0 && c != "" {
		return c
	}
	if code != 0 {
		return trace.HTTPClass(code)
	}
	return trace.ClassUnknown
}

// Wordings of OpenAI, llama.cpp, vLLM and Anthropic for a prompt that does not fit, and of Azure for a refused one.
var (
	tooLong  = []string{"context length", "context size", "context window", "context_length_exceeded", "maximum context", "prompt is too long"}
	filtered = []string{"content_policy_violation", "content management policy", "content_filter"}
)

func says(text string, phrases []string) bool {
	text = strings.ToLower(text)
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// classes gives the family of LiteLLM's and the OpenAI client's exceptions, for rows without a code.
var classes = map[string]string{
	"Timeout": trace.ClassTimeout, "APITimeoutError": trace.ClassTimeout, "TimeoutError": trace.ClassTimeout, "ReadTimeout": trace.ClassTimeout,
	"RateLimitError":     trace.ClassRateLimited,
	"APIConnectionError": trace.ClassNetwork, "ConnectError": trace.ClassNetwork, "ReadError": trace.ClassNetwork,
	"InternalServerError": trace.ClassUpstream, "ServiceUnavailableError": trace.ClassUpstream, "BadGatewayError": trace.ClassUpstream,
	"MidStreamFallbackError": trace.ClassUpstream, "APIError": trace.ClassUpstream,
	"AuthenticationError": trace.ClassClientError, "PermissionDeniedError": trace.ClassClientError, "NotFoundError": trace.ClassClientError,
	"BadRequestError": trace.ClassClientError, "UnprocessableEntityError": trace.ClassClientError, "UnsupportedParamsError": trace.ClassClientError,
	"ProxyModelNotFoundError": trace.ClassClientError, "BudgetExceededError": trace.ClassClientError,
}
