package public

import (
	"fmt"

	"reprise/ingest/decode"
)

// otherBlocks are the block sizes of engines and tools that write Mooncake's format, beside its own.
var otherBlocks = []int64{16, 32, 64, 128, 256, 1024}

// MooncakeDialects are Mooncake's format with other block sizes, and with prompts that add to those before.
func MooncakeDialects() []decode.Format {
	list := []decode.Format{{Name: "mooncake-delta", Title: "Mooncake trace whose turns hold what they add (JSON lines)", About: aboutDelta,
		Units: "timestamp and delay: whole milliseconds", Defects: "nothing in the file says that lengths are what a turn adds (ai-dynamo/dynamo#9653)", Detect: func(*decode.Sample) int { return 0 },
		Group: func() decode.Group { return decode.Group{JSON: sessions{}.decode} }}}
	for _, b := range otherBlocks {
		list = append(list, decode.Format{Name: fmt.Sprintf("mooncake-%d", b), Title: fmt.Sprintf("Mooncake trace with blocks of %d tokens (JSON lines)", b),
			About: fmt.Sprintf(aboutBlocks, b), Units: "timestamp: whole milliseconds from the start of the trace", Defects: defectsMooncake,
			Example: fmt.Sprintf(`{"timestamp": 0, "input_length": %d, "output_length": 5, "hash_ids": [1, 2]}`, b+1), Detect: detectBlocks(b), JSON: mooncake(b)})
	}
	return list
}

const aboutBlocks = `As mooncake, but each of hash_ids stands for %d tokens. Recognised where the lengths and numbers of ids of the
first rows fit this size and not 512.
`

const aboutDelta = `As mooncake, but input_length is what a turn adds to its session: the prompt is the prompt before, the answer
before, and that. Nothing in a file tells it from the other form, so it is never recognised: name it with -f.

input_tokens   the sum over the session in the order of the file; unknown behind a turn of unknown length.
hash_ids       kept for the first turn of a session; those of later turns do not begin at the begin of the prompt.
turn           number of the row within its session_id. Rows without a session are calls of their own.
`

func detectBlocks(block int64) func(*decode.Sample) int {
	return func(s *decode.Sample) int {
		if fits(s.Records, blockTokens) || !fits(s.Records, block) {
			return 0
		}
		return detectMooncake(s, block)
	}
}

// sessions holds the turns and the length so far of each session.
type sessions map[string]sofar

type sofar struct {
	turns  int32
	tokens *int64 // of prompt and answer; nil when unknown
}

func (s sessions) decode(c *decode.Context, v *decode.Value) error {
	r, body, err := mooncakeRow(c, v, blockTokens)
	if err != nil {
		return err
	}
	if r.SessionID != "" {
		before, later := s[r.SessionID]
		if later {
			r.InputTokens, body = sum(before.tokens, r.InputTokens), nil
			r.PrefixHashIDs, r.PrefixBlockTokens, r.SystemPromptHash, r.SystemPromptTokens = nil, nil, "", nil
		}
		now := sofar{before.turns + 1, sum(r.InputTokens, r.OutputTokens)}
		r.Turn, s[r.SessionID] = &now.turns, now
	}
	c.Emit(r, body)
	return nil
}

// sum adds two counts; unknown when one is.
func sum(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	n := *a + *b
	return &n
}
