package wire

// billed is what Anthropic's usage counts, over the events of one answer: input_tokens leaves out what the cache had and
// what was written to it.
type billed struct{ input, read, written, output *int64 }

// usage is the sum in our terms: input with the cached part in it.
func (b billed) usage() Usage {
	u := Usage{Cached: b.read, Written: b.written, Output: b.output}
	if b.input != nil {
		n := *b.input
		for _, more := range []*int64{b.read, b.written} {
			if more != nil {
				n += *more
			}
		}
		u.Input = &n
	}
	return u
}

// messagesEvent is what is read of one event of the Messages API, or of a whole answer (type message).
type messagesEvent struct {
	kind    []byte
	delta   choice // of content_block_start, content_block_delta and message_delta
	message choice // of a whole answer
}

// readMessages reads an event or a whole answer of Anthropic's Messages API. Text comes in content_block_delta, the name of a tool
// in content_block_start. The output count of message_start is a placeholder and says nothing.
func (f *frame) readMessages(s *scan) {
	e := messagesEvent{delta: f.newChoice(), message: f.newChoice()}
	s.object(func(key []byte) {
		switch string(key) {
		case "type":
			e.kind, _ = s.text()
		case "delta", "content_block":
			e.delta.block(s)
		case "message":
			if s.peek() != '{' {
				f.fail.part(s, key)
				return
			}
			s.object(func(key []byte) { f.message(s, key, &e) })
			f.billed.output = nil
		default:
			f.message(s, key, &e)
		}
	})
	if f.hasUsage {
		f.usage = f.billed.usage()
	}
	c := e.delta
	switch string(e.kind) {
	case "message":
		c = e.message
	case "message_stop":
		f.last = true
	case "error":
		f.failed = true
	}
	if f.failed = f.failed || f.fail.message != "" && c.kind == 0; f.failed && f.fail.kind == "" {
		f.fail.kind = plain(e.kind) // beside the message, as other servers write it
	}
	if c.kind != 0 || c.finish != "" {
		f.choices = append(f.choices, c)
	}
}

// message reads a member of the message object.
func (f *frame) message(s *scan, key []byte, e *messagesEvent) {
	switch string(key) {
	case "content":
		s.array(func() { e.message.block(s) })
	case "stop_reason":
		e.message.stop(s)
	case "usage":
		f.readBilled(s)
	default:
		f.envelope(s, key)
	}
}

// block adds a block of content, a delta of one, or the delta of a message.
func (c *choice) block(s *scan) {
	s.object(func(key []byte) {
		switch string(key) {
		case "text":
			c.add(s, Content)
		case "thinking":
			c.add(s, Reasoning)
		case "name", "partial_json":
			c.add(s, Tool)
		case "stop_reason":
			c.stop(s)
		default:
			s.skip()
		}
	})
}

func (c *choice) stop(s *scan) {
	raw, _ := s.text()
	c.finish = finishReason(string(raw))
}

func (f *frame) readBilled(s *scan) {
	b := &f.billed
	s.object(func(key []byte) {
		switch string(key) {
		case "input_tokens":
			b.input = s.count()
		case "cache_read_input_tokens":
			b.read = s.count()
		case "cache_creation_input_tokens":
			b.written = s.count()
		case "output_tokens":
			b.output = s.count()
		default:
			s.skip()
		}
		f.hasUsage = true
	})
}
