package replay

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

// Without block hashes the system prompt is shared; without both nothing is.
func TestSystemPromptIsShared(t *testing.T) {
	var rows []trace.Request
	for i := range int64(4) {
		r := row(fmt.Sprint("r", i), i, 60, 4)
		r.SystemPromptHash, r.SystemPromptTokens = "h", trace.Ptr(40+i) // estimates differ: the first decides
		rows = append(rows, r)
	}
	rows = append(rows, row("x", 9, 60, 4), row("y", 10, 60, 4))
	p := mustPlan(t, PlanOptions{}, rows...)
	m := newPrompter(Calibration{}, "")
	var list []prompt
	for i := range p.Items {
		list = append(list, m.make(&p.Items[i]))
	}
	for i := range 4 {
		if n := len(strings.Fields(string(list[i].system))); n != 40 || string(list[i].system) != string(list[0].system) || i > 0 && string(list[i].user) == string(list[0].user) {
			t.Errorf("prompt %d: %d system words", i, n)
		}
	}
	if len(list[4].system) > 0 || len(list[5].system) > 0 || strings.Fields(string(list[4].user))[0] == strings.Fields(string(list[5].user))[0] {
		t.Error("prompts of unknown shape must share nothing")
	}
	if want := 3 * 40.0 / 360; *p.Summary.PrefixShare != want {
		t.Errorf("share %v, want %v", *p.Summary.PrefixShare, want)
	}
}

func TestModelsDoNotShare(t *testing.T) {
	a, b := shaped("a", 1, 32, 16, 1, 2), shaped("b", 2, 32, 16, 1, 2)
	b.ModelRequested = "other"
	p := mustPlan(t, PlanOptions{}, a, b)
	if list := prompts(p, ""); list[0][0] == list[1][0] && list[0][1] == list[1][1] || p.Items[1].IdealHit != 0 {
		t.Error("prompts to two recorded models must not share")
	}
}

// The same plan gives the same prompts, and a salt changes the beginning and nothing else: no length, no sharing.
func TestRPL23Salt(t *testing.T) {
	p := mustPlan(t, PlanOptions{}, tree(30, 16, rand.New(rand.NewPCG(3, 3)))...)
	plain, again, salted, other := prompts(p, ""), prompts(p, ""), prompts(p, "tuesday"), prompts(p, "friday")
	if !cmp.Equal(plain, again) {
		t.Fatal("the same plan gives other prompts")
	}
	for i := range plain {
		n := min(saltWords, len(plain[i]))
		if cmp.Equal(plain[i][:n], salted[i][:n]) || cmp.Equal(salted[i][:n], other[i][:n]) {
			t.Errorf("prompt %d begins alike with another salt", i)
		}
		if len(plain[i]) != len(salted[i]) || !cmp.Equal(plain[i][n:], salted[i][n:]) {
			t.Errorf("prompt %d: the salt changes more than the first %d words", i, saltWords)
		}
	}
}

// Words of this list must not change: a plan would give other prompts than before.
func TestWordList(t *testing.T) {
	words := strings.Fields(wordList)
	seen := map[string]bool{}
	for _, w := range words {
		seen[w] = true
		if strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("%q needs care in JSON or tokenizers", w)
		}
	}
	h := fnv.New64a()
	h.Write([]byte(strings.Join(words, " ")))
	if len(words) != 1024 || len(seen) != 1024 || h.Sum64() != wordListHash {
		t.Errorf("%d words, %d different, hash %#x", len(words), len(seen), h.Sum64())
	}
}

const wordListHash = 0xbc1d6e32934731bf

// SplitMix64 against the reference sequence of its seed 1234567 (Vigna's splitmix64.c).
func TestWordDraw(t *testing.T) {
	rng := wordRNG{state: 1234567}
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		for k := range 6 {
			if got := rng.next(); got != int(want>>(10*k)&1023) {
				t.Fatalf("draw %d of %d: %d", k, want, got)
			}
		}
	}
}

func TestCalibration(t *testing.T) {
	c := Calibration{TokensPerWord: 1.25, User: 10, System: 16}
	if w := c.words(1010, "chat", false); w != 800 {
		t.Errorf("%d words for 1010 tokens, want 800", w)
	}
	if w := c.words(1016, "chat", true); w != 800 {
		t.Errorf("%d words for 1016 tokens with a system prompt, want 800", w)
	}
	if w := c.words(3, "chat", false); w != 1 {
		t.Errorf("%d words, want 1 at least", w)
	}
}
