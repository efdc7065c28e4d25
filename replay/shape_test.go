package replay

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

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
	if d := gocmp.Diff([]int64{0, 1024, 1536, 0, 1024, 512}, hits); d != "" {
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

// An engine with an endless prefix cache and one slot finds exactly the ideal hits (fakellm hashes the words it gets). The hits
// are those of the order in which it served, which on a busy machine is not quite the plan's.
func TestRPL24EngineFindsTheSharing(t *testing.T) {
	s, url := target(t, fakellm.Config{CacheBlocks: -1, BlockTokens: 16, Slots: 1})
	p := mustPlan(t, PlanOptions{}, tree(60, 16, rand.New(rand.NewPCG(5, 5)))...)
	rep, _ := replayed(t, p, Options{Target: url})
	truth := truthByID(s)
	served := slices.Clone(p.Items)
	slices.SortFunc(served, func(a, b Item) int {
		return cmp.Compare(*truth[a.RequestID].AdmittedUS, *truth[b.RequestID].AdmittedUS)
	})
	cache := newIdealCache()
	total := int64(0)
	for i := range served {
		want := cache.hit(&served[i])
		if got := truth[served[i].RequestID].CachedTokens; int64(got) != want {
			t.Errorf("%s: the engine found %d tokens, recorded %d", served[i].RequestID, got, want)
		}
		total += want
	}
	if f := rep.Fidelity; *f.PrefixSent != *p.Summary.PrefixShare || *f.PrefixPlan != *f.PrefixSent || *f.CachedTarget != float64(total)/float64(p.Summary.InputTokens) {
		t.Errorf("share sent %v, log %v, plan %v; from the cache %v", *f.PrefixSent, *f.PrefixPlan, *p.Summary.PrefixShare, *f.CachedTarget)
	}
}

func TestRPL24TenRowsShareTwoOfThree(t *testing.T) {
	var rows []trace.Request
	for i := range int64(10) {
		rows = append(rows, shaped(fmt.Sprint("r", i), i, 48, 16, 1, 2, 10+i))
	}
	list := prompts(mustPlan(t, PlanOptions{}, rows...), "")
	for i := range list[1:] {
		if !gocmp.Equal(list[0][:32], list[i+1][:32]) || list[0][32] == list[i+1][32] && gocmp.Equal(list[0][32:], list[i+1][32:]) {
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

// A target that counts 17 tokens for its template gets 83 words for a prompt of 100 tokens, the first 64 of which are a block: sent again, 64 of 100 could come from
// a cache, as recorded, and not 64 of 83.
func TestMeterCountsTheTemplate(t *testing.T) {
	cal := Calibration{TokensPerWord: 1, User: 17}
	it := &Item{RequestID: "a", Endpoint: "chat", InputTokens: 100, PrefixIDs: []int64{1, 2}, PrefixTokens: []int32{64, 36}, BlockTokens: trace.Ptr(int32(64))}
	meter, maker := newShareMeter(cal), newPrompter(cal, "")
	for i, want := range []int{0, 64} {
		if words, hit := meter.add(it, maker.make(it)); words != 100 || hit != want {
			t.Errorf("%d: %d of %d, want %d of 100", i, hit, words, want)
		}
	}
}
