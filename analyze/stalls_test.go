package analyze

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/ingest/trace"
	"reprise/queries"
)

// randomTraffic is streams of 10 to 30 ms gaps with pauses, late chunks and prompts of all lengths on three replicas.
func randomTraffic(rng *rand.Rand) []trace.Request {
	var out []trace.Request
	for i := range 90 {
		arrival := int64(1e15) + rng.Int64N(12e6)
		r := trace.Request{RequestID: fmt.Sprint("q", i), RootRequestID: fmt.Sprint("q", i), Attempt: 1, Vantage: trace.Client, ClockDomain: trace.Wall,
			TimePrecision: 1, ErrorClass: trace.ClassOK, SourceFormat: "test", SourceLine: int64(i + 1), Arrival: &arrival, ModelRequested: "m",
			Replica: fmt.Sprint("r", rng.IntN(3)), Tenant: fmt.Sprint("t", rng.IntN(4)), Stream: trace.Ptr(rng.IntN(8) > 0)}
		r.InputTokens, r.CachedInputTokens = trace.Ptr(rng.Int64N(6000)+20), trace.Ptr(rng.Int64N(20))
		if rng.IntN(3) > 0 {
			*r.InputTokens = 20 + rng.Int64N(200)
		}
		randomStream(rng, &r)
		out = append(out, r)
	}
	return out
}

func randomStream(rng *rand.Rand, r *trace.Request) {
	first := 10000 + rng.Int64N(900000)
	if !*r.Stream {
		r.EndUS = trace.Ptr(first)
		return
	}
	if rng.IntN(10) == 0 {
		r.PrefillUS = trace.Ptr(rng.Int64N(first))
	}
	last := first
	r.GapsUS, r.ChunkTokens = []int32{int32(first)}, []int32{1}
	for range 5 + rng.IntN(40) {
		gap, tokens := int32(8000+rng.IntN(20000)), int32(1)
		switch rng.IntN(12) {
		case 0:
			gap += int32(rng.IntN(400000))
		case 1:
			gap, tokens = 20*gap, 20
		}
		last += int64(gap)
		r.GapsUS, r.ChunkTokens = append(r.GapsUS, gap), append(r.ChunkTokens, tokens)
	}
	sum := int64(0)
	for _, n := range r.ChunkTokens {
		sum += int64(n)
	}
	r.FirstUS, r.LastUS, r.EndUS, r.OutputTokens, r.TTFTKind = &first, &last, trace.Ptr(last+500), &sum, trace.TTFTContent
}

func byReplica(rows []trace.Request) map[string][]*trace.Request {
	out := map[string][]*trace.Request{}
	for i := range rows {
		out[rows[i].Replica] = append(out[rows[i].Replica], &rows[i])
	}
	return out
}

func TestStallsAgainstOracle(t *testing.T) {
	e := newEngine(t)
	labels := map[string]int{}
	for seed := range uint64(4) {
		rows := randomTraffic(rand.New(rand.NewPCG(seed, 4)))
		want, blamed := map[string]string{}, map[string]float64{}
		for _, group := range byReplica(rows) {
			windows := oracleWindows(group)
			gaps := oracleGaps(group, windows)
			stretchWindows(windows, gaps)
			blame(group, windows, gaps)
			for _, g := range gaps {
				want[fmt.Sprint(g.r.RequestID, " ", g.k)] = fmt.Sprint(g.streams, g.excess, g.covered, g.overlap, g.lost, g.label)
				labels[g.label]++
				for culprit, us := range g.inflicted {
					blamed[culprit.RequestID+" "+g.r.Tenant] += us
				}
			}
		}
		run := writeRun(t, rows)
		got := viewRows(t, e, run, `SELECT request_id, k, streams, excess_us, covered_us, overlap_us, lost_us, coalesce(label, '') FROM stall_gaps`, oracleFits)
		if len(got) != len(want) {
			t.Fatalf("seed %d: %d gaps, want %d", seed, len(got), len(want))
		}
		for _, row := range got {
			key := fmt.Sprint(row[0], " ", row[1])
			if s := fmt.Sprint(row[2], row[3], row[4], row[5], row[6], row[7]); s != want[key] {
				t.Fatalf("seed %d, gap %s: got %s, want %s (streams, excess, covered, overlap, lost, label)", seed, key, s, want[key])
			}
		}
		for _, row := range viewRows(t, e, run, `SELECT request_id, victim, inflicted_us FROM blamed`, oracleFits) {
			key := fmt.Sprint(row[0], " ", row[1])
			if us := float64(row[2].(int64)); math.Abs(us-blamed[key]) > 1 {
				t.Fatalf("seed %d: %s lost %v us, want %v", seed, key, us, blamed[key])
			}
			delete(blamed, key)
		}
		for key, us := range blamed {
			if us > 1 {
				t.Fatalf("seed %d: %s lost nothing, want %v us", seed, key, us)
			}
		}
	}
	for _, l := range []string{"delivery", "prefill", "blocked_ambiguous", "local"} {
		if labels[l] == 0 {
			t.Errorf("no random gap was labelled %s: %v", l, labels)
		}
	}
}

// viewRows runs a text over the base views with parameters.
func viewRows(t *testing.T, e *Engine, r *Run, text string, params map[string]string) [][]any {
	t.Helper()
	src, err := e.mount(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	composed, err := queries.ComposeText(text, src, queries.Scope{}, params)
	if err != nil {
		t.Fatal(err)
	}
	res := &Result{SQL: composed}
	if err := e.fill(context.Background(), r, Scope{}, res, &outlet{}); err != nil {
		t.Fatal(err)
	}
	return res.Rows
}
