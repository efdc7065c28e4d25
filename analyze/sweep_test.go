package analyze

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

// ex73 are the rungs of EX-7.3 (metrics.md), sent in a mixed order; from 1.25 on the target is saturated.
func ex73() []SweepRung {
	var rungs []SweepRung
	a, p := []float64{1, .999, .995, .97, .70, .30}, []float64{200, 210, 230, 280, 700, 1800}
	for _, i := range []int{3, 0, 4, 2, 5, 1} {
		m := .25 * float64(i+1)
		tokens, rate := 100*m*a[i], 8*m
		rungs = append(rungs, SweepRung{Speed: m, State: RungMeasured, Judged: 1000, Offered: 1000, To: 600_000_000, Attainment: &a[i], TTFTP95: &p[i], GoodTokens: &tokens, OfferedPS: &rate, Saturated: i >= 4})
	}
	return rungs
}

func TestSweepEX73(t *testing.T) {
	s := &Sweep{}
	for _, r := range ex73() {
		s.Add(r)
	}
	for i, want := range []float64{1.064815, .80} {
		if c := s.Capacity[i]; math.Abs(*c.Speed-want) > 5e-7 || math.Abs(*c.OfferedPS-8*want) > 5e-6 || c.Bound != "exact" {
			t.Errorf("capacity@%g: %+v at %v, want %v", c.Attainment, c, *c.Speed, want)
		}
	}
	// goodput by hand: 25, 49.95, 74.625, 97, 87.5, 45
	if *s.Knee != 1 || s.Peak.Speed != 1 || math.Abs(s.Peak.TokensPS-97) > 1e-9 || s.Peak.AtHighest || len(s.Warnings) != 0 {
		t.Errorf("knee %v, peak %+v, %v", *s.Knee, s.Peak, s.Warnings)
	}
	if diff := gocmp.Diff([]float64{1, .25, 1.25, .75, 1.5, .5}, s.Order); diff != "" || s.Rungs[0].Speed != .25 {
		t.Error(diff)
	}
}

// Once 1.25 was seen to be saturated, 1.5 need not be sent, and nothing that follows needs it: capacities, knee and peak
// stay. Before that nothing is left out.
func TestSweepStopsAboveSaturation(t *testing.T) {
	s, sent := &Sweep{}, 0
	for _, r := range ex73() {
		if above := s.SkipAbove(); above > 0 && r.Speed > above {
			s.Add(SweepRung{Speed: r.Speed, State: RungSkipped})
			continue
		}
		sent++
		s.Add(r)
	}
	if sent != 5 || s.Rungs[5].State != RungSkipped || math.Abs(*s.Capacity[0].Speed-1.064815) > 5e-7 || math.Abs(*s.Capacity[1].Speed-.80) > 5e-7 || s.Peak.Speed != 1 {
		t.Errorf("%d sent, %+v", sent, s)
	}
}

// What was not measured gives no number; a load that nothing breaks is a bound.
func TestSweepWithoutFigures(t *testing.T) {
	s := &Sweep{}
	s.Add(SweepRung{Speed: 1, State: RungInvalid})
	if c := s.Capacity[0]; c.Speed != nil || s.Knee != nil || s.Peak != nil || s.Warnings[0].Code != "loads_without_figures" {
		t.Errorf("%+v", s)
	}
	rungs := ex73()
	s.Add(rungs[1]) // .25
	if c := s.Capacity[1]; *c.Speed != .25 || c.Bound != "at_least" || !s.Peak.AtHighest {
		t.Errorf("%+v %+v", s.Capacity, s.Peak)
	}
	s = &Sweep{}
	s.Add(rungs[2]) // 1.25
	if c := s.Capacity[1]; *c.Speed != 1.25 || c.Bound != "at_most" {
		t.Errorf("%+v", s.Capacity)
	}
}

// steady is ten requests a second for ten seconds; each takes as long as the function says, in milliseconds.
func steady(first func(i int) int) []trace.Request {
	var rows []trace.Request
	for i := range 100 {
		ttft := int64(first(i)) * 1000
		rows = append(rows, trace.Request{RequestID: fmt.Sprint(i), RootRequestID: fmt.Sprint(i), Attempt: 1, Arrival: trace.Ptr(int64(i) * 100_000), FirstUS: &ttft,
			LastUS: trace.Ptr(ttft + 100_000), EndUS: trace.Ptr(ttft + 100_000), OutputTokens: trace.Ptr(int64(10)), Stream: trace.Ptr(true), Vantage: trace.Replay,
			ClockDomain: trace.Wall, TimePrecision: 1, ErrorClass: trace.ClassOK, EndpointKind: "chat", SourceFormat: "test", SourceFile: "f", SourceLine: int64(i)})
	}
	return rows
}

// By hand, window from 1 s to 9 s of ten.
//
//	flat:    80 sent; ends in the window are those of 0.8 s to 8.7 s: 80. Two at once, 10 good a second of 10 tokens.
//	slower:  each 2 ms slower than the one before: the one of t s ends at 1.02 t + .2, so those of 0.8 to 8.6 s: 79 of 80 ended,
//	         and yet both number and wait rise all the time.
//	falling behind: the one of t s ends at 2 t + .2: those of .4 to 4.3 s: 40 of 80.
//	good under 150 ms: of the slower ones those up to 25, so 10 to 25 in the window: 16 of 80.
func TestRung(t *testing.T) {
	e := newEngine(t)
	slo, err := ParseSLO("ttft<=150ms")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name               string
		first              func(int) int
		completed, good    int
		saturated, running bool
	}{
		{"flat", func(int) int { return 100 }, 80, 80, false, true},
		{"slower", func(i int) int { return 100 + 2*i }, 79, 16, true, false},
		{"falling behind", func(i int) int { return 100 + 100*i }, 40, 0, true, false},
	} {
		run := writeRun(t, steady(c.first))
		r, err := e.Rung(context.Background(), run, SweepRung{Speed: 1, From: 1_000_000, To: 9_000_000}, slo)
		if err != nil {
			t.Fatal(err)
		}
		if r.State != RungMeasured || r.Offered != 80 || r.Completed != c.completed || r.Judged != 80 || !near(*r.Attainment, float64(c.good)/80) || r.Saturated != c.saturated || *r.OfferedPS != 10 {
			t.Errorf("%s: %+v, attainment %v", c.name, r, *r.Attainment)
		}
		if c.running && (!near(*r.Running, 2) || *r.TTFTP99 != 100 || *r.GoodPS != 10 || *r.GoodTokens != 100) {
			t.Errorf("%s: %v at once, TTFT %v, %v good, %v tokens", c.name, *r.Running, *r.TTFTP99, *r.GoodPS, *r.GoodTokens)
		}
	}
}

// replayOf is a steady run that a replay made which says so of itself.
func replayOf(t *testing.T, report string) *Run {
	t.Helper()
	dir := t.TempDir()
	w, err := trace.NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range steady(func(int) int { return 100 }) {
		if err := w.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.Commit("part", map[string]string{"reprise.replay": report}); err != nil {
		t.Fatal(err)
	}
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// A replay that says of itself that it is invalid, or that ended early, has no figures; every other answer about an
// invalid one is marked.
func TestRungOfInvalidReplay(t *testing.T) {
	e := newEngine(t)
	for report, state := range map[string]string{`{"fidelity":{"verdict":"INVALID","reasons":["late"]}}`: RungInvalid, `{"incomplete":"failures","fidelity":{"verdict":"FAITHFUL"}}`: RungIncomplete} {
		run := replayOf(t, report)
		r, err := e.Rung(context.Background(), run, SweepRung{Speed: 1, From: 0, To: 10_000_000}, SLO{})
		if err != nil || r.State != state || len(r.Why) == 0 || r.Attainment != nil || r.TTFTP50 != nil || r.Offered != 0 {
			t.Errorf("%s: %v %+v", state, err, r)
		}
		res, err := e.Query(context.Background(), run, "latency", Scope{}, nil)
		marked := slices.ContainsFunc(res.Warnings, func(w Warning) bool { return w.Code == "invalid_replay" && strings.Contains(w.Message, "late") })
		if err != nil || marked != (state == RungInvalid) {
			t.Errorf("%s: %v, latencies are marked: %v", state, err, marked)
		}
	}
}

// What the self-check of the client said comes with the run: the kernel's stamps where it has them.
func TestReplaysTellOfTheirClient(t *testing.T) {
	e := newEngine(t)
	for check, want := range map[string]*ClientCheck{
		`null`: nil,
		`{"at_us":7,"send":{"error":{"p99_us":1500}},"stamps":{"kernel":{"p99_us":20},"clock":{"p99_us":900}}}`: {7, 1.5, .02},
		`{"at_us":7,"send":{"error":{"p99_us":1500}},"stamps":{"kernel":null,"clock":{"p99_us":900}}}`:          {7, 1.5, .9},
	} {
		got, err := e.Replays(context.Background(), replayOf(t, `{"fidelity":{"verdict":"DEGRADED","reasons":["x"]},"selfcheck":`+check+`}`))
		if diff := gocmp.Diff([]Replayed{{Verdict: "DEGRADED", Reasons: []string{"x"}, Client: want}}, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
}
