package otel

import (
	"strings"

	"reprise/ingest/trace"
)

// sglang: the root span of a request is called "ROLE Req ID", without a role when prefill and decode share an instance,
// and carries the request's rid. Below it is a span for each thread, and below those one for each stage.
func (s *span) sglang() bool { return s.attrs.has("rid") }

func (s *span) sglangRoot() bool { return strings.Contains(s.name, "Req ") && s.sglang() }

// sglangRole is prefill or decode where the two are on different instances; else "".
func (s *span) sglangRole() string {
	role, _, _ := strings.Cut(s.name, "Req ")
	return strings.ToLower(strings.TrimSpace(role))
}

// refineSGLang: the attribute called prefill counts from the dispatch, waiting included, and is not read.
func refineSGLang(b *build) {
	if !b.s.sglang() {
		return
	}
	b.finished = false
	if value0(b.r.OutputTokens) == 0 {
		b.r.ResponseID = "" // the id is given at the start: it proves no answer
	}
}

// settleSGLang takes queue and prefill from the stage prefill_waiting. Scheduled means: that stage is over.
func (n *node) settleSGLang(r *trace.Request) {
	if wait := n.wait; wait != nil && wait.start != 0 && wait.end != 0 {
		r.QueueUS = trace.Ptr(round(wait.end - wait.start))
		if r.FirstUS != nil && n.start != 0 {
			r.PrefillUS = trace.Ptr(*r.FirstUS - round(wait.end-n.start))
		}
	}
	switch {
	case n.aborted == nil:
	case n.aborted.status != 0:
		r.HTTPStatus, r.ErrorClass = &n.aborted.status, trace.HTTPClass(n.aborted.status)
	default:
		r.ErrorClass = trace.ClassCancel
	}
}
