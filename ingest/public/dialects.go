package public

import "reprise/ingest/decode"

// otherBlocks are the block sizes of engines and tools that write Mooncake's format, beside its own.
var otherBlocks = []int64{16, 32, 64, 128, 256, 1024}

// MooncakeBlocks is Mooncake's format with other block sizes.
func MooncakeBlocks() decode.Format {
	return decode.Format{Name: "mooncake-blocks", Title: "Mooncake trace with blocks of 16 to 1024 tokens (JSON lines)", About: aboutBlocks,
		Units: "timestamp: whole milliseconds from the start of the trace", Defects: defectsMooncake,
		Example: `{"timestamp": 0, "input_length": 20, "output_length": 5, "hash_ids": [1, 2]}`, Detect: detectBlocks,
		Group: func() decode.Group { return decode.Group{JSON: (&blockSize{seen: map[int64]int{}}).decode} }}
}

const aboutBlocks = `As mooncake, but each of hash_ids stands for 16, 32, 64, 128, 256 or 1024 tokens. Recognised where lengths and numbers of
ids of the first rows fit one of these and not 512. The first two rows of several blocks that agree on the size set it;
rows that do not fit are refused (prefix_mismatch). A row of one block says nothing of the size: the smallest is taken.
`

// MooncakeDelta is Mooncake's format with prompts that add to those before.
func MooncakeDelta() decode.Format {
	return decode.Format{Name: "mooncake-delta", Title: "Mooncake trace whose turns hold what they add (JSON lines)", About: aboutDelta,
		Units: "timestamp and delay: whole milliseconds", Defects: "nothing in the file says that lengths are what a turn adds (ai-dynamo/dynamo#9653)",
		Detect: func(*decode.Sample) int { return 0 },
		Group:  func() decode.Group { return decode.Group{JSON: sessions{}.decode} }}
}

const aboutDelta = `As mooncake, but input_length is what a turn adds to its session: the prompt is the prompt before, the answer
before, and that. Nothing in a file tells it from the other form, so it is never recognised: name it with -f.

input_tokens   the sum over the session in the order of the file; unknown behind a turn of unknown length.
hash_ids       kept for the first turn of a session; those of later turns do not begin at the begin of the prompt.
turn           number of the row within its session_id. Rows without a session are calls of their own.
`

func detectBlocks(s *decode.Sample) int {
	for _, b := range otherBlocks {
		if fits(s.Records, b) && !fits(s.Records, blockTokens) {
			return detectMooncake(s, b)
		}
	}
	return 0
}

// blockSize counts the rows of each size until two agree.
type blockSize struct {
	seen map[int64]int
	set  int64
}

func (b *blockSize) decode(c *decode.Context, v *decode.Value) error {
	size := b.set
	for i := 0; size == 0 && i < len(otherBlocks); i++ {
		if fits([]*decode.Value{v}, otherBlocks[i]) {
			size = otherBlocks[i]
		}
	}
	if size == 0 {
		size = blockTokens // for the refusal
	}
	err := mooncake(size)(c, v)
	if err == nil && b.set == 0 && len(v.GetArray("hash_ids")) > 1 {
		if b.seen[size]++; b.seen[size] == 2 {
			b.set = size
		}
	}
	return err
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
