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
		Detect:  detectMooncake, JSON: mooncake}
}

const defectsMooncake = `the conversation trace is on a grid of 3 s, and block 0 is in every row; other tools write ids above 2^32, leave
timestamp out or write delays (ai-dynamo/aiperf#273)`

const aboutMooncake = `One JSON object a line: timestamp, input_length, output_length, hash_ids.
Can contain: arrivals (whole milliseconds from the start of the trace: a relative clock), lengths in tokens, prefix
blocks. Cannot: when anything was answered, outcomes, models, tenants: nothing to say about latency.

timestamp      may be absent in files of other tools: arrival unknown then. The published conversation trace is on a
               grid of 3 s, so about ten requests share each instant: replaying it as it is means a burst every 3 s.
hash_ids       one id a block of 512 tokens; equal ids mean an equal prefix up to that block. A row whose number of
               ids is not input_length/512, rounded up, is refused (prefix_mismatch): it is of another block size.
session_id     kept when there. text_input and delay, which some tools add, are not used.
error_class    unknown: the trace does not say. request_id is FILE:LINE.
`

// blockTokens is the block size of the published traces: their number of ids is the rounded-up quotient in every row.
const blockTokens = 512

// detectMooncake wants integer times, which tells it from Qwen-Bailian's seconds, as the chat ids do.
func detectMooncake(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		if decode.Has(v, "chat_id") || decode.Has(v, "timestamp") && decode.Int(v, "timestamp") == nil {
			return 0
		}
		n := 0
		for _, key := range []string{"timestamp", "input_length", "output_length", "hash_ids"} {
			if decode.Has(v, key) {
				n++
			}
		}
		best = max(best, n)
	}
	return best
}

func mooncake(c *decode.Context, v *decode.Value) error {
	r := traced(c, "mooncake")
	r.ClockDomain, r.TimePrecision = trace.Relative, 1000
	if decode.Has(v, "timestamp") {
		ms := decode.Int(v, "timestamp")
		if ms == nil || *ms < 0 || *ms > 1<<50 {
			return c.Reject("bad_time", "timestamp: expected whole milliseconds from 0, got %q", decode.Text(v, "timestamp"))
		}
		r.Arrival = trace.Ptr(*ms * 1000)
	}
	r.InputTokens, r.OutputTokens = decode.Int(v, "input_length"), decode.Int(v, "output_length")
	if r.InputTokens == nil || r.OutputTokens == nil || *r.InputTokens < 0 || *r.OutputTokens < 0 {
		return c.Reject("bad_length", "expected input_length and output_length in tokens, got %q and %q",
			decode.Text(v, "input_length"), decode.Text(v, "output_length"))
	}
	r.SessionID = decode.Text(v, "session_id")
	if err := blocks(c, r, v.Get("hash_ids")); err != nil {
		return err
	}
	c.Emit(r, nil)
	return nil
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
func blocks(c *decode.Context, r *trace.Request, v *decode.Value) error {
	if v == nil || v.Type() == decode.TypeNull {
		return nil
	}
	list := v.GetArray()
	if want := (*r.InputTokens + blockTokens - 1) / blockTokens; int64(len(list)) != want {
		return c.Reject("prefix_mismatch", "expected %d hash_ids for %d tokens in blocks of %d, got %d", want, *r.InputTokens, blockTokens, len(list))
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
	r.PrefixHashIDs, r.PrefixBlockTokens = ids, trace.Ptr(int32(blockTokens))
	return nil
}
