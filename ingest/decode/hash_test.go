package decode

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The expected values were computed with Python's hmac, hashlib and struct from the description alone:
// HMAC-SHA-256(key, kind NUL text), first 16 bytes; blocks: sha256(previous hash or key, 256 bytes of text), first 8
// bytes as a little-endian int64.
func TestHasher(t *testing.T) {
	h := NewHasher([]byte("0123456789abcdef"))
	if got := h.Text("key", "abc"); got != "6fa62bd7b09cce85bede90dd4835b8ca" {
		t.Errorf("Text = %s", got)
	}
	if h.Text("user", "abc") == h.Text("key", "abc") || h.Text("key", "") != "" {
		t.Error("roles must be kept apart, nothing has no hash")
	}
	p := h.Prompt()
	p.Add("system", []byte("You are brief."))
	p.Add("user", []byte(strings.Repeat("x", 500)))
	if got := p.SystemHash(); got != "48951f018da2907f0b2baa72a4121743" {
		t.Errorf("SystemHash = %s", got)
	}
	if got := p.Blocks(); !slices.Equal(got, []int64{-3023396860715135525, 8012591311108663321, 5721600887185686607}) {
		t.Errorf("Blocks = %v", got)
	}
	in := int64(1000)
	if got := p.SystemTokens(&in); *got != 40 { // 6+1+14 = 21 of 22 + 4+1+500+1 = 528 bytes: 39.8
		t.Errorf("SystemTokens = %d, want 40", *got)
	}
	if p.SystemTokens(nil) != nil || h.Prompt().SystemTokens(&in) != nil || h.Prompt().Blocks() != nil || h.Prompt().SystemHash() != "" {
		t.Error("nothing is known of an empty prompt or unknown input")
	}
}

// Two prompts share exactly the blocks before the first difference, whatever the lengths of the messages.
func TestBlocksArePrefixes(t *testing.T) {
	h, rng := NewHasher([]byte("k")), rand.New(rand.NewPCG(1, 2))
	for range 200 {
		common, tail := make([]byte, rng.IntN(1500)), 1+rng.IntN(600)
		a, b := h.Prompt(), h.Prompt()
		for _, p := range []*Prompt{a, b} {
			p.Add("user", common[:len(common)/2])
			p.Add("user", common[len(common)/2:])
		}
		a.Add("user", []byte(strings.Repeat("a", tail)))
		b.Add("user", []byte(strings.Repeat("b", tail)))
		// Each message has its role, a NUL and an end mark around it; the third differs after "user" NUL.
		shared := (len(common) + 2*(4+2) + 5) / BlockBytes
		x, y := a.Blocks(), b.Blocks()
		if want := (len(common) + 3*(4+2) + tail + BlockBytes - 1) / BlockBytes; len(x) != want || len(y) != want {
			t.Fatalf("%d and %d blocks, want %d", len(x), len(y), want)
		}
		for i := range x {
			if (x[i] == y[i]) != (i < shared) {
				t.Fatalf("block %d of %d equal: %v; %d are shared", i, len(x), x[i] == y[i], shared)
			}
		}
	}
}

// Asking early must not change what comes later.
func TestBlocksTwice(t *testing.T) {
	a, b := NewHasher([]byte("k")).Prompt(), NewHasher([]byte("k")).Prompt()
	a.Add("user", []byte("one"))
	a.Blocks()
	a.Add("user", make([]byte, 700))
	b.Add("user", []byte("one"))
	b.Add("user", make([]byte, 700))
	if !slices.Equal(a.Blocks(), b.Blocks()) || !slices.Equal(a.Blocks(), a.Blocks()) {
		t.Error("Blocks must be repeatable")
	}
}
