package export

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// Mooncake writes the trace as Mooncake published theirs, which AIPerf (mooncake_trace) and others read: times in whole
// milliseconds from the first call. hash_ids are left out where they are unknown. Sessions are left out: readers take
// the lengths of a session's turns for what a turn adds, or wait for the answer before.
func (t *Trace) Mooncake(w io.Writer) error {
	return t.lines(w, func(b []byte, i int) ([]byte, error) {
		c := &t.calls[i]
		b = fmt.Appendf(b, `{"timestamp": %d, "input_length": %d, "output_length": %d`, (c.AtUS+500)/1000, c.InputTokens, c.OutputTokens)
		if t.ids[i] != nil {
			b = appendIDs(b, t.ids[i])
		}
		return append(b, '}'), nil
	})
}

// GuideLLM writes what its data kind "mooncake" reads (0.8): seconds from the first call, and hash_ids in every row. A
// prompt of unknown shape gets ids of its own. Without any known shape there are no ids, for its kind "trace_synthetic".
func (t *Trace) GuideLLM(w io.Writer) error {
	fresh, some := t.next, t.next > 0
	return t.lines(w, func(b []byte, i int) ([]byte, error) {
		c, ids := &t.calls[i], t.ids[i]
		b = fmt.Appendf(b, `{"timestamp": %d.%06d, "input_length": %d, "output_length": %d`, c.AtUS/1e6, c.AtUS%1e6, c.InputTokens, c.OutputTokens)
		for n := (c.InputTokens + t.size - 1) / t.size; some && int64(len(ids)) < n; fresh++ {
			ids = append(ids, fresh)
		}
		if some {
			b = appendIDs(b, ids)
		}
		return append(b, '}'), nil
	})
}

func appendIDs(b []byte, ids []int64) []byte {
	b = append(b, `, "hash_ids": [`...)
	for i, id := range ids {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return append(b, ']')
}

// message and body are what a chat endpoint takes.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type body struct {
	Model    string          `json:"model"`
	Messages []message       `json:"messages"`
	Limit    int64           `json:"max_tokens"`
	Stream   bool            `json:"stream"`
	Options  map[string]bool `json:"stream_options,omitempty"`
}

// Evalscope writes what its dataset "workload_trace" reads (1.14): whole chat bodies with made-up prompts, and times in
// seconds from the first call.
func (t *Trace) Evalscope(w io.Writer) error {
	return t.lines(w, func(b []byte, i int) ([]byte, error) {
		c := &t.calls[i]
		text := body{Model: c.Model, Limit: c.OutputTokens, Stream: c.Stream}
		if c.System != "" {
			text.Messages = append(text.Messages, message{"system", c.System})
		}
		text.Messages = append(text.Messages, message{"user", c.User})
		if c.Stream {
			text.Options = map[string]bool{"include_usage": true}
		}
		raw, err := json.Marshal(text)
		return fmt.Appendf(b, `{"timestamp": %d.%06d, "request_id": %q, "completion_tokens": %d, "body": %s}`, c.AtUS/1e6, c.AtUS%1e6, c.ID, c.OutputTokens, raw), err
	})
}

// lines writes a line for each call, a write each.
func (t *Trace) lines(w io.Writer, line func([]byte, int) ([]byte, error)) error {
	var buf []byte
	for i := range t.calls {
		var err error
		if buf, err = line(buf[:0], i); err != nil {
			return err
		}
		if _, err := w.Write(append(buf, '\n')); err != nil {
			return err
		}
	}
	return nil
}
