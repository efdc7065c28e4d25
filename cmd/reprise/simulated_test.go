package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/analyze"
	"reprise/ingest/trace"
	"reprise/replay/fakellm"
)

// The tests here run the whole analysis on runs whose truth is known: the engine model is a pure function of the
// arrivals, so nothing depends on this machine's clock or load.

// epoch is the start of simulated runs, microseconds since 1970.
const epoch = int64(1_790_000_000_000_000)

// traffic makes n arrivals at random over the given time: prompts of 20 to 400 words, one in ten of 2,000.
func traffic(seed uint64, n int, over time.Duration) []fakellm.Arrival {
	rng := rand.New(rand.NewPCG(seed, 1))
	arrivals := make([]fakellm.Arrival, n)
	for i := range arrivals {
		words := 20 + rng.IntN(380)
		if rng.IntN(10) == 0 {
			words = 2000
		}
		arrivals[i] = fakellm.Arrival{ID: fmt.Sprintf("r%04d", i), At: time.Duration(rng.Int64N(int64(over))), Prompt: prompt(i, words), Output: 10 + rng.IntN(60)}
	}
	return arrivals
}

// prompt is words of its own, so that no two prompts share a prefix.
func prompt(i, words int) string {
	return strings.Repeat(fmt.Sprintf("w%d ", i), words)
}

// late moves each arrival by up to a millisecond, as two replays of one plan do.
func late(arrivals []fakellm.Arrival, seed uint64) []fakellm.Arrival {
	rng := rand.New(rand.NewPCG(seed, 2))
	moved := make([]fakellm.Arrival, len(arrivals))
	for i, a := range arrivals {
		a.At += time.Duration(rng.Int64N(int64(time.Millisecond)))
		moved[i] = a
	}
	return moved
}

func simulate(t *testing.T, c fakellm.Config, arrivals []fakellm.Arrival) fakellm.Truth {
	t.Helper()
	truth, err := fakellm.Simulate(c, arrivals)
	if err != nil {
		t.Fatal(err)
	}
	return truth
}

// keepRun writes what a client beside the engine would have recorded and opens it as a run.
func keepRun(t *testing.T, truth fakellm.Truth) *analyze.Run {
	t.Helper()
	var rows []trace.Request
	for _, r := range truth.Requests {
		row := trace.Request{RequestID: r.ID, Arrival: trace.Ptr(epoch + r.ArrivalUS), Vantage: trace.Client, ClockDomain: trace.Wall, TimePrecision: 1,
			ErrorClass: trace.ClassOK, Stream: trace.Ptr(true), EndpointKind: "chat", TTFTKind: trace.TTFTContent, ModelRequested: "m", Replica: "e1", Tenant: "t",
			InputTokens: trace.Ptr(int64(r.PromptTokens)), CachedInputTokens: trace.Ptr(int64(r.CachedTokens)), OutputTokens: trace.Ptr(int64(r.OutputTokens)),
			TokensSource: "usage", FinishReason: "length", EndUS: trace.Ptr(r.EndUS - r.ArrivalUS), SourceFormat: "test"}
		offsets := make([]int64, len(r.ChunkUS))
		for i, c := range r.ChunkUS {
			offsets[i] = c - r.ArrivalUS
		}
		row.SetGaps(offsets)
		trace.Check(&row)
		rows = append(rows, row)
	}
	return storeRows(t, rows)
}

// storeRows writes a run and opens it.
func storeRows(t *testing.T, rows []trace.Request) *analyze.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	writeRows(t, dir, rows)
	run, err := analyze.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// writeRows makes the folder a run of these rows.
func writeRows(t *testing.T, dir string, rows []trace.Request) {
	t.Helper()
	w, err := trace.NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if err := w.Add(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.Commit("p", nil); err != nil {
		t.Fatal(err)
	}
}

func engine(t *testing.T) *analyze.Engine {
	t.Helper()
	e, err := analyze.NewEngine(context.Background(), analyze.EngineOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func modelEngine(decode time.Duration) fakellm.Config {
	return fakellm.Config{Slots: 16, DecodeBase: decode, DecodePerRunning: time.Millisecond, PrefillPerToken: 100 * time.Microsecond,
		PrefillBase: 2 * time.Millisecond}
}

// TestSameServerTwice is A/A: with fixed seeds no more than one repeat in twenty may claim a difference.
func TestSameServerTwice(t *testing.T) {
	e, claims := engine(t), 0
	slo, err := analyze.ParseSLO("ttft<=500ms,tpot<=60ms@95%")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		arrivals := traffic(seed, 150, 30*time.Second)
		base := keepRun(t, simulate(t, modelEngine(10*time.Millisecond), late(arrivals, 2*seed)))
		cand := keepRun(t, simulate(t, modelEngine(10*time.Millisecond), late(arrivals, 2*seed+1)))
		c, err := analyze.Compare(context.Background(), e, base, cand, analyze.CompareOptions{Scope: analyze.Scope{SLO: slo}, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if c.Verdict == analyze.Worse || c.Verdict == analyze.Better || !c.Comparable {
			claims++
			t.Logf("seed %d: %s %v", seed, c.Verdict, c.WhyNot)
		}
	}
	if claims > 1 {
		t.Errorf("%d of 20 repeats of one server claim a difference, want at most 1", claims)
	}
}

// TestSlowerDecode is A/B with a known answer: decode steps take a fifth longer.
func TestSlowerDecode(t *testing.T) {
	arrivals := traffic(7, 300, 60*time.Second)
	base := keepRun(t, simulate(t, modelEngine(10*time.Millisecond), late(arrivals, 1)))
	slow := modelEngine(12 * time.Millisecond)
	slow.DecodePerRunning = 1200 * time.Microsecond
	cand := keepRun(t, simulate(t, slow, late(arrivals, 2)))
	c, err := analyze.Compare(context.Background(), engine(t), base, cand, analyze.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Verdict != analyze.Worse || !c.GateFailed {
		t.Errorf("verdict %s, want worse", c.Verdict)
	}
	for _, m := range c.Metrics {
		if m.Metric == "tpot" && m.Quantile == .5 && m.Verdict != analyze.Worse {
			t.Errorf("tpot p50 is %s, want worse: %+v", m.Verdict, m)
		}
	}
}

// TestRunAgainstItself: every difference is 0 and the gate holds.
func TestRunAgainstItself(t *testing.T) {
	run := keepRun(t, simulate(t, modelEngine(10*time.Millisecond), traffic(3, 200, 40*time.Second)))
	c, err := analyze.Compare(context.Background(), engine(t), run, run, analyze.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Verdict != analyze.NonInferior || c.GateFailed {
		t.Errorf("verdict %s, gate failed %v, want non-inferior", c.Verdict, c.GateFailed)
	}
}
