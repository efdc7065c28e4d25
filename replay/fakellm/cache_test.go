package fakellm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPrefixCache sends prompts one after the other and compares how many of their tokens were cached. A letter is a
// block of 4 words of its own; a small letter is a single word.
func TestPrefixCache(t *testing.T) {
	for _, c := range []struct {
		name    string
		blocks  int
		prompts string // in order
		cached  string // tokens found for each
	}{
		{"off", 0, "AB AB", "0 0"},
		// The second AB may hit both blocks, but its last token is always computed: (8-1)/4 = 1 block.
		{"the last token is computed", -1, "AB AB ABx ABCD", "0 4 8 8"},
		// Word x before A makes other blocks of everything behind it. BA begins with no cached prefix.
		{"only the same beginning hits", -1, "AB xAB BA Bx", "0 0 0 4"},
		// Less than a block is never kept.
		{"only full blocks", -1, "xyz xyz", "0 0"},
		// Room for 3. ABx keeps A AB. Cx keeps C: full. Dx evicts the oldest, which is AB, the tail: A stays.
		{"a tail goes before its head", 3, "ABx Cx Dx ABx", "0 0 0 4"},
		// Room for 2. Ax, Bx; Ax is used again, so Cx evicts B.
		{"the least recently used goes", 2, "Ax Bx Ax Cx Ax Bx", "0 0 4 0 4 0"},
		// Room for 1, a prompt of 3 blocks: its head remains.
		{"a prompt larger than the cache", 1, "ABCx ABCx", "0 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var arrivals []Arrival
			for i, p := range strings.Fields(c.prompts) {
				arrivals = append(arrivals, Arrival{ID: p, At: time.Duration(i) * time.Second, Prompt: blockWords(p), Output: 1})
			}
			got, err := Simulate(with(costly(1), func(cfg *Config) { cfg.CacheBlocks = c.blocks }), arrivals)
			if err != nil {
				t.Fatal(err)
			}
			var cached []string
			for i, r := range got.Requests {
				cached = append(cached, fmt.Sprint(r.CachedTokens))
				// 5 ms for the step and 1 ms for each token that is not cached.
				if took, want := *r.FirstTokenUS-r.ArrivalUS, 5000+1000*int64(r.PromptTokens-r.CachedTokens); took != want {
					t.Errorf("prompt %d: first token after %d us, want %d", i, took, want)
				}
			}
			if diff := cmp.Diff(c.cached, strings.Join(cached, " ")); diff != "" {
				t.Errorf("cached tokens (-want +got):\n%s", diff)
			}
		})
	}
}

func blockWords(prompt string) (s string) {
	for _, b := range prompt {
		if b >= 'a' {
			s += string(b) + " "
		} else {
			s += text(string(b), 4)
		}
	}
	return s
}

// Two equal prompts in one step both compute; blocks enter at its end. In chunks of 8 the second meets the first's blocks
// when it is admitted a step later.
func TestPrefixCacheWithinStep(t *testing.T) {
	twins := []Arrival{{ID: "1", Prompt: blockWords("ABx"), Output: 1}, {ID: "2", Prompt: blockWords("ABx"), Output: 1}}
	cfg := with(costly(2), func(c *Config) { c.CacheBlocks = -1 })
	schedule{
		cfg: cfg, arrivals: twins,
		steps:    []string{"0-23 0/2+0 1:9 2:9"},
		requests: []string{"1 length queued=0 23", "2 length queued=0 23"},
	}.check(t)
	cfg.PrefillChunk = 8
	schedule{
		// 5+8; then the last token of 1 and, of 2, all but the 8 found: 5+1+1.
		cfg: cfg, arrivals: twins,
		steps:    []string{"0-13 0/1+1 1:8", "13-20 0/2+0 1:1 2:1"},
		requests: []string{"1 length queued=0 20", "2 length queued=13 cached=8 20"},
	}.check(t)
}
