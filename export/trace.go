package export

// Call is one logical request of a trace. Its names are hashed.
type Call struct {
	ID           string
	Model        string // keeps the blocks of models apart: their caches were
	AtUS         int64  // microseconds from the first call
	InputTokens  int64  // at least 1
	OutputTokens int64  // at least 1
	Stream       bool
	Blocks       []int64 // chained ids of the prompt's blocks; nil when unknown
	BlockTokens  []int32 // tokens of each, the same wherever an id stands; their sum is InputTokens
	System, User string  // a prompt of made-up words that shares what the blocks share; for Evalscope alone
}

// Trace is the calls with their prompts in blocks of one size.
type Trace struct {
	calls []Call
	ids   [][]int64 // of each call: ceil(InputTokens/size) of them; nil when unknown
	size  int64
	next  int64 // the first id not taken
}

// NewTrace cuts the prompts of calls, which are in order of time, into blocks of size tokens.
//
// A block's id stands for all text up to its end, as in the run. The run's blocks end elsewhere, so a new block takes the
// identity of the first old block that ends at its own end or behind: prompts share it if they share at least that much.
// What they share beyond their last common whole block is lost, nothing is added. Ids are numbers in order of first
// appearance, which says nothing about the text. A partial last block has an id of its own for each length and text.
func NewTrace(calls []Call, size int64) *Trace {
	t := &Trace{calls: calls, size: size, ids: make([][]int64, len(calls))}
	known := map[blockKey]int64{}
	for i := range calls {
		if len(calls[i].Blocks) > 0 {
			t.ids[i] = t.cut(&calls[i], known)
		}
	}
	return t
}

// blockKey is the identity of a new block.
type blockKey struct {
	model string
	id    int64 // old block
	end   int64 // tokens of the prompt up to the new block's end: several may end in one old block
}

func (t *Trace) cut(c *Call, known map[blockKey]int64) []int64 {
	ids := make([]int64, (c.InputTokens+t.size-1)/t.size)
	at, end, last := 0, int64(c.BlockTokens[0]), len(c.Blocks)-1
	for j := range ids {
		want := min(int64(j+1)*t.size, c.InputTokens)
		for end < want && at < last {
			at++
			end += int64(c.BlockTokens[at])
		}
		if want == c.InputTokens {
			at = last // all of the text, also where the last blocks had no tokens left
		}
		key := blockKey{c.Model, c.Blocks[at], want}
		id, ok := known[key]
		if !ok {
			id = t.next
			t.next++
			known[key] = id
		}
		ids[j] = id
	}
	return ids
}

// Blocks gives the ids of each call; nil where the prompt's shape is unknown.
func (t *Trace) Blocks() [][]int64 { return t.ids }

// SharedTokens is what an endless prefix cache would hold of the prompts in blocks of this size, in order of the calls:
// leading full blocks seen before, at most all but the last token of a prompt (metrics.md 5.2).
func (t *Trace) SharedTokens() (shared int64) {
	seen := make([]bool, t.next)
	for i, ids := range t.ids {
		leading := true
		for j, id := range ids {
			end := int64(j+1) * t.size
			if leading = leading && seen[id] && end < t.calls[i].InputTokens; leading {
				shared += t.size
			}
			seen[id] = true
		}
	}
	return shared
}
