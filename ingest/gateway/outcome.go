package gateway

import (
	"cmp"
	"strings"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// failure is what LiteLLM says of an error: views of the record, so that nothing of it is kept.
type failure struct {
	decode.Failure
	code    string // as written: HTTP status, a word, or nothing
	guarded bool   // a guardrail stopped the call
}

func (p *payload) failure() failure {
	f := failureOf(decode.Nested(p.errorObj))
	f.Text = firstOf(decode.View(p.errorText), f.Text)
	if !p.ok {
		f.guarded = decode.View(p.statusFields, "guardrail_status") == "guardrail_intervened"
	}
	return f
}

var failureKeys = decode.NewKeys("error_code", "error_class", "error_message", "traceback")

// failureOf reads an error_information object; a nil one gives the zero failure. Refusals of the proxy's own key check
// have an empty code.
func failureOf(e *decode.Value) failure {
	var code, class, text, traceback *decode.Value
	e.Members(failureKeys, &code, &class, &text, &traceback)
	f := failure{code: decode.View(code), Failure: decode.Failure{Class: decode.View(class), Text: decode.View(text), Traceback: decode.View(traceback)}}
	if f.Status = decode.StatusCode(f.code); f.code == "" {
		f.Status = f.RaisedStatus()
	}
	return f
}

// outcome fills ErrorClass and HTTPStatus from the status text (success, failure) and the error.
func outcome(r *trace.Request, status string, f failure) {
	switch {
	case hungUp(f):
		r.ErrorClass = trace.ClassCancel
	case status == "success":
		r.ErrorClass = trace.ClassOK
	case status == "failure":
		if f.Status != 0 {
			r.HTTPStatus = trace.Ptr(f.Status)
		}
		r.ErrorClass = cmp.Or(f.ErrorClass(), trace.ClassUnknown)
		if f.guarded {
			r.ErrorClass = trace.ClassContentFilter
		}
	}
}

// hungUp: the caller went away. LiteLLM logs that as success with an error text, or as a cancelled task.
func hungUp(f failure) bool {
	return f.Class == "CancelledError" || f.Class == "ClientDisconnect" || f.code == "499" ||
		f.Text != "" && strings.Contains(strings.ToLower(f.Text), "client disconnected")
}
