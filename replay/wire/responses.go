package wire

import "bytes"

// responsesEvent is what is read of one event of the Responses API, or of a whole answer (without a type). The members
// come in any order: some servers write them by alphabet, the type last.
type responsesEvent struct {
	kind, status, why []byte
	delta             []byte
	item              choice // of output_item events
	output            choice // of the whole answer
}

// readResponses reads an event or a whole answer of the Responses API. Generated text comes in events that end in ".delta";
// those that end in ".done" say it again. The name of a function comes with the item that begins its call.
func (f *frame) readResponses(s *scan) {
	e := responsesEvent{item: f.newChoice(), output: f.newChoice()}
	s.object(func(key []byte) {
		switch string(key) {
		case "type":
			e.kind, _ = s.text()
		case "delta":
			e.delta, _ = s.text()
		case "item":
			f.outputItem(s, &e.item)
		case "response":
			s.object(func(key []byte) { f.response(s, key, &e) })
		default:
			f.response(s, key, &e)
		}
	})
	f.settle(&e)
}

// response reads a member of the response object.
func (f *frame) response(s *scan, key []byte, e *responsesEvent) {
	switch string(key) {
	case "status":
		e.status, _ = s.text()
	case "incomplete_details":
		s.object(func(key []byte) {
			if string(key) == "reason" {
				e.why, _ = s.text()
			} else {
				s.skip()
			}
		})
	case "output":
		s.array(func() { f.outputItem(s, &e.output) })
	case "usage":
		f.readUsage(s)
	default:
		f.envelope(s, key)
	}
}

// outputItem adds one item of the output to c: a message, reasoning, or a call.
func (f *frame) outputItem(s *scan, c *choice) {
	var kind []byte
	item := f.newChoice()
	s.object(func(key []byte) {
		switch string(key) {
		case "type":
			kind, _ = s.text()
		case "content":
			item.parts(s, Content)
		case "summary":
			item.parts(s, Reasoning)
		case "name", "arguments", "input":
			item.add(s, Tool)
		default:
			s.skip()
		}
	})
	if string(kind) == "reasoning" && item.kind != 0 {
		item.kind, item.words = Reasoning, nil
	}
	c.kind |= item.kind
	c.size, c.chars, c.words = c.size+item.size, c.chars+item.chars, append(c.words, item.words...)
}

// parts adds the texts of a list of parts.
func (c *choice) parts(s *scan, kind Kind) {
	s.array(func() {
		s.object(func(key []byte) {
			switch string(key) {
			case "text", "refusal":
				c.add(s, kind)
			default:
				s.skip()
			}
		})
	})
}

// settle decides, with all members read, what an event means.
func (f *frame) settle(e *responsesEvent) {
	c := f.newChoice()
	switch kind := string(e.kind); {
	case kind == "":
		c = e.output
		c.finish = e.finish(e.status)
		f.failed = f.failed || c.finish == "error" || f.fail.message != "" && c.finish == ""
	case kind == "response.completed", kind == "response.incomplete", kind == "response.failed", kind == "response.cancelled":
		f.last = true
		c.finish = e.finish(bytes.TrimPrefix(e.kind, []byte("response.")))
		f.failed = f.failed || c.finish == "error"
	case kind == "error", f.fail.message != "":
		f.failed = true
	case kind == "response.output_item.added":
		if e.item.kind&Tool != 0 {
			c = e.item
		}
	case bytes.HasSuffix(e.kind, []byte(".delta")):
		c.addRaw(e.delta, deltaKind(e.kind))
	}
	if f.failed && f.fail.kind == "" {
		f.fail.kind = plain(e.kind)
	}
	if c.kind != 0 || c.finish != "" {
		f.choices = append(f.choices, c)
	}
}

func deltaKind(kind []byte) Kind {
	switch {
	case bytes.Contains(kind, []byte("reasoning")):
		return Reasoning
	case bytes.Contains(kind, []byte("call")):
		return Tool
	}
	return Content
}

// finish maps the status of a response to a finish reason; "" while it goes on.
func (e *responsesEvent) finish(status []byte) string {
	switch string(status) {
	case "completed":
		if e.output.kind&Tool != 0 {
			return "tool_calls"
		}
		return "stop"
	case "incomplete":
		if len(e.why) == 0 {
			return "other"
		}
		return finishReason(string(e.why))
	case "failed", "cancelled":
		return finishReason(string(status))
	}
	return ""
}
