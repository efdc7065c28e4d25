package public

import (
	"fmt"
	"path"
	"strconv"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// Mooncake is the trace format of the Mooncake paper (FAST'25), which other tools write too.
func Mooncake() decode.Format {
	return decode.Format{Name: "mooncake", Title: "Mooncake trace (JSON lines)", About: aboutMooncake,
		Units: "timestamp: whole milliseconds from the start of the trace", Defects: defectsMooncake,
		Example: `{"timestamp": 27482, "input_length": 600, "output_length": 52, "hash_ids": [46, 47]}`,
		Detect:  func(s *decode.Sample) int { return detectMooncake(s, blockTokens) }, JSON: mooncake(blockTokens)}
}

const defectsMooncake = `the conversation trace is on a grid of 3 s, and block 0 is in every row; other tools write ids above 2^32, leave
timestamp out or write delays (ai-dynamo/aiperf#273)`

const aboutMooncake = `One JSON object a line: timestamp, input_length, output_length, hash_ids.
Can contain: arrivals (whole milliseconds from the start of the trace: a relative clock), lengths in tokens, prefix
blocks. Cannot: when anything was answered, outcomes, models, tenants: nothing to say about latency.

timestamp      may be absent in files of other tools: arrival unknown then. The published conversation trace is on a
               grid of 3 s, so about ten requests share each instant: replaying it as it is means a burst every 3 s.
hash_ids       one id a block of 512 tokens; equal ids mean an equal prefix up to that block. A row whose number of
               ids is not input_length/512, rounded up, is refused (prefix_mismatch): it is of another block size, which
               mooncake-blocks reads.
text_input     and messages, which other tools write in place of input_length: the text is hashed, input_tokens unknown.
output_length  may be absent in files of other tools.
session_id     kept when there. delay (milliseconds after the answer before) has no column: nothing says when that was.
               input_length is read as the length of the whole prompt; files in which it is only what a turn adds look
               the same: read them as mooncake-delta.
error_class    unknown: the trace does not say. request_id is FILE:LINE.
`

// blockTokens is the block size of the published traces: their number of ids is the rounded-up quotient in every row.
const blockTokens = 512

// detectMooncake counts the keys. It wants integer times, which tells it from Qwen-Bailian's seconds, as the chat ids
// do. Where all lengths fit another block size and not this one, that dialect is the better guess.
func detectMooncake(s *decode.Sample, block int64) int {
	best := 0
	for _, v := range s.Records {
		n := keyed(v, "timestamp", "output_length", "hash_ids", "session_id") + min(1, keyed(v, "input_length", "text_input", "messages"))
		switch {
		case decode.Has(v, "chat_id"):
			n = min(n, 2)
		case decode.Has(v, "timestamp") && decode.Int(v, "timestamp") == nil, !decode.Has(v, "output_length") && !decode.Has(v, "hash_ids"):
			return 0
		}
		best = max(best, n)
	}
	for _, b := range otherBlocks {
		if block == blockTokens && fits(s.Records, b) && !fits(s.Records, blockTokens) {
			return best - 1
		}
	}
	return best
}

// keyed counts the keys that the object has.
func keyed(v *decode.Value, keys ...string) (n int) {
	for _, key := range keys {
		if decode.Has(v, key) {
			n++
		}
	}
	return n
}

// fits says whether the ids of all rows are as many as their lengths need.
func fits(rows []*decode.Value, block int64) bool {
	for _, v := range rows {
		n := decode.Int(v, "input_length")
		if n != nil && decode.Has(v, "hash_ids") && (*n < 0 || (*n+block-1)/block != int64(len(v.GetArray("hash_ids")))) {
			return false
		}
	}
	return true
}

func mooncake(block int64) func(*decode.Context, *decode.Value) error {
	return func(c *decode.Context, v *decode.Value) error {
		r, body, err := mooncakeRow(c, v, block)
		if err == nil {
			c.Emit(r, body)
		}
		return err
	}
}

func mooncakeRow(c *decode.Context, v *decode.Value, block int64) (r *trace.Request, body []byte, err error) {
	r = traced(c, "mooncake")
	r.ClockDomain, r.TimePrecision = trace.Relative, 1000
	if decode.Has(v, "timestamp") {
		ms := decode.Int(v, "timestamp")
		if ms == nil || *ms < 0 || *ms > 1<<50 {
			return nil, nil, c.Reject("bad_time", "timestamp: expected whole milliseconds from 0, got %q", decode.Text(v, "timestamp"))
		}
		r.Arrival = trace.Ptr(*ms * 1000)
	}
	r.SessionID = decode.Text(v, "session_id")
	if body, err = mooncakeLengths(c, r, v); err == nil {
		err = blocks(c, r, v.Get("hash_ids"), block)
	}
	return r, body, err
}

// mooncakeLengths reads the lengths, or what other tools write in their place: text for the input, nothing for the
// output.
func mooncakeLengths(c *decode.Context, r *trace.Request, v *decode.Value) (body []byte, err error) {
	text, messages := v.Get("text_input"), v.Get("messages")
	if text == nil && messages == nil && decode.Has(v, "output_length") {
		return nil, lengths(c, r, v)
	}
	for _, f := range []struct {
		key string
		to  **int64
	}{{"input_length", &r.InputTokens}, {"output_length", &r.OutputTokens}} {
		if *f.to = decode.Int(v, f.key); decode.Has(v, f.key) && (*f.to == nil || **f.to < 0) {
			return nil, c.Reject("bad_length", "%s: expected tokens, got %q", f.key, decode.Text(v, f.key))
		}
	}
	t := newTalk(c)
	switch {
	case text.Type() == decode.TypeString:
		t.add("user", text)
	case len(messages.GetArray()) > 0:
		t.tools(v.Get("tools"))
		t.messages(messages)
	case r.InputTokens == nil:
		return nil, c.Reject("bad_length", "expected input_length, text_input or messages, got an object with none of them")
	}
	t.fill(r)
	return t.body(r), nil
}

// traced starts a row of a published trace: no ids, counts by the server, the front of the service.
func traced(c *decode.Context, format string) *trace.Request {
	r := c.New(format, trace.Gateway)
	r.RequestID = fmt.Sprintf("%s:%d", path.Base(c.File), c.Line)
	r.RootRequestID, r.TokensSource = r.RequestID, "usage"
	r.AddQuality(trace.QIDDerived)
	return r
}

// blocks reads the prefix ids: 64-bit patterns, also above 2^63.
func blocks(c *decode.Context, r *trace.Request, v *decode.Value, block int64) error {
	if v == nil || v.Type() == decode.TypeNull {
		return nil
	}
	list := v.GetArray()
	if r.InputTokens == nil {
		return c.Reject("prefix_mismatch", "expected input_length beside hash_ids, got none")
	}
	if want := (*r.InputTokens + block - 1) / block; int64(len(list)) != want {
		return c.Reject("prefix_mismatch", "expected %d hash_ids for %d tokens in blocks of %d, got %d", want, *r.InputTokens, block, len(list))
	}
	ids := make([]int64, len(list))
	for i, e := range list {
		text := decode.Text(e)
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			var u uint64
			if u, err = strconv.ParseUint(text, 10, 64); err != nil {
				return c.Reject("bad_hash_id", "hash_ids[%d]: expected a 64-bit integer, got %q", i, text)
			}
			n = int64(u)
		}
		ids[i] = n
	}
	r.PrefixHashIDs, r.PrefixBlockTokens = ids, trace.Ptr(int32(block))
	return nil
}
