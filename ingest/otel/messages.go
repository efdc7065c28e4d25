package otel

import (
	"strconv"
	"strings"

	"reprise/ingest/decode"
)

// read takes the prompt from the newest convention that has one.
func (s *shaper) read(x *span) {
	a := &x.attrs
	switch {
	case a.has("gen_ai.input.messages") || a.has("gen_ai.system_instructions"): // 1.37
		s.text("tools", a.raw("gen_ai.tool.definitions"))
		s.instructions(a.raw("gen_ai.system_instructions"))
		s.list(a.raw("gen_ai.input.messages"))
	case a.has("gen_ai.prompt.0.role") || a.has("gen_ai.prompt.0.content"): // OpenLLMetry, LiteLLM
		s.functions(a)
		s.indexed(x, "gen_ai.prompt.", ".role", ".content")
	case a.has(openInferencePrompt + "0.message.role"): // OpenInference
		s.openInferenceTools(a)
		s.indexed(x, openInferencePrompt, ".message.role", ".message.content")
	case a.has("llm.prompts.0.prompt.text"):
		if !a.has("llm.prompts.1.prompt.text") { // several are a batch: no one prompt
			s.indexed(x, "llm.prompts.", "", ".prompt.text")
		}
	case a.has("ai.prompt.messages"): // Vercel: the call, with its tools
		s.text("tools", a.raw("ai.prompt.tools"))
		s.list(a.raw("ai.prompt.messages"))
	case s.events(x):
	default:
		s.request(firstOf(a.raw("ai.prompt"), a.raw("langfuse.observation.input"), a.raw("input.value")))
	}
}

// text adds one message from a text; nothing when it is empty.
func (s *shaper) text(role, text string) {
	if text != "" {
		s.add(role, raw(text))
	}
}

// request takes a whole request body, a list of messages, or a bare prompt.
func (s *shaper) request(text string) {
	body := s.parse(text)
	if body.GetObject() == nil {
		s.list(text)
		return
	}
	if tools := body.Get("tools"); len(tools.GetArray()) > 0 {
		s.text("tools", string(appendPlain(nil, tools)))
	}
	for _, key := range []string{"system", "instructions"} {
		if v := body.Get(key); v != nil {
			s.message("system", v, nil)
		}
	}
	for _, key := range []string{"messages", "input", "prompt"} {
		if v := body.Get(key); v != nil {
			s.messages(v)
			return
		}
	}
}

// parse reads JSON in a text. A text that begins like JSON and is none was cut.
func (s *shaper) parse(text string) *decode.Value {
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") {
		return nil
	}
	v := s.m.parse(text)
	s.cut = s.cut || v == nil
	return v
}

// list takes a list of messages held in a text, or a bare prompt.
func (s *shaper) list(text string) {
	if v := s.parse(text); v != nil {
		s.messages(v)
	} else if !s.cut {
		s.text("user", text)
	}
}

func (s *shaper) instructions(text string) {
	if v := s.parse(text); v != nil {
		s.message("system", v, nil)
	} else if !s.cut {
		s.text("system", text)
	}
}

func (s *shaper) messages(v *decode.Value) {
	if isText(v) {
		s.message("user", v, nil)
	}
	for _, m := range v.GetArray() {
		switch {
		case isText(m): // a list of bare prompts
			s.message("user", m, nil)
		case m.Get("parts") != nil:
			s.message(string(m.GetStringBytes("role")), m.Get("parts"), nil)
		default:
			s.message(string(m.GetStringBytes("role")), m.Get("content"), m.Get("tool_calls"))
		}
	}
}

func isText(v *decode.Value) bool { return v != nil && v.Type() == decode.TypeString }

// message adds one message: its text, or its parts joined, then its tool calls.
func (s *shaper) message(role string, content, calls *decode.Value) {
	s.buf = append(s.buf[:0], content.GetStringBytes()...)
	for _, p := range content.GetArray() {
		s.part(p)
	}
	if len(calls.GetArray()) > 0 {
		s.buf = appendPlain(s.buf, calls)
		s.calls = true
	}
	s.add(role, s.buf)
}

// part appends a text part. Tool calls and results enter as JSON; anything else (image, audio) as a short hash, so that
// prompts with different pictures do not count as equal.
func (s *shaper) part(p *decode.Value) {
	for _, key := range []string{"text", "content"} { // OpenAI, OpenTelemetry
		if t := p.Get(key); isText(t) {
			s.buf = append(s.buf, t.GetStringBytes()...)
			return
		}
	}
	if strings.Contains(strings.ToLower(string(p.GetStringBytes("type"))), "tool") {
		s.buf = appendPlain(s.buf, p)
		s.calls = true
		return
	}
	s.media = true
	s.buf = append(s.buf, s.hash.Text("part", string(appendPlain(nil, p)))...)
}

// indexed takes messages that stand one attribute a piece. When a limit dropped attributes nobody knows which.
func (s *shaper) indexed(x *span, prefix, role, content string) {
	s.cut = s.cut || x.attrsCut
	for i := 0; !s.cut; i++ {
		by, said := x.attrs.find(s.m.name(prefix, i, role)), x.attrs.find(s.m.name(prefix, i, content))
		if by == nil && said == nil {
			return
		}
		who, text := "user", said.raw()
		if role != "" {
			who = by.raw()
		}
		if parts := s.contentParts(text); parts != nil {
			s.message(who, parts, nil)
			continue
		}
		if prefix != openInferencePrompt {
			s.add(who, raw(text))
			continue
		}
		s.buf = append(s.buf[:0], text...)
		s.openInferenceParts(&x.attrs, prefix+strconv.Itoa(i)+".message.")
		s.add(who, s.buf)
	}
}

// contentParts parses a text that is a list of content parts, as JSON or as Python prints it; nil for any other text.
func (s *shaper) contentParts(text string) *decode.Value {
	if !strings.HasPrefix(text, "[{") {
		return nil
	}
	v := s.m.parse(text)
	for _, p := range v.GetArray() {
		if !isText(p.Get("type")) {
			return nil
		}
	}
	return v
}

// openInferenceParts appends what stands below one message: parts of its content, tool calls.
func (s *shaper) openInferenceParts(a *attrs, base string) {
	for i := 0; ; i++ {
		part := base + "contents." + strconv.Itoa(i) + ".message_content."
		kind := a.raw(part + "type")
		if kind == "" {
			break
		}
		if kind == "text" {
			s.buf = append(s.buf, a.raw(part+"text")...)
			continue
		}
		s.media = true
		s.buf = append(s.buf, s.hash.Text("part", a.raw(part+"image.image.url")+a.raw(part+"audio.audio.url"))...)
	}
	for i := 0; ; i++ {
		call := base + "tool_calls." + strconv.Itoa(i) + ".tool_call.function."
		if !a.has(call + "name") {
			return
		}
		s.calls = true
		s.buf = append(append(s.buf, a.raw(call+"name")...), a.raw(call+"arguments")...)
	}
}

// functions takes the tools of OpenLLMetry and LiteLLM.
func (s *shaper) functions(a *attrs) {
	var b strings.Builder
	for i := 0; a.has("llm.request.functions." + strconv.Itoa(i) + ".name"); i++ {
		base := "llm.request.functions." + strconv.Itoa(i)
		b.WriteString(a.raw(base+".name") + a.raw(base+".description") + a.raw(base+".parameters"))
	}
	s.text("tools", b.String())
}

func (s *shaper) openInferenceTools(a *attrs) {
	var b strings.Builder
	for i := 0; a.has("llm.tools." + strconv.Itoa(i) + ".tool.json_schema"); i++ {
		b.WriteString(a.raw("llm.tools." + strconv.Itoa(i) + ".tool.json_schema"))
	}
	s.text("tools", b.String())
}
