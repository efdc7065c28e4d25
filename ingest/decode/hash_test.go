package decode

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// The expected values were computed with Python's hmac, hashlib, xxhash and cryptography from the description alone:
// HMAC-SHA-256(key, kind NUL text), first 16 bytes. Blocks: the seed is the first 8 bytes (little endian) of HMAC-SHA-256(key,
// "prefix" NUL), the key of AES-256 that of "prefix id" NUL; a block's hash is AES(previous hash, 16 zero bytes at first, XOR
// XXH3-128 of 256 bytes of text, big endian); its id is the first 8 bytes as a little-endian int64.
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
	if got := p.Blocks(); !slices.Equal(got, []int64{1626872649594189266, 543530686847782414, -1987818376860668320}) {
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

// A context remembers instructions; the hashes are those of a fresh start.
func TestContextPromptRemembers(t *testing.T) {
	h, rng := NewHasher([]byte("k")), rand.New(rand.NewPCG(3, 4))
	c := NewContext(Options{Hash: h}, "", nil, nil)
	roles := []string{"system", "developer", "tools", "user"}
	texts := [][]byte{nil, []byte("short"), make([]byte, 300), make([]byte, 5000), make([]byte, maxRemembered+1)}
	for range 2000 {
		got, want := c.Prompt(), h.Prompt()
		for range rng.IntN(4) {
			role, text := roles[rng.IntN(len(roles))], texts[rng.IntN(len(texts))]
			got.Add(role, text)
			want.Add(role, text)
		}
		in := int64(100)
		a, b := got.SystemTokens(&in), want.SystemTokens(&in)
		if !slices.Equal(got.Blocks(), want.Blocks()) || got.SystemHash() != want.SystemHash() || (a == nil) != (b == nil) || a != nil && *a != *b {
			t.Fatalf("got %v %s, want %v %s", got.Blocks(), got.SystemHash(), want.Blocks(), want.SystemHash())
		}
	}
	for i := range 2 * maxMemory / 1000 { // instructions that never come again are forgotten
		c.Prompt().Add("system", fmt.Appendf(make([]byte, 1000), "%d", i))
	}
	if len(c.memory.known) > maxMemory/1000 {
		t.Errorf("%d texts of 1000 bytes are remembered", len(c.memory.known))
	}
	if c.User("eu-1") != h.Text("user", "eu-1") || c.Key("sk-1") != h.Text("key", "sk-1") || c.User("") != "" {
		t.Error("a context makes the hashes of its hasher")
	}
}

// Roles and texts may be views of a record that is gone when the next prompt begins.
func TestRememberedRole(t *testing.T) {
	record := []byte("system: be brief")
	role := unsafe.String(&record[0], len("system"))
	c := NewContext(Options{Hash: NewHasher([]byte("a key of the tests"))}, "", nil, nil)
	c.Prompt().Add(role, record[8:])
	copy(record, "user!!! what is?")
	if known := c.memory.known["be brief"]; known == nil || known.role != "system" {
		t.Errorf("remembered %+v", known)
	}
}

// What a prompt begins with as it is written in the log gives what the text gives, and only for the same role, first.
func TestBeginsAsWritten(t *testing.T) {
	h := NewHasher(make([]byte, 16))
	shape := func(p *Prompt) string {
		return fmt.Sprint(p.SystemHash(), *p.SystemTokens(new(int64(1000))), p.Blocks())
	}
	c := NewContext(Options{Hash: h}, "", nil, nil)
	for round := range 3 {
		for _, text := range []string{"You are\n\"kind\".", strings.Repeat("Answer in verse. ", 40), "\u00e9"} {
			raw := []byte(strconv.Quote(text))
			for _, role := range []string{"system", "user"} {
				p, want := c.Prompt(), h.Prompt()
				if began := p.Begins(role, raw); began != (round > 0 && role == "system") {
					t.Fatalf("%s %.20q, time %d: begins %v", role, text, round, began)
				} else if !began {
					p.Add(role, []byte(text))
					p.Remember(raw)
				}
				want.Add(role, []byte(text))
				if p.Begins("system", raw) {
					t.Error("a second message begins the prompt")
				}
				for _, q := range []*Prompt{p, want} {
					q.Add("user", []byte("why?"))
					q.Add("developer", []byte("be brief"))
				}
				if got, want := shape(p), shape(want); got != want {
					t.Errorf("%s %.20q, time %d: %s, want %s", role, text, round, got, want)
				}
			}
		}
	}
}
