package analyze

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/ingest/trace"
)

// TestPackedPrompts is EX-5.1 of metrics.md: 1000 calls with one prompt need ceil(1000 / 29) = 35 copies.
func TestPackedPrompts(t *testing.T) {
	rows := make([]trace.Request, 1000)
	for i := range rows {
		rows[i] = trace.Request{RequestID: fmt.Sprint("q", i), Attempt: 1, ErrorClass: trace.ClassOK, SourceFormat: "test",
			InputTokens: trace.Ptr(int64(1500)), SystemPromptTokens: trace.Ptr(int64(1200)), SystemPromptHash: "s"}
	}
	got := numbers(t, newEngine(t), writeRun(t, rows), "system_prompt", map[string]string{"pack": "29"})
	if v, ok := got["(unknown)"]["packed_saving"].(float64); !ok || !near(v, 0.965) {
		t.Errorf("packed_saving: got %v, want 0.965", got["(unknown)"]["packed_saving"])
	}
}

// TestSystemPromptOracle compares the query with the formulas of metrics.md 5.2, summed call by call and prompt by
// prompt in Go, on random calls of which much is unknown.
func TestSystemPromptOracle(t *testing.T) {
	e := newEngine(t)
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 17))
		rows := randomPrompts(rng, 200)
		for i := range rows {
			instruct(rng, &rows[i])
		}
		want := map[string]map[string]any{}
		for _, tenant := range []string{"", "x", "y", "z"} {
			want[cmp.Or(tenant, "(unknown)")] = oracleInstructions(rows, tenant)
		}
		got := numbers(t, e, writeRun(t, rows), "system_prompt", map[string]string{"batch_us": "7", "pack": "3"})
		if diff := gocmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Fatalf("seed %d: query differs from the oracle (-want +got):\n%s", seed, diff)
		}
	}
}

// instruct gives a prompt instructions, whose tokens are an estimate, and sometimes takes the time away.
func instruct(rng *rand.Rand, r *trace.Request) {
	if rng.IntN(8) == 0 {
		r.Arrival = nil
	}
	if rng.IntN(8) > 0 {
		r.SystemPromptHash = pick(rng, "s1", "s2", "s3")
	}
	if rng.IntN(8) > 0 {
		r.SystemPromptTokens = trace.Ptr(rng.Int64N(6))
	}
}

type promptKey struct{ model, hash string }

type copies struct {
	n, tokens int64
	batches   map[int64]bool
}

func oracleInstructions(rows []trace.Request, tenant string) map[string]any {
	var n, total, input, system, uncachedSystem, uncached int64
	prompts := map[promptKey]*copies{}
	for i := range rows {
		r := &rows[i]
		if r.Tenant != tenant || r.CachedResponse != nil {
			continue
		}
		total++
		s := r.SystemPromptTokens
		if s == nil || r.InputTokens == nil || *s > 0 && r.SystemPromptHash == "" {
			continue
		}
		n, input, system = n+1, input+*r.InputTokens, system+*s
		if r.CachedInputTokens != nil {
			uncached += *r.InputTokens - *r.CachedInputTokens
			uncachedSystem += max(0, *s-*r.CachedInputTokens)
		}
		if *s > 0 {
			addCopy(prompts, r, -int64(i)-1)
		}
	}
	var unique, largest, batches, packed, drawn int64
	for _, c := range prompts {
		unique, drawn, batches = unique+c.tokens, drawn+c.n, batches+int64(len(c.batches))
		largest, packed = largest+c.n*c.tokens, packed+(c.n+2)/3*c.tokens
	}
	return map[string]any{"n": n, "n_total": total, "prompts": int64(len(prompts)), "input_tokens": input, "system_tokens": system,
		"repeated_tokens": system - unique, "instruction_share": ratio(system, input), "repeated_share": ratio(system-unique, input),
		"overhead_ratio": ratio(system, input-system), "prefill_share": ratio(uncachedSystem, uncached),
		"batched_saving": ratio(drawn-batches, drawn), "batch_size": ratio(drawn, batches), "packed_saving": ratio(largest-packed, largest)}
}

// addCopy counts a call to its prompt and to its batch; own is a batch that no other call is in.
func addCopy(prompts map[promptKey]*copies, r *trace.Request, own int64) {
	key := promptKey{cmp.Or(r.ModelRequested, r.ModelServed), r.SystemPromptHash}
	if prompts[key] == nil {
		prompts[key] = &copies{batches: map[int64]bool{}}
	}
	c := prompts[key]
	c.n, c.tokens = c.n+1, max(c.tokens, *r.SystemPromptTokens)
	if r.Arrival != nil {
		own = *r.Arrival / 7
	}
	c.batches[own] = true
}
