package otel

import (
	"strconv"
	"strings"

	"reprise/ingest/trace"
)

// outcome fills ErrorClass, HTTPStatus and FinishReason. An UNSET span without an error counts as ok when something
// shows an answer, as cancelled where its producer is known to leave it like that, and is unknown otherwise.
func (b *build) outcome() {
	r := b.r
	r.FinishReason = finishName(b.finish)
	f, failed := b.failure()
	if f.status != 0 {
		r.HTTPStatus = &f.status
	}
	switch {
	case failed:
		r.ErrorClass = f.errorClass()
	case b.cancelled:
		r.ErrorClass = trace.ClassCancel
	case b.s.succeeded || b.finished || b.finish != "" || r.ResponseID != "" || value0(r.OutputTokens) > 0:
		r.ErrorClass = trace.ClassOK
	case r.EndpointKind == "embeddings" && r.InputTokens != nil:
		r.ErrorClass = trace.ClassOK
	}
}

// failure is what a span says of an error. Nothing of it is kept but its class and the HTTP status.
type failure struct {
	status      int32
	class, text string // class of the exception, its message
	trace       string
}

// failure reads the error and whether there is one: status ERROR, or UNSET with an error type or an HTTP status of 400
// and more (servers leave those UNSET). An exception alone may have been handled.
func (b *build) failure() (f failure, failed bool) {
	a := b.s.attrs
	f = failure{class: b.s.first(errorType), text: firstOf(b.s.statusText, a.text("error.message")), trace: a.raw("error.stack_trace")}
	f.status = statusCode(b.s.first(httpStatus))
	failed = b.s.failed || !b.s.succeeded && (f.class != "" || f.status >= 400)
	for _, e := range b.s.events {
		if e.name == "exception" {
			f.class = firstOf(f.class, e.attrs.text("exception.type"))
			f.text = firstOf(f.text, e.attrs.text("exception.message"))
		}
	}
	f.class = f.class[strings.LastIndexByte(f.class, '.')+1:]
	if failed && f.status == 0 {
		f.status = f.statusInText()
	}
	return f, failed
}

// statusInText finds the HTTP status where clients put it: as error.type, in front of the message ("429 Rate limit",
// also behind "Error: "), behind "Error code: ", or, for refusals of LiteLLM's own key check, in the quoted line that
// raised them ("raise ProxyException(..., code=401)").
func (f failure) statusInText() int32 {
	text := strings.TrimPrefix(f.text, "Error: ")
	if _, code, ok := strings.Cut(text, "Error code: "); ok {
		text = code
	}
	if len(text) > 3 && strings.IndexByte(" :-", text[3]) >= 0 {
		if n := statusCode(text[:3]); n != 0 {
			return n
		}
	}
	if n := statusCode(f.class); n != 0 {
		return n
	}
	if i := strings.LastIndex(f.trace, "code="); i >= 0 && f.class == "ProxyException" {
		code := strings.TrimPrefix(f.trace[i+len("code="):], "status.HTTP_")
		return statusCode(code[:min(3, len(code))])
	}
	return 0
}

func statusCode(text string) int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 100 || n > 599 {
		return 0
	}
	return int32(n)
}

// errorClass: what the texts say more precisely than the status, then the status, then the exception's class. A failed
// call whose status is below 400 broke after the answer had begun.
func (f failure) errorClass() string {
	byClass := exceptionClasses[f.class]
	switch {
	case byClass == trace.ClassCancel || byClass == trace.ClassContextLength || byClass == trace.ClassContentFilter:
		return byClass
	case f.status != 429 && f.status < 500 && says(f.text, tooLong):
		return trace.ClassContextLength
	case f.status == 400 && says(f.text, filtered):
		return trace.ClassContentFilter
	case byClass == trace.ClassTimeout:
		return byClass
	case f.status >= 400:
		return trace.HTTPClass(f.status)
	case byClass != "":
		return byClass
	case says(f.text, []string{"rate limit"}):
		return trace.ClassRateLimited
	}
	return trace.ClassUpstream
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

// exceptionClasses gives the family of the exceptions of the OpenAI and Anthropic clients, LiteLLM, and the languages.
var exceptionClasses = map[string]string{
	"CancelledError": trace.ClassCancel, "AbortError": trace.ClassCancel, "APIUserAbortError": trace.ClassCancel, "ClientDisconnect": trace.ClassCancel,
	"GeneratorExit": trace.ClassCancel, "Canceled": trace.ClassCancel,
	"Timeout": trace.ClassTimeout, "timeout": trace.ClassTimeout, "APITimeoutError": trace.ClassTimeout, "TimeoutError": trace.ClassTimeout, "ReadTimeout": trace.ClassTimeout,
	"APIConnectionTimeoutError": trace.ClassTimeout, "RateLimitError": trace.ClassRateLimited,
	"APIConnectionError": trace.ClassNetwork, "ConnectError": trace.ClassNetwork, "ReadError": trace.ClassNetwork, "ConnectionError": trace.ClassNetwork,
	"AuthenticationError": trace.ClassClientError, "PermissionDeniedError": trace.ClassClientError, "NotFoundError": trace.ClassClientError,
	"BadRequestError": trace.ClassClientError, "UnprocessableEntityError": trace.ClassClientError, "UnsupportedParamsError": trace.ClassClientError,
	"ConflictError": trace.ClassClientError, "ProxyModelNotFoundError": trace.ClassClientError, "BudgetExceededError": trace.ClassClientError,
	"ContextWindowExceededError": trace.ClassContextLength, "ContentPolicyViolationError": trace.ClassContentFilter,
}

// finishName gives a finish reason its one spelling.
func finishName(s string) string {
	switch s = strings.ToLower(strings.ReplaceAll(s, "-", "_")); s {
	case "", "stop", "length", "tool_calls", "content_filter", "abort", "error":
		return s
	case "end_turn", "stop_sequence", "eos", "complete", "completed":
		return "stop"
	case "max_tokens", "max_output_tokens":
		return "length"
	case "tool_call", "tool_use", "function_call":
		return "tool_calls"
	case "refusal", "safety", "guardrail_intervened":
		return "content_filter"
	case "cancelled", "canceled", "aborted":
		return "abort"
	}
	return "other"
}
