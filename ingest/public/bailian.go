package public

import (
	"strconv"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// Bailian is the Qwen-Bailian usage trace of Alibaba Cloud (to C, to B, coder, thinking).
func Bailian() decode.Format {
	return decode.Format{Name: "qwen-bailian", Title: "Qwen-Bailian usage trace (JSON lines)", About: aboutBailian,
		Units: "timestamp: seconds from the start of the trace, with a fraction", Defects: "a sample: parents of some chats are not in the file",
		Example: `{"chat_id": 159, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 21, "output_length": 132, "type": "text", "turn": 1, "hash_ids": [1089, 1090]}`,
		Detect:  detectBailian,
		Group:   func() decode.Group { return decode.Group{JSON: chains{}.decode} }}
}

const aboutBailian = `One JSON object a line: chat_id, parent_chat_id, timestamp, input_length, output_length, type, turn, hash_ids
(https://github.com/alibaba-edu/qwen-bailian-usagetraces-anon).
Can contain: arrivals, lengths in tokens, prefix blocks, which call follows which. Cannot: when anything was answered,
outcomes, models, tenants.

timestamp      seconds from the start of the trace, with a fraction: a relative clock, milliseconds.
hash_ids       one id a block of 16 tokens. A row whose number of ids is not input_length/16, rounded up, is refused
               (prefix_mismatch). Prefixes need not grow from turn to turn: thinking is dropped from the next prompt and
               the last block of a prompt changes when it is filled up.
session_id     FILE:chat_id of the first call of the chain. Where the file does not hold the first call (parent_missing),
               the missing parent stands for it: chains that fork before it count as two sessions.
turn, route    turn and type (text, search, image, file, thinking, coder) as written.
error_class    unknown: the trace does not say. request_id is FILE:LINE.
`

const bailianBlock = 16

func detectBailian(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		if keyed(v, "chat_id", "parent_chat_id") == 2 {
			best = max(best, 2+keyed(v, "turn", "hash_ids", "input_length"))
		}
	}
	return best
}

// chains knows the session of each chat seen so far.
type chains map[int64]string

func (s chains) decode(c *decode.Context, v *decode.Value) error {
	r := traced(c, "qwen-bailian")
	us, err := decode.Micros(decode.Text(v, "timestamp"), time.Second)
	if err != nil || us < 0 {
		return c.Reject("bad_time", "timestamp: expected seconds from 0, got %q", decode.Text(v, "timestamp"))
	}
	r.Arrival, r.ClockDomain, r.TimePrecision = &us, trace.Relative, 1000
	if err := lengths(c, r, v); err != nil {
		return err
	}
	if err := blocks(c, r, v.Get("hash_ids"), bailianBlock); err != nil {
		return err
	}
	chat, parent := decode.Int(v, "chat_id"), decode.Int(v, "parent_chat_id")
	if chat == nil || *chat < 0 || parent == nil {
		return c.Reject("bad_chat", "expected chat_id and parent_chat_id, got %q and %q", decode.Text(v, "chat_id"), decode.Text(v, "parent_chat_id"))
	}
	if r.SessionID = s[*parent]; r.SessionID == "" {
		first := *chat
		if *parent >= 0 {
			first = *parent
			r.AddQuality(trace.QParentMissing)
		}
		r.SessionID = c.File + ":" + strconv.FormatInt(first, 10)
		s[first] = r.SessionID
	}
	s[*chat] = r.SessionID
	if n := decode.Int(v, "turn"); n != nil && *n > 0 && *n < 1<<31 {
		r.Turn = trace.Ptr(int32(*n))
	}
	r.Route = decode.Text(v, "type")
	c.Emit(r, nil)
	return nil
}

// lengths reads input_length and output_length.
func lengths(c *decode.Context, r *trace.Request, v *decode.Value) error {
	r.InputTokens, r.OutputTokens = decode.Int(v, "input_length"), decode.Int(v, "output_length")
	if r.InputTokens == nil || r.OutputTokens == nil || *r.InputTokens < 0 || *r.OutputTokens < 0 {
		return c.Reject("bad_length", "expected input_length and output_length in tokens, got %q and %q",
			decode.Text(v, "input_length"), decode.Text(v, "output_length"))
	}
	return nil
}
