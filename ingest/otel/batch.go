package otel

import "reprise/ingest/decode"

// batch is the spans of one record, for the little that only several spans together can tell.
type batch struct {
	spans []*span
	byID  map[[2]string]*span   // by trace and span id; nil until asked for
	below map[*span]sglangBelow // nil until asked for
}

// takeAll makes requests of the spans that walk visits. What was visited before walk fails is kept.
func takeAll(c *decode.Context, format string, walk func(visit func(*span)) error) error {
	var b batch
	err := walk(func(s *span) {
		s.batch = &b
		b.spans = append(b.spans, s)
	})
	for _, s := range b.spans {
		take(c, format, s)
	}
	return err
}

// maxDepth bounds the climb through parents: ids of others may form a ring.
const maxDepth = 16

// parent returns the parent if it is in the same record.
func (s *span) parent() *span {
	b := s.batch
	if b == nil || s.parentID == "" {
		return nil
	}
	if b.byID == nil {
		b.byID = make(map[[2]string]*span, len(b.spans))
		for _, x := range b.spans {
			b.byID[[2]string{x.traceID, x.spanID}] = x
		}
	}
	return b.byID[[2]string{s.traceID, s.parentID}]
}

// above returns the nearest ancestor in the record for which is says yes; nil without one.
func (s *span) above(is func(*span) bool) *span {
	x := s.parent()
	for range maxDepth {
		if x == nil || is(x) {
			return x
		}
		x = x.parent()
	}
	return nil
}
