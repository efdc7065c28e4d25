package wire

// frame holds the facts of one JSON object of an answer: a streamed event or a whole body, in the shape of api.
type frame struct {
	api       API
	keep      bool // content is wanted
	id, model string
	choices   []choice // reused
	usage     Usage
	hasUsage  bool
	failed    bool // there is an error in place of, or beside, an answer
	fail      failure
	valid     bool // the text was one JSON value
	last      bool // the event that ends a stream
	billed    billed
}

type choice struct {
	index       int
	kind        Kind // 0: no payload
	size, chars int
	tokens      int32 // token_ids of this choice, -1 unknown
	finish      string
	keep        bool
	words       []byte // text of the content channel as it stands in the JSON, when it is wanted
}

// failure is what a server says about an error. The message is only looked at to classify it.
type failure struct{ code, kind, message string }

// Usage is what the server counted. nil: it did not say.
type Usage struct {
	Input     *int64 // prompt tokens, cached ones included
	Output    *int64 // completion tokens, reasoning included
	Cached    *int64 // part of Input
	Written   *int64 // part of Input: tokens written to the cache, where that is counted (Anthropic)
	Reasoning *int64 // part of Output
}

// read fills f from data. id and model stay once they are known.
func (f *frame) read(data []byte) {
	*f = frame{api: f.api, keep: f.keep, id: f.id, model: f.model, choices: f.choices[:0], billed: f.billed}
	s := scan{b: data}
	switch f.api {
	case Responses:
		f.readResponses(&s)
	case Messages:
		f.readMessages(&s)
	case Embeddings:
		f.readEmbeddings(&s)
	default:
		f.readChat(&s)
	}
	f.valid = s.finish()
}

// readChat reads a chunk or a whole answer of chat completions or completions.
func (f *frame) readChat(s *scan) {
	isError := false // {"object":"error","message":...} is how some engines say it
	s.object(func(key []byte) {
		switch string(key) {
		case "choices":
			s.array(func() { f.choice(s) })
		case "usage":
			f.readUsage(s)
		case "object":
			raw, _ := s.text()
			isError = isError || string(raw) == "error"
		default:
			f.envelope(s, key)
		}
	})
	f.failed = f.failed || isError || f.fail.kind == "error" || f.fail.message != "" && len(f.choices) == 0
}

// envelope reads a member that all shapes have: whose answer it is, or an error.
func (f *frame) envelope(s *scan, key []byte) {
	switch string(key) {
	case "id":
		first(s, &f.id)
	case "model":
		first(s, &f.model)
	case "error":
		f.failed = f.fail.value(s) || f.failed
	default:
		f.fail.part(s, key)
	}
}

func first(s *scan, to *string) {
	if raw, _ := s.text(); *to == "" {
		*to = plain(raw)
	}
}

// value reads the value of an error key; false when it says that there is none (null, false, "").
func (e *failure) value(s *scan) bool {
	switch c := s.peek(); {
	case c == '{':
		s.object(func(key []byte) { e.part(s, key) })
		return true
	case c == '"':
		raw, _ := s.text()
		e.message = plain(raw)
		return len(raw) > 0
	default:
		s.skip()
		return c != 'n' && c != 'f'
	}
}

// part reads one field of an error, wherever the server puts it.
func (e *failure) part(s *scan, key []byte) {
	switch string(key) {
	case "code":
		e.code = s.name()
	case "type":
		e.kind = s.name()
	case "message", "detail":
		raw, _ := s.text()
		e.message = plain(raw)
	default:
		s.skip()
	}
}

func (f *frame) readUsage(s *scan) {
	s.object(func(key []byte) {
		switch string(key) {
		case "prompt_tokens", "input_tokens":
			f.usage.Input = s.count()
		case "completion_tokens", "output_tokens":
			f.usage.Output = s.count()
		case "cached_tokens", "prompt_cache_hit_tokens":
			f.usage.Cached = s.count()
		case "prompt_tokens_details", "input_tokens_details":
			detail(s, "cached_tokens", &f.usage.Cached)
		case "completion_tokens_details", "output_tokens_details":
			detail(s, "reasoning_tokens", &f.usage.Reasoning)
		default:
			s.skip()
		}
		f.hasUsage = true
	})
}

func detail(s *scan, name string, to **int64) {
	s.object(func(key []byte) {
		if string(key) == name {
			*to = s.count()
		} else {
			s.skip()
		}
	})
}

func (f *frame) choice(s *scan) {
	c := f.newChoice()
	s.object(func(key []byte) {
		switch string(key) {
		case "index":
			n, _ := s.integer()
			c.index = int(n)
		case "delta", "message":
			c.payload(s)
		case "text":
			c.add(s, Content)
		case "finish_reason":
			raw, _ := s.text()
			c.finish = finishReason(string(raw))
		case "token_ids":
			c.countTokens(s)
		default:
			s.skip()
		}
	})
	f.choices = append(f.choices, c)
}

func (f *frame) newChoice() choice { return choice{tokens: -1, keep: f.keep} }

// countTokens takes the number of generated ids a server lists (vLLM with return_token_ids).
func (c *choice) countTokens(s *scan) {
	if s.peek() != '[' {
		s.skip()
		return
	}
	c.tokens = 0
	s.array(func() { c.tokens++; s.skip() })
}

func (c *choice) payload(s *scan) {
	s.object(func(key []byte) {
		switch string(key) {
		case "content":
			c.content(s)
		case "refusal":
			c.add(s, Content)
		case "reasoning_content", "reasoning":
			c.add(s, Reasoning)
		case "tool_calls":
			s.array(func() { c.tool(s) })
		case "function_call":
			c.function(s)
		default:
			s.skip()
		}
	})
}

// content reads text, or a list of parts where each is text or thinking.
func (c *choice) content(s *scan) {
	if s.peek() != '[' {
		c.add(s, Content)
		return
	}
	s.array(func() {
		s.object(func(key []byte) {
			switch string(key) {
			case "text":
				c.add(s, Content)
			case "thinking":
				s.array(func() {
					s.object(func(key []byte) {
						if string(key) == "text" {
							c.add(s, Reasoning)
						} else {
							s.skip()
						}
					})
				})
			default:
				s.skip()
			}
		})
	})
}

func (c *choice) tool(s *scan) {
	s.object(func(key []byte) {
		if string(key) == "function" {
			c.function(s)
		} else {
			s.skip()
		}
	})
}

func (c *choice) function(s *scan) {
	s.object(func(key []byte) {
		switch string(key) {
		case "name", "arguments":
			c.add(s, Tool)
		default:
			s.skip()
		}
	})
}

// add counts text of one channel; empty text is no payload (RPL-01, RPL-02).
func (c *choice) add(s *scan, kind Kind) {
	raw, _ := s.text()
	c.addRaw(raw, kind)
}

// addRaw is add for text that is read already.
func (c *choice) addRaw(raw []byte, kind Kind) {
	if len(raw) == 0 {
		return
	}
	if c.keep && kind == Content {
		c.words = append(c.words, raw...)
	}
	size, chars := textSize(raw)
	c.kind |= kind
	c.size += size
	c.chars += chars
}

// finishReason maps what servers say to stop, length, tool_calls, content_filter, abort, error or other; "" for "".
func finishReason(s string) string {
	switch s {
	case "", "stop", "length", "tool_calls", "content_filter", "abort", "error":
		return s
	case "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed":
		return "stop"
	case "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded":
		return "length"
	case "function_call", "tool_use":
		return "tool_calls"
	case "refusal":
		return "content_filter"
	case "cancelled", "aborted":
		return "abort"
	case "failed":
		return "error"
	}
	return "other"
}
