package decode

import (
	"strconv"
	"strings"

	"reprise/ingest/trace"
)

// Failure is what a source says of an error. Nothing of it is kept but the class and the HTTP status: texts may quote the
// prompt or a key.
type Failure struct {
	Status      int32  // HTTP status, 0 when unknown
	Class, Text string // class of the exception without its module, its message
	Traceback   string
}

// ErrorClass is what the texts say more precisely than the status, then the status, then the exception's class; "" when
// none of them tells.
func (f Failure) ErrorClass() string {
	byClass := exceptionClasses[f.Class]
	switch {
	case byClass == trace.ClassCancel || byClass == trace.ClassContextLength || byClass == trace.ClassContentFilter:
		return byClass
	case f.Status != 429 && f.Status < 500 && says(f.Text, tooLong):
		return trace.ClassContextLength
	case f.Status == 400 && says(f.Text, filtered):
		return trace.ClassContentFilter
	case byClass == trace.ClassTimeout:
		return byClass
	case f.Status >= 400:
		return trace.HTTPClass(f.Status)
	}
	return byClass
}

// RaisedStatus is the HTTP status in the line that raised a refusal of LiteLLM's own key check, which the traceback
// quotes ("raise ProxyException(..., code=401)"); 0 when there is none.
func (f Failure) RaisedStatus() int32 {
	i := strings.LastIndex(f.Traceback, "code=")
	if i < 0 || f.Class != "ProxyException" {
		return 0
	}
	code := strings.TrimPrefix(f.Traceback[i+len("code="):], "status.HTTP_")
	return StatusCode(code[:min(3, len(code))])
}

// StatusCode reads an HTTP status; 0 when text is none.
func StatusCode(text string) int32 {
	if text == "" { // of most records: an error costs more than all the rest
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 100 || n > 599 {
		return 0
	}
	return int32(n)
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

// exceptionClasses gives the family of the exceptions of the OpenAI and Anthropic clients, aiohttp and httpx, LiteLLM, and the languages.
var exceptionClasses = map[string]string{
	"CancelledError": trace.ClassCancel, "AbortError": trace.ClassCancel, "APIUserAbortError": trace.ClassCancel, "ClientDisconnect": trace.ClassCancel,
	"GeneratorExit": trace.ClassCancel, "Canceled": trace.ClassCancel, "RequestCancellationError": trace.ClassCancel,
	"Timeout": trace.ClassTimeout, "timeout": trace.ClassTimeout, "APITimeoutError": trace.ClassTimeout, "TimeoutError": trace.ClassTimeout, "ReadTimeout": trace.ClassTimeout,
	"APIConnectionTimeoutError": trace.ClassTimeout, "RateLimitError": trace.ClassRateLimited,
	"APIConnectionError": trace.ClassNetwork, "ConnectError": trace.ClassNetwork, "ReadError": trace.ClassNetwork, "ConnectionError": trace.ClassNetwork,
	"ClientConnectorError": trace.ClassNetwork, "ClientOSError": trace.ClassNetwork, "ClientPayloadError": trace.ClassNetwork, "ServerDisconnectedError": trace.ClassNetwork,
	"ConnectionResetError": trace.ClassNetwork, "ConnectionRefusedError": trace.ClassNetwork, "RemoteProtocolError": trace.ClassNetwork,
	"ConnectTimeout": trace.ClassTimeout, "ServerTimeoutError": trace.ClassTimeout, "SocketTimeoutError": trace.ClassTimeout,
	"InternalServerError": trace.ClassUpstream, "ServiceUnavailableError": trace.ClassUpstream, "BadGatewayError": trace.ClassUpstream,
	"MidStreamFallbackError": trace.ClassUpstream, "APIError": trace.ClassUpstream,
	"AuthenticationError": trace.ClassClientError, "PermissionDeniedError": trace.ClassClientError, "NotFoundError": trace.ClassClientError,
	"BadRequestError": trace.ClassClientError, "UnprocessableEntityError": trace.ClassClientError, "UnsupportedParamsError": trace.ClassClientError,
	"ConflictError": trace.ClassClientError, "ProxyModelNotFoundError": trace.ClassClientError, "BudgetExceededError": trace.ClassClientError,
	"ContextWindowExceededError": trace.ClassContextLength, "ContentPolicyViolationError": trace.ClassContentFilter,
}

// FinishReason gives a finish reason its one spelling (finish_reason of trace.Words); "" for "".
func FinishReason(s string) string {
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
