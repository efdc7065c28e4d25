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
	below := s.below()
	if wait := below.wait; wait != nil && wait.end != 0 {
		r.QueueUS = trace.Ptr(round(wait.end - wait.start))
		if r.FirstUS != nil && s.start != 0 {
			r.PrefillUS = trace.Ptr(*r.FirstUS - round(wait.end-s.start))
		}
	}
	if thread := below.aborted; thread != nil {
		if status := thread.attrs.text("status_code"); status != "" {
			s.attrs["http.response.status_code"] = thread.attrs["status_code"]
			s.failed = true
		} else {
			b.cancelled = true
		}
	}
}

// sglangBelow is what the spans below a root say, those of the same record.
type sglangBelow struct {
	wait    *span // the first stage prefill_waiting: after a retraction there is another
	aborted *span // the thread that was aborted; SGLang also closes forgotten spans that way, without the type
}

// below finds it, for all roots of the record at once.
func (s *span) below() sglangBelow {
	b := s.batch
	if b == nil {
		return sglangBelow{}
	}
	if b.below == nil {
		b.below = map[*span]sglangBelow{}
		for _, x := range b.spans {
			waits, aborted := x.name == "prefill_waiting", x.failed && x.attrs.text("type") == "abort"
			if !waits && !aborted {
				continue
			}
			root := x.above((*span).sglangRoot)
			if root == nil {
				continue
			}
			found := b.below[root]
			if waits && (found.wait == nil || x.start < found.wait.start) {
				found.wait = x
			}
			if aborted {
				found.aborted = x
			}
			b.below[root] = found
		}
	}
	return b.below[s]
}
