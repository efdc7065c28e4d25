package replay

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
	"reprise/replay/fakellm"
)

// shaped is a row with prefix blocks of size tokens.
func shaped(id string, at, in int64, size int32, ids ...int64) trace.Request {
	r := row(id, at, in, 4)
	r.PrefixHashIDs, r.PrefixBlockTokens = ids, &size
	return r
}

// metrics.md EX-5.3.
func TestIdealHits(t *testing.T) {
	p := mustPlan(t, PlanOptions{}, shaped("r1", 1, 1300, 512, 1, 2, 3), shaped("r2", 2, 1600, 512, 1, 2, 4, 5), shaped("r3", 3, 1600, 512, 1, 2, 4, 6),
		shaped("r4", 4, 600, 512, 7, 8), shaped("r5", 5, 1300, 512, 1, 2, 3), shaped("r6", 6, 1024, 512, 1, 2))
	var hits []int64
	for _, it := range p.Items {
		hits = append(hits, it.IdealHit)
	}
	if d := cmp.Diff([]int64{0, 1024, 1536, 0, 1024, 512}, hits); d != "" {
		t.Error(d)
	}
	if got := *p.Summary.PrefixShare; got < .551723 || got > .551725 {
		t.Errorf("share %f, want 0.551724", got)
	}
}

// text returns the words of a prompt.
func text(p prompt) []string {
	return append(strings.Fields(string(p.system)), strings.Fields(string(p.user))...)
}

// wordHits is the oracle: leading blocks of size words that stood in an earlier prompt, at most all but the last word.
func wordHits(prompts [][]string, size int) (hits []int64) {
	seen := map[string]bool{}
	for _, words := range prompts {
		hit, leading := 0, true
		for end := size; end <= len(words); end += size {
			key := strings.Join(words[:end], " ")
			if leading = leading && seen[key] && end < len(words); leading {
				hit = end
			}
			seen[key] = true
		}
		hits = append(hits, int64(hit))
	}
	return hits
}

// tree makes rows whose prompts share prefixes at random, as sessions over a few system prompts do.
func tree(n int, size int32, rng *rand.Rand) (rows []trace.Request) {
	next := int64(100)
	paths := [][]int64{{1}, {2}, {3, 4}}
	for i := range n {
		path := append([]int64(nil), paths[rng.IntN(len(paths))]...)
		path = path[:1+rng.IntN(len(path))]
		for range rng.IntN(4) {
			next++
			path = append(path, next)
		}
		full := int64(len(path)) * int64(size)
		paths = append(paths, path)
		rest := rng.Int64N(int64(size))
		if rest > 0 {
			next++
			path = append(append([]int64(nil), path...), next)
		}
		r := shaped(fmt.Sprintf("r%03d", i), int64(i), full+rest, size, path...)
		if i%2 == 0 { // chained ids: one first block, one system prompt
			r.SystemPromptHash, r.SystemPromptTokens = fmt.Sprint("sys", path[0]), trace.Ptr(5+rng.Int64N(9))
		}
		rows = append(rows, r)
	}
	return rows
}

func prompts(p *Plan, salt string) (list [][]string) {
	m := newPrompter(Calibration{}, salt)
	for i := range p.Items {
		list = append(list, text(m.make(&p.Items[i])))
	}
	return list
}

// The recorded sharing comes back in the words, block for block, and the meter of the fidelity check sees the same.
func TestRPL24SharingIsKept(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		size := []int32{8, 16, 64}[seed%3]
		p := mustPlan(t, PlanOptions{}, tree(60, size, rng)...)
		list := prompts(p, []string{"", "tuesday"}[seed%2])
		hits := wordHits(list, int(size))
		meter := newShareMeter(Calibration{})
		maker := newPrompter(Calibration{}, []string{"", "tuesday"}[seed%2])
		for i, it := range p.Items {
			if int64(len(list[i])) != it.InputTokens {
				t.Fatalf("seed %d %s: %d words, want %d", seed, it.RequestID, len(list[i]), it.InputTokens)
			}
			if hits[i] != it.IdealHit {
				t.Fatalf("seed %d %s: the text shares %d words, recorded %d tokens", seed, it.RequestID, hits[i], it.IdealHit)
			}
			if words, hit := meter.add(&p.Items[i], maker.make(&p.Items[i])); int64(words) != it.InputTokens || int64(hit) != it.IdealHit {
				t.Fatalf("seed %d %s: meter says %d of %d", seed, it.RequestID, hit, words)
			}
		}
	}
}

// An engine with an endless prefix cache finds exactly the ideal hits (fakellm hashes the words it gets).
func TestRPL24EngineFindsTheSharing(t *testing.T) {
	s, url := target(t, fakellm.Config{CacheBlocks: -1, BlockTokens: 16, Slots: 1})
	rows := tree(60, 16, rand.New(rand.NewPCG(5, 5)))
	for i := range rows {
		rows[i].Arrival = trace.Ptr(int64(i) * 3000) // in order: a block is cached at the end of its prefill
	}
	p := mustPlan(t, PlanOptions{}, rows...)
	rep, _ := replayed(t, p, Options{Target: url})
	truth := truthByID(s)
	wrong := 0
	for _, it := range p.Items {
		if int64(truth[it.RequestID].CachedTokens) != it.IdealHit {
			wrong++
		}
	}
	// Sends 3 ms apart may arrive in another order on a busy machine: then two prompts swap their hits.
	if wrong > 4 || *rep.Fidelity.CachedTarget < *p.Summary.PrefixShare-.01 || *rep.Fidelity.CachedTarget > *p.Summary.PrefixShare+.01 {
		t.Errorf("%d of %d prompts hit other than recorded; share %.4f, recorded %.4f", wrong, len(p.Items), *rep.Fidelity.CachedTarget, *p.Summary.PrefixShare)
	}
	if f := rep.Fidelity; *f.PrefixSent != *p.Summary.PrefixShare {
		t.Errorf("share sent %v, recorded %v", *f.PrefixSent, *p.Summary.PrefixShare)
	}
}

func TestRPL24TenRowsShareTwoOfThree(t *testing.T) {
	var rows []trace.Request
	for i := range int64(10) {
		rows = append(rows, shaped(fmt.Sprint("r", i), i, 48, 16, 1, 2, 10+i))
	}
	list := prompts(mustPlan(t, PlanOptions{}, rows...), "")
	for i := range list[1:] {
		if !cmp.Equal(list[0][:32], list[i+1][:32]) || list[0][32] == list[i+1][32] && cmp.Equal(list[0][32:], list[i+1][32:]) {
			t.Errorf("prompt %d: the first two thirds must be shared and the last must not", i+1)
		}
	}
}

// Blocks that are equal shares of the text (256 bytes, as ingest makes them): tokens a block differ from prompt to prompt.
func TestShareBlocksKeepSharing(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	words := strings.Fields(wordList)
	say := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(words[rng.IntN(len(words))] + " ")
		}
		return b.String()
	}
	history := []string{say(300), say(900), say(150)}
	var rows []trace.Request
	for i := range 300 {
		text := history[rng.IntN(len(history))] + say(20+rng.IntN(400))
		if i%3 == 0 {
			history = append(history, text)
		}
		tokens := int64(float64(len(strings.Fields(text))) * (1 + .1*rng.Float64()))
		r := row(fmt.Sprintf("r%03d", i), int64(i), tokens, 4)
		chain := fnv.New64a()
		for start := 0; start < len(text); start += 256 {
			chain.Write([]byte(text[start:min(start+256, len(text))]))
			r.PrefixHashIDs = append(r.PrefixHashIDs, int64(chain.Sum64()))
		}
		rows = append(rows, r)
	}
	p := mustPlan(t, PlanOptions{}, rows...)
	// What the log says: leading blocks seen, each the prompt's own average.
	recorded, total := 0.0, 0.0
	seen := map[int64]bool{}
	for _, r := range rows {
		k, leading := len(r.PrefixHashIDs), true
		for _, id := range r.PrefixHashIDs[:k-1] {
			if leading = leading && seen[id]; leading {
				recorded += float64(*r.InputTokens) / float64(k)
			}
			seen[id] = true

		}
		total += float64(*r.InputTokens)
	}
	meter := newShareMeter(Calibration{})
	maker := newPrompter(Calibration{}, "")
	sent, sentTotal := 0, 0
	for i := range p.Items {
		w, h := meter.add(&p.Items[i], maker.make(&p.Items[i]))
		sent, sentTotal = sent+h, sentTotal+w
		if int64(w) != p.Items[i].InputTokens {
			t.Fatalf("%d words, want %d", w, p.Items[i].InputTokens)
		}
	}
	a, b := recorded/total, float64(sent)/float64(sentTotal)
	if a-b > .01 || b-a > .01 || a < .3 {
		t.Errorf("recorded share %.4f, sent %.4f", a, b)
	}
}

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

func TestCalibration(t *testing.T) {
	c := Calibration{TokensPerWord: 1.25, User: 10, System: 16}
	if w := c.words(1010, false); w != 800 {
		t.Errorf("%d words for 1010 tokens, want 800", w)
	}
	if w := c.words(1016, true); w != 800 {
		t.Errorf("%d words for 1016 tokens with a system prompt, want 800", w)
	}
	if w := c.words(3, false); w != 1 {
		t.Errorf("%d words, want 1 at least", w)
	}
}
