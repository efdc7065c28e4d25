package otel

import (
	"cmp"
	"strings"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// outcome fills ErrorClass, HTTPStatus and FinishReason. An UNSET span without an error counts as ok when something
// shows an answer, as cancelled where its producer is known to leave it like that, and is unknown otherwise.
func (b *build) outcome() {
	r := b.r
	r.FinishReason = decode.FinishReason(b.finish)
	f, failed := b.failure()
	if f.Status != 0 {
		r.HTTPStatus = trace.Ptr(f.Status)
	}
	switch {
	case failed:
		r.ErrorClass = errorClass(f)
	case b.cancelled:
		r.ErrorClass = trace.ClassCancel
	case b.s.succeeded || b.finished || b.finish != "" || r.ResponseID != "" || value0(r.OutputTokens) > 0:
		r.ErrorClass = trace.ClassOK
	case r.EndpointKind == "embeddings" && r.InputTokens != nil:
		r.ErrorClass = trace.ClassOK
	}
}

// failure reads the error and whether there is one: status ERROR, or UNSET with an error type or an HTTP status of 400
// and more (servers leave those UNSET). An exception alone may have been handled.
func (b *build) failure() (f decode.Failure, failed bool) {
	a := b.s.attrs
	f = decode.Failure{Class: b.s.first(errorType), Text: firstOf(b.s.statusText, a.text("error.message")), Traceback: a.raw("error.stack_trace")}
	f.Status = decode.StatusCode(b.s.first(httpStatus))
	failed = b.s.failed || !b.s.succeeded && (f.Class != "" || f.Status >= 400)
	for _, e := range b.s.events {
		if e.name == "exception" {
			f.Class = firstOf(f.Class, e.attrs.text("exception.type"))
			f.Text = firstOf(f.Text, e.attrs.text("exception.message"))
		}
	}
	f.Class = f.Class[strings.LastIndexByte(f.Class, '.')+1:]
	if failed && f.Status == 0 {
		f.Status = statusInText(f)
	}
	return f, failed
}

// statusInText finds the HTTP status where clients put it: in front of the message ("429 Rate limit", also behind
// "Error: "), behind "Error code: ", as error.type, or in the traceback.
func statusInText(f decode.Failure) int32 {
	text := strings.TrimPrefix(f.Text, "Error: ")
	if _, code, ok := strings.Cut(text, "Error code: "); ok {
		text = code
	}
	if len(text) > 3 && strings.IndexByte(" :-", text[3]) >= 0 {
		if n := decode.StatusCode(text[:3]); n != 0 {
			return n
		}
	}
	return cmp.Or(decode.StatusCode(f.Class), f.RaisedStatus())
}

// errorClass: a failed call of which nothing more is known broke upstream, after the answer had begun.
func errorClass(f decode.Failure) string {
	class := f.ErrorClass()
	if class == "" && strings.Contains(strings.ToLower(f.Text), "rate limit") {
		return trace.ClassRateLimited
	}
	return cmp.Or(class, trace.ClassUpstream)
}
