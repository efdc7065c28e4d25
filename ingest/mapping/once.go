package mapping

import "reprise/ingest/decode"

// group reads a file whose records repeat request ids.
func (m *mapping) group() decode.Group {
	one := *m
	one.seen = &recent{}
	if m.text != nil {
		return decode.Group{Line: one.line}
	}
	return decode.Group{JSON: one.decode}
}

// recent remembers the last ids, at least keptIDs of them: repeats come soon, and memory has to have an end.
type recent struct{ young, old map[string]bool }

const keptIDs = 100_000

// again says whether the id was there, and remembers it.
func (s *recent) again(id string) bool {
	if s.young[id] || s.old[id] {
		return true
	}
	if s.young == nil || len(s.young) == keptIDs {
		s.young, s.old = map[string]bool{}, s.young
	}
	s.young[id] = true
	return false
}
