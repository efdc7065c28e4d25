package otel

import "strings"

// events takes the messages of span events: one a message (1.28 to 1.36), or all in one (1.26, 1.27, and the details of
// 1.37). False when there are none.
func (s *shaper) events(x *span) (found bool) {
	for i := range x.events {
		e := &x.events[i]
		role, one := strings.CutPrefix(e.name, "gen_ai.")
		role, message := strings.CutSuffix(role, ".message")
		switch {
		case one && message:
			s.content(role, &e.attrs)
		case e.name == "gen_ai.content.prompt":
			s.list(e.attrs.raw("gen_ai.prompt"))
		case e.name == operationDetails:
			s.text("tools", e.attrs.raw("gen_ai.tool.definitions"))
			s.instructions(e.attrs.raw("gen_ai.system_instructions"))
			s.list(e.attrs.raw("gen_ai.input.messages"))
		default:
			continue
		}
		found = true
	}
	s.cut = s.cut || found && x.eventsCut
	return found
}

// content adds one message from the attributes of its event: as they are, or as JSON in gen_ai.event.content (Azure).
func (s *shaper) content(role string, a *attrs) {
	text := a.raw("content")
	if body := s.m.parse(a.raw("gen_ai.event.content")); body.GetObject() != nil {
		s.message(role, body.Get("content"), body.Get("tool_calls"))
		return
	}
	s.buf = append(append(s.buf[:0], text...), a.raw("tool_calls")...)
	s.calls = s.calls || a.has("tool_calls")
	s.add(role, s.buf)
}
