package replay

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/fakellm"
)

// Two thousand streams at once, at a pace that client and server carry together here, end without an error.
func TestManyStreams(t *testing.T) { manyStreams(t, 5*time.Second) }

// BenchmarkManyStreams is the same for a minute; it reports what the heap had grown to at its end.
func BenchmarkManyStreams(b *testing.B) {
	for b.Loop() {
		rep := manyStreams(b, time.Minute)
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/1e6, "heap-MB")
		b.ReportMetric(rep.Fidelity.Lag.P99US/1e3, "send-lag-p99-ms")
	}
}

// manyStreams opens 2,000 streams of 5 tokens a second within a second.
func manyStreams(t testing.TB, d time.Duration) *Report {
	t.Helper()
	s, url, err := fakellm.Listen(fakellm.Config{Models: []string{"m"}, Timeline: &fakellm.Timeline{First: 100 * time.Millisecond, Gap: 200 * time.Millisecond}, KeepTruth: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var rows []trace.Request
	for i := range manyAtOnce {
		r := row(fmt.Sprintf("r%04d", i), 0, 20, int64(d/(200*time.Millisecond)))
		r.Arrival = trace.Ptr(int64(i) * 1_000_000 / manyAtOnce)
		rows = append(rows, r)
	}
	plan, err := BuildPlan(seq(rows...), PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	rep, err := Run(context.Background(), plan, Options{Target: url, NoPreflight: true, Sink: func(r *trace.Request) error {
		whole += count(int64(len(r.GapsUS)) == plan.Items[0].OutputTokens)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if rep.Classes[trace.ClassOK] != manyAtOnce || rep.Fidelity.Held != 0 || peakOpen(s.Truth()) < manyAtOnce*19/20 || float64(whole) < .9*manyAtOnce {
		t.Errorf("%v, held %d, %d at once, %d with every chunk apart; reasons %v", rep.Classes, rep.Fidelity.Held, peakOpen(s.Truth()), whole, rep.Fidelity.Reasons)
	}
	return rep
}

// peakOpen is the most requests that were open at once.
func peakOpen(t fakellm.Truth) (peak int) {
	var starts, ends []int64
	for _, r := range t.Requests {
		starts, ends = append(starts, r.ArrivalUS), append(ends, r.EndUS)
	}
	slices.Sort(starts)
	slices.Sort(ends)
	done := 0
	for i, at := range starts {
		for ends[done] <= at {
			done++
		}
		peak = max(peak, i+1-done)
	}
	return peak
}

// At a rate that no client carries, 100,000 requests a second (5,000 in 50 ms), the verdict is INVALID.
func TestTooFastIsInvalid(t *testing.T) {
	_, url := target(t, fakellm.Config{Timeline: &fakellm.Timeline{First: 5 * time.Millisecond}})
	var rows []trace.Request
	for i := range tooMany {
		r := row(fmt.Sprintf("r%05d", i), 0, 20, 1)
		r.Arrival = trace.Ptr(int64(i) * 10)
		rows = append(rows, r)
	}
	rep, got := replayed(t, mustPlan(t, PlanOptions{}, rows...), Options{Target: url, NoPreflight: true, StopShare: -1})
	if rep.Fidelity.Verdict != Invalid || len(rep.Fidelity.Reasons) == 0 || len(got) != tooMany {
		t.Errorf("%s: %v, %d rows", rep.Fidelity.Verdict, rep.Fidelity.Reasons, len(got))
	}
}
