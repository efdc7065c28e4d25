package analyze

import (
	"fmt"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/ingest/trace"
)

// TestThroughputOracle counts streams and tokens at every microsecond.
func TestThroughputOracle(t *testing.T) {
	e := newEngine(t)
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var rows []trace.Request
		for i := range 60 {
			r := trace.Request{RequestID: fmt.Sprint(i), RootRequestID: fmt.Sprint(i), Attempt: 1, Vantage: trace.Client, ClockDomain: trace.Wall, SourceFormat: "test",
				ErrorClass: pick(rng, trace.ClassOK, trace.ClassOK, trace.ClassCancel), Arrival: trace.Ptr(rng.Int64N(400)), Stream: trace.Ptr(true),
				FirstUS: trace.Ptr(rng.Int64N(40)), Replica: pick(rng, "", "g1", "g2"), Tenant: pick(rng, "x", "y")}
			r.EndUS = trace.Ptr(*r.FirstUS + rng.Int64N(200))
			if rng.IntN(5) > 0 {
				r.OutputTokens = trace.Ptr(1 + rng.Int64N(20))
			}
			rows = append(rows, r)
		}
		res, err := e.Query(t.Context(), writeRun(t, rows), "throughput_by_batch", Scope{By: []string{"tenant"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]any{}
		for _, row := range cells(t, res, []string{"grp", "batch", "mean_batch", "seconds", "tokens_per_s", "tpot_ms", "known_share"}) {
			got[fmt.Sprint(row[0], row[1])] = row[2:]
		}
		if diff := gocmp.Diff(countedBatches(rows), got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Fatalf("seed %d (-counted +query):\n%s", seed, diff)
		}
	}
}

// countedBatches is the answer by tenant and batch.
func countedBatches(rows []trace.Request) map[string][]any {
	decodes := func(r *trace.Request, replica string, us int64) bool {
		return r.Replica == replica && us >= *r.Arrival+*r.FirstUS && us < *r.Arrival+*r.EndUS
	}
	type sums struct{ us, level, own, known, tokens float64 }
	all := map[string]*sums{}
	for _, replica := range []string{"g1", "g2"} {
		for us := range int64(1000) {
			level, by := 0, map[string]*sums{"x": {}, "y": {}}
			for i := range rows {
				r := &rows[i]
				if !decodes(r, replica, us) {
					continue
				}
				level++
				by[r.Tenant].own++
				if r.OutputTokens != nil {
					by[r.Tenant].known++
					by[r.Tenant].tokens += float64(*r.OutputTokens-1) / float64(*r.EndUS-*r.FirstUS)
				}
			}
			for tenant, s := range by {
				key := fmt.Sprint(tenant, class(level))
				if all[key] == nil {
					all[key] = &sums{}
				}
				a := all[key]
				a.us, a.level, a.own, a.known, a.tokens = a.us+1, a.level+float64(level), a.own+s.own, a.known+s.known, a.tokens+s.tokens
			}
		}
	}
	out := map[string][]any{}
	for key, a := range all {
		if a.own == 0 || a.level == 0 {
			continue
		}
		row := []any{a.level / a.us, a.us / 1e6, any(nil), any(nil), a.known / a.own}
		if a.tokens > 1e-9 {
			row[2], row[3] = a.own/a.us*a.tokens/a.known*1e6, a.known/a.tokens/1e3
		}
		out[key] = row
	}
	return out
}

// TestStepsOfVLLM: the engine logged its own steps without prompts, by the number of requests in them (medians in ms of 10,978 steps, by a program of
// its own over the log). A client sees each some ms later than the step was long: what lies between two steps, and the way to it, on one machine of two cores.
func TestStepsOfVLLM(t *testing.T) {
	logged := map[int64]float64{1: 8.75, 2: 9.99, 3: 9.73, 4: 9.95, 5: 9.96, 6: 11.09, 7: 13.53, 8: 14.09}
	run := ingested(t, "../testdata/truth/vllm-baseline.jsonl.gz", "../testdata/truth/vllm-baseline.spans.jsonl.gz")
	res, err := newEngine(t).Query(t.Context(), run, "throughput_by_batch", Scope{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var seen, said []float64
	for _, row := range cells(t, res, []string{"batch", "step_ms", "seconds"}) {
		batch, step := row[0].(int64), row[1].(float64)
		if more := step - logged[batch]; more < .7 || more > 3.2 {
			t.Errorf("batch %d: a step of %.2f ms, the engine says %.2f", batch, step, logged[batch])
		}
		seen, said = append(seen, step), append(said, logged[batch])
	}
	if len(seen) != 8 {
		t.Errorf("steps %v, the engine says %v", seen, said)
	}
}

// A group of many calls comes in several chunks of rows, and what it decoded adds up over all of them: 6,000 calls, one after the other, of three tenants,
// 5 ms for 5 tokens each, so that each tenant decodes a third of the time at 1,000 tokens a second.
func TestBatchOverChunks(t *testing.T) {
	rows := make([]trace.Request, 6000)
	for i := range rows {
		rows[i] = trace.Request{RequestID: fmt.Sprint(i), RootRequestID: fmt.Sprint(i), Attempt: 1, Arrival: new(int64(i) * 10_000), Vantage: "client", ClockDomain: "wall",
			ErrorClass: "ok", Stream: new(true), FirstUS: new(int64(1000)), LastUS: new(int64(6000)), EndUS: new(int64(6000)), OutputTokens: new(int64(6)),
			Replica: "r", Tenant: []string{"a", "a tenant with a long name", "another one with a long name"}[i%3]}
	}
	got := runQuery(t, newEngine(t), writeRun(t, rows), "throughput_by_batch", Scope{By: []string{"tenant"}}, nil)
	if len(got) != 3 {
		t.Fatalf("%d rows, want 3", len(got))
	}
	for _, row := range got {
		for name, want := range map[string]float64{"batch": 1, "seconds": 30, "tpot_ms": 1, "known_share": 1, "tokens_per_s": 1000. / 3} {
			if g := number(row[name]); g == nil || !near(*g, want) {
				t.Errorf("%s: %s %v, want %v", row["grp"], name, row[name], want)
			}
		}
	}
}
