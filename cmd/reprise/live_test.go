package main

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"reprise/analyze"
	"reprise/ingest/trace"
	"reprise/replay"
	"reprise/replay/fakellm"
)

// The benchmarks here measure the replayer against engines of known timing over real sockets. They are no tests: what
// they report depends on what else this machine does.

// recorded makes the rows of a run to replay: rate requests a second at random times.
func recorded(seed uint64, rate int, over time.Duration) iter.Seq2[trace.Request, error] {
	rng := rand.New(rand.NewPCG(seed, 3))
	return func(yield func(trace.Request, error) bool) {
		for i := range rate * int(over.Seconds()) {
			r := trace.Request{RequestID: fmt.Sprintf("r%05d", i), RootRequestID: fmt.Sprintf("r%05d", i), Attempt: 1, ErrorClass: trace.ClassOK,
				Arrival: trace.Ptr(epoch + rng.Int64N(over.Microseconds())), Stream: trace.Ptr(true), EndpointKind: "chat", ModelRequested: "fake",
				InputTokens: trace.Ptr(20 + rng.Int64N(380)), OutputTokens: trace.Ptr(10 + rng.Int64N(50)), Vantage: trace.Client}
			if rng.IntN(20) == 0 {
				r.InputTokens = trace.Ptr(int64(2000))
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// live replays rows against a fresh engine and returns the run, what the engine did, and the report.
func live(b testing.TB, c fakellm.Config, rows iter.Seq2[trace.Request, error]) (string, fakellm.Truth, *replay.Report) {
	b.Helper()
	c.KeepTruth = true
	s, url, err := fakellm.Listen(c)
	if err != nil {
		b.Fatal(err)
	}
	plan, err := replay.BuildPlan(rows, replay.PlanOptions{})
	if err != nil {
		b.Fatal(err)
	}
	a := &app{quiet: true}
	run := filepath.Join(b.TempDir(), "run")
	report, err := a.replay(context.Background(), plan, replay.Options{Target: url}, outlet{run: run})
	if err != nil {
		b.Fatal(err)
	}
	s.Close()
	return run, s.Truth(), report
}

func liveEngine(decode time.Duration) fakellm.Config {
	return fakellm.Config{Slots: 64, DecodeBase: decode, DecodePerRunning: 200 * time.Microsecond, PrefillPerToken: 50 * time.Microsecond, PrefillBase: time.Millisecond}
}

// BenchmarkHonesty: do the programmed times come back? 20 requests a second for 60 s; errors of first tokens (from the
// due time) and of chunk gaps against the engine's plan, in milliseconds.
func BenchmarkHonesty(b *testing.B) {
	for b.Loop() {
		run, truth, report := live(b, liveEngine(10*time.Millisecond), recorded(1, 20, time.Minute))
		want := map[string]fakellm.RequestTruth{}
		for _, r := range truth.Requests {
			want[r.ID] = r
		}
		var first, gaps []float64
		parts, _ := trace.Parts(run)
		for r, err := range trace.Read(parts...) {
			t, ok := want[r.RequestID]
			if err != nil || !ok || r.FirstUS == nil || len(r.GapsUS) != len(t.ChunkUS) {
				b.Fatalf("%s: no truth, or %d chunks for %d: %v", r.RequestID, len(r.GapsUS), len(t.ChunkUS), err)
			}
			first = append(first, abs(float64(*r.Arrival+*r.FirstUS-truth.Server.StartUnixUS-t.ChunkUS[0])/1000))
			for k := 1; k < len(r.GapsUS); k++ {
				gaps = append(gaps, abs(float64(int64(r.GapsUS[k])-(t.ChunkUS[k]-t.ChunkUS[k-1]))/1000))
			}
		}
		for name, v := range map[string][]float64{"ttft": first, "gap": gaps} {
			slices.Sort(v)
			b.ReportMetric(v[len(v)/2], name+"-err-p50-ms")
			b.ReportMetric(v[len(v)*99/100], name+"-err-p99-ms")
		}
		b.ReportMetric(report.Fidelity.Lag.P99US/1000, "lag-p99-ms")
	}
}

// BenchmarkSameServerLive is A/A over sockets: in how many of 20 short repeats does a comparison claim a difference?
func BenchmarkSameServerLive(b *testing.B) {
	for b.Loop() {
		claims := 0
		for seed := range uint64(20) {
			if v := verdict(b, liveEngine(10*time.Millisecond), liveEngine(10*time.Millisecond), seed); v == analyze.Worse || v == analyze.Better {
				claims++
			}
		}
		b.ReportMetric(float64(claims), "claims-of-20")
	}
}

// BenchmarkSlowerDecodeLive is A/B over sockets: decode steps take a fifth longer.
func BenchmarkSlowerDecodeLive(b *testing.B) {
	for b.Loop() {
		worse := 0
		slow := liveEngine(12 * time.Millisecond)
		slow.DecodePerRunning = 240 * time.Microsecond
		for seed := range uint64(5) {
			if verdict(b, liveEngine(10*time.Millisecond), slow, seed) == analyze.Worse {
				worse++
			}
		}
		b.ReportMetric(float64(worse), "worse-of-5")
	}
}

func verdict(b *testing.B, base, cand fakellm.Config, seed uint64) string {
	var runs [2]*analyze.Run
	for i, c := range []fakellm.Config{base, cand} {
		dir, _, _ := live(b, c, recorded(seed, 20, 6*time.Second))
		run, err := analyze.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		runs[i] = run
	}
	e, err := analyze.NewEngine(context.Background(), analyze.EngineOptions{Threads: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	c, err := analyze.Compare(context.Background(), e, runs[0], runs[1], analyze.CompareOptions{Seed: seed})
	if err != nil {
		b.Fatal(err)
	}
	if !c.Comparable {
		b.Logf("seed %d: not comparable: %v", seed, c.WhyNot)
	}
	return c.Verdict
}

func abs(x float64) float64 { return max(x, -x) }
