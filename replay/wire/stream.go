package wire

import (
	"bytes"
	"time"
)

// closeGrace is how long a server may keep the connection open behind [DONE]; the answer is complete all the same.
const closeGrace = time.Second

// event takes one event of a stream.
func (x *exchange) event(e Event) {
	data := bytes.TrimSpace(e.Data)
	if len(data) == 0 || x.done {
		return
	}
	if string(data) == "[DONE]" {
		x.done = true
		x.watch.enter(lateClose, closeGrace)
		return
	}
	f := &x.frame
	f.read(data)
	named := string(e.Name) == "error"
	switch {
	case e.Unfinished && !f.valid: // cut in the middle: the missing end is judged by classify
		return
	case !f.valid && !named && len(e.Name) > 0 && string(e.Name) != "message":
		return // a ping with free text
	case !f.valid && !named:
		x.blame("bad_frame", failure{})
		return
	}
	if f.last {
		x.done = true
		x.watch.enter(lateClose, closeGrace)
	}
	if f.failed || named {
		x.blame("error_frame", f.fail)
	}
	x.facts(f)
	before := len(x.out.Chunks)
	for i := range f.choices {
		x.chunk(&f.choices[i], e.At)
	}
	if read := x.stamps.read.Load(); len(x.out.Chunks) > before {
		if read == x.seen {
			x.out.Coalesced++
		}
		x.seen = read
	}
}

// blame keeps the first failure inside an answer.
func (x *exchange) blame(reason string, f failure) {
	if x.fail == nil {
		x.fail, x.reason = &f, reason
	}
}

// facts takes what is not payload. Usage may come in each frame, in the last, or in one of its own: the newest counts.
func (x *exchange) facts(f *frame) {
	if f.hasUsage {
		x.out.Usage = f.usage
	}
	for i := range f.choices {
		c := &f.choices[i]
		x.out.Choices = max(x.out.Choices, c.index+1)
		if c.finish != "" {
			x.out.Finish = c.finish
		}
		if c.index == 0 {
			x.text = append(x.text, c.words...)
		}
	}
}

// chunk notes the payload of one choice; a frame without is neither a token nor the end of a gap.
func (x *exchange) chunk(c *choice, at time.Duration) {
	if c.kind == 0 {
		return
	}
	if out := x.frame.usage.Output; c.tokens < 0 && out != nil && len(x.frame.choices) == 1 && *out >= x.tokens {
		c.tokens = int32(*out - x.tokens) // tokens of empty frames before it were held back until now
		x.tokens = *out
	}
	x.every = x.every && c.tokens >= 0
	x.out.Chunks = append(x.out.Chunks, Chunk{At: at, Bytes: int32(c.size), Chars: int32(c.chars), Tokens: c.tokens,
		Choice: int16(c.index), Kind: c.kind})
}

// unary reads a whole JSON answer, or the body of an error.
func (x *exchange) unary() {
	f := &x.frame
	f.read(x.body)
	if !f.valid {
		if x.out.Status/100 == 2 {
			x.blame("bad_json", failure{})
		}
		return
	}
	if f.failed {
		x.blame("error_body", f.fail)
	}
	x.facts(f)
}
