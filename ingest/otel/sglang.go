package otel

import (
	"strings"

	"reprise/ingest/trace"
)

// sglang: the root span of a request is called "ROLE Req ID", without a role when prefill and decode share an instance,
// and carries the request's rid. Below it is a span for each thread, and below those one for each stage.
func (s *span) sglang() bool { return s.attrs.has("rid") }

func (s *span) sglangRoot() bool { return s.sglang() && strings.Contains(s.name, "Req ") }

// sglangRole is prefill or decode where the two are on different instances; else "".
func (s *span) sglangRole() string {
	role, _, _ := strings.Cut(s.name, "Req ")
	return strings.ToLower(strings.TrimSpace(role))
}

// refineSGLang: the attribute called prefill counts from the dispatch, waiting included, so queue and prefill come from
// the stage prefill_waiting, where the collector put it into the same record. Scheduled means: that stage is over.
func refineSGLang(b *build) {
	s, r := b.s, b.r
	if !s.sglang() {
		return
	}
	b.finished = false
	if value0(r.OutputTokens) == 0 {
		r.ResponseID = "" // the id is given at the start: it proves no answer
	}
	if wait := s.wait(); wait != nil && wait.end != 0 {
		r.QueueUS = trace.Ptr(round(wait.end - wait.start))
		if r.FirstUS != nil && s.start != 0 {
			r.PrefillUS = trace.Ptr(*r.FirstUS - round(wait.end-s.start))
		}
	}
	if thread := s.aborted(); thread != nil {
		if status := thread.attrs.text("status_code"); status != "" {
			s.attrs["http.response.status_code"] = thread.attrs["status_code"]
			s.failed = true
		} else {
			b.cancelled = true
		}
	}
}

// wait is the first stage of that name below a root: after a retraction there is another.
func (s *span) wait() *span {
	b := s.batch
	if b == nil {
		return nil
	}
	if b.waits == nil {
		b.waits = map[*span]*span{}
		for _, x := range b.spans {
			if x.name != "prefill_waiting" {
				continue
			}
			if root := x.above((*span).sglangRoot); root != nil && (b.waits[root] == nil || x.start < b.waits[root].start) {
				b.waits[root] = x
			}
		}
	}
	return b.waits[s]
}

// aborted is a thread of the root that was aborted. SGLang also closes forgotten spans that way, with a reason.
func (s *span) aborted() *span {
	if s.batch == nil {
		return nil
	}
	for _, x := range s.batch.spans {
		if x.failed && x.attrs.text("type") == "abort" && x.parentID == s.spanID && x.traceID == s.traceID {
			return x
		}
	}
	return nil
}
