package export

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// text is a prompt whose tokens are letters.
type text string

// call cuts the text into chained blocks of old tokens, as a run holds them.
func (x text) call(old int) Call {
	c := Call{ID: "i", Model: "m", InputTokens: int64(len(x)), OutputTokens: 1}
	for at := 0; at < len(x); at += old {
		end := min(at+old, len(x))
		h := fnv.New64a()
		h.Write([]byte(x[:end]))
		c.Blocks, c.BlockTokens = append(c.Blocks, int64(h.Sum64())), append(c.BlockTokens, int32(end-at))
	}
	return c
}

// texts grow from each other, so that they share beginnings of all lengths.
func texts(rng *rand.Rand) []text {
	list := []text{text(strings.Repeat("s", 1+rng.IntN(200)))}
	for range 30 {
		from := list[rng.IntN(len(list))]
		x := []byte(from[:1+rng.IntN(len(from))])
		for range rng.IntN(120) {
			x = append(x, byte('a'+rng.IntN(3)))
		}
		list = append(list, text(x))
	}
	return list
}

func common(a, b text) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Whatever the sizes: equal ids only where the texts are equal to the block's end; and where the texts are equal to the
// next end of an old block, equal ids.
func TestSharingIsNeitherInventedNorLost(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		list, old, size := texts(rng), 1+rng.IntN(70), 1+rng.IntN(70)
		var calls []Call
		for _, x := range list {
			calls = append(calls, x.call(old))
		}
		ids := NewTrace(calls, int64(size)).Blocks()
		for i, a := range list {
			if want := (len(a) + size - 1) / size; len(ids[i]) != want {
				t.Fatalf("%d ids for %d tokens in blocks of %d, want %d", len(ids[i]), len(a), size, want)
			}
			for k, b := range list {
				checkPair(t, pair{a, b, ids[i], ids[k], old, size})
			}
		}
	}
}

type pair struct {
	a, b       text
	ids, other []int64
	old, size  int
}

func checkPair(t *testing.T, p pair) {
	t.Helper()
	share := common(p.a, p.b)
	for j := range min(len(p.ids), len(p.other)) {
		end := min((j+1)*p.size, len(p.a))
		same := p.ids[j] == p.other[j]
		if same && (share < end || min((j+1)*p.size, len(p.b)) != end) {
			t.Fatalf("block %d of %d tokens is shared, the texts only to %d\n%s\n%s", j, p.size, share, p.a, p.b)
		}
		need := (end + p.old - 1) / p.old * p.old
		if end == len(p.a) || end == len(p.b) { // a last block stands for the whole text
			need = max(len(p.a), len(p.b))
		}
		if !same && share >= need {
			t.Fatalf("block %d of %d tokens is not shared, the texts are to %d\n%s\n%s", j, p.size, share, p.a, p.b)
		}
	}
	for j, id := range p.ids { // an id stands at one place only
		if at := slices.Index(p.other, id); at >= 0 && at != j {
			t.Fatalf("id %d is block %d and block %d", id, j, at)
		}
	}
}

// Blocks of the run's own size keep what the run says, as in the published Mooncake trace.
func TestSameSizeKeepsSharing(t *testing.T) {
	a := Call{InputTokens: 1300, Blocks: []int64{46, 47, 48}, BlockTokens: []int32{512, 512, 276}}
	b := Call{InputTokens: 1024, Blocks: []int64{46, 47}, BlockTokens: []int32{512, 512}}
	other := b
	other.Model = "another"
	tr := NewTrace([]Call{a, b, a, other, {InputTokens: 9}}, 512)
	want := [][]int64{{0, 1, 2}, {0, 1}, {0, 1, 2}, {3, 4}, nil}
	if d := cmp.Diff(want, tr.Blocks()); d != "" {
		t.Error(d)
	}
	// b has its first block from a, the second would leave no token to compute; a again two full blocks.
	if got := tr.SharedTokens(); got != 512+2*512 {
		t.Errorf("shared %d, want %d", got, 3*512)
	}
}

func TestWrite(t *testing.T) {
	calls := []Call{
		{ID: "id-1", Model: "model-1", InputTokens: 5, OutputTokens: 3, Stream: true, Blocks: []int64{-7, 8}, BlockTokens: []int32{4, 1}, System: "a b", User: "c d e"},
		{ID: "id-2", Model: "model-1", AtUS: 61_000_499, InputTokens: 9, OutputTokens: 1, User: `q"`},
	}
	tr := NewTrace(calls, 4)
	for name, c := range map[string]struct {
		write func(*strings.Builder) error
		want  string
	}{
		"mooncake": {func(b *strings.Builder) error { return tr.Mooncake(b) }, `{"timestamp": 0, "input_length": 5, "output_length": 3, "hash_ids": [0, 1]}
{"timestamp": 61000, "input_length": 9, "output_length": 1}
`},
		"guidellm": {func(b *strings.Builder) error { return tr.GuideLLM(b) }, `{"timestamp": 0.000000, "input_length": 5, "output_length": 3, "hash_ids": [0, 1]}
{"timestamp": 61.000499, "input_length": 9, "output_length": 1, "hash_ids": [2, 3, 4]}
`},
		"evalscope": {func(b *strings.Builder) error { return tr.Evalscope(b) }, `{"timestamp": 0.000000, "request_id": "id-1", "completion_tokens": 3, "body": {"model":"model-1","messages":[{"role":"system","content":"a b"},{"role":"user","content":"c d e"}],"max_tokens":3,"stream":true,"stream_options":{"include_usage":true}}}
{"timestamp": 61.000499, "request_id": "id-2", "completion_tokens": 1, "body": {"model":"model-1","messages":[{"role":"user","content":"q\""}],"max_tokens":1,"stream":false}}
`},
	} {
		for range 2 { // twice the same
			var b strings.Builder
			if err := c.write(&b); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, b.String()); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
	}
}

func TestFindRare(t *testing.T) {
	ids := [][]int64{
		{1, 2, 3},    // 1 is in three, 2 and 3 in two
		{1, 2, 3, 4}, // 4 is its own
		{1, 5},
		{6, 7}, // with the next
		{6, 8},
		{9}, // alone
		nil, // unknown
	}
	rare, alone := FindRare(ids, 3)
	want := []Rare{{Line: 1, Blocks: 3, Requests: 2}, {Line: 4, Blocks: 1, Requests: 2}}
	if d := cmp.Diff(want, rare); d != "" || alone != 1 {
		t.Errorf("alone %d, want 1; %s", alone, d)
	}
	if rare, _ := FindRare(ids, 2); rare != nil {
		t.Errorf("got %v, nothing is shared by fewer than two", rare)
	}
}
