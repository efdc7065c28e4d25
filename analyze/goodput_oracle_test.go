package analyze

import (
	"cmp"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/ingest/trace"
)

// sums are the figures of the query goodput for one group.
type sums struct {
	n, good, bad, unevaluable, excluded, clientErrors, goodTokens, tokens float64
	met                                                                   map[string]float64
}

// TestGoodputOracle adds up verdicts by tenant and by time and checks the invariants of metrics.md 9.
func TestGoodputOracle(t *testing.T) {
	e := newEngine(t)
	slo, err := ParseSLO("ttft<=300ms,tpot<=40ms,max_gap<=310ms")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(4) {
		rows := randomRequests(rand.New(rand.NewPCG(seed, 3)), 500)
		run := writeRun(t, rows)
		from, to := int64(10_000_000), int64(40_000_000)
		sc := Scope{SLO: slo, By: []string{"tenant"}, From: &from, To: &to}
		want := sumByTenant(rows, sc, func(*trace.Request) int64 { return 0 })
		checkGoodput(t, want, runQuery(t, e, run, "goodput", sc, nil), 30)
		want = sumByTenant(rows, sc, func(r *trace.Request) int64 { return *r.Arrival - *r.Arrival%7_000_000 })
		checkGoodput(t, want, runQuery(t, e, run, "goodput_over_time", sc, map[string]string{"bin_us": "7000000"}), 7)
	}
}

type groupKey struct {
	grp   string
	start int64
}

func sumByTenant(rows []trace.Request, sc Scope, start func(*trace.Request) int64) map[groupKey]*sums {
	out := map[groupKey]*sums{}
	for i := range rows {
		r := &rows[i]
		f := measure(r)
		if r.Arrival == nil || *r.Arrival < *sc.From || *r.Arrival >= *sc.To || !f.generation || f.cached {
			continue
		}
		key := groupKey{cmp.Or(r.Tenant, "(unknown)"), start(r)}
		if out[key] == nil {
			out[key] = &sums{met: map[string]float64{}}
		}
		out[key].add(f, sc.SLO)
	}
	return out
}

func (s *sums) add(f *figures, slo SLO) {
	verdict, met := f.judge(slo)
	tokens := 0.0
	if f.r.OutputTokens != nil {
		tokens = float64(*f.r.OutputTokens)
	}
	s.n++
	s.tokens += tokens
	if f.status == "client_error" {
		s.clientErrors++
	}
	switch verdict {
	case "good":
		s.good++
		s.goodTokens += tokens
	case "bad":
		s.bad++
	case "unevaluable":
		s.unevaluable++
	default:
		s.excluded++
	}
	for metric, ok := range met {
		if ok && (verdict == "good" || verdict == "bad") {
			s.met[metric]++
		}
	}
}

func checkGoodput(t *testing.T, want map[groupKey]*sums, got []map[string]any, seconds float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d groups, want %d", len(got), len(want))
	}
	for _, row := range got {
		start, _ := row["start_us"].(int64)
		w := want[groupKey{row["grp"].(string), start}]
		if w == nil {
			t.Errorf("unexpected group %v", row)
			continue
		}
		judged := w.good + w.bad
		for name, v := range map[string]float64{"n": w.n, "good": w.good, "bad": w.bad, "unevaluable": w.unevaluable, "excluded": w.excluded,
			"client_errors": w.clientErrors, "attainment": w.good / judged, "ttft_attainment": w.met["ttft"] / judged, "tpot_attainment": w.met["tpot"] / judged,
			"max_gap_attainment": w.met["max_gap"] / judged, "goodput_per_s": w.good / seconds, "token_goodput_per_s": w.goodTokens / seconds,
			"delivered_per_s": w.tokens / seconds, "goodput_ratio": w.goodTokens / w.tokens, "attempts": w.n, "attempt_attainment": w.good / judged} {
			cell, there := row[name]
			if g := number(cell); there && (g == nil) != math.IsNaN(v) || g != nil && !near(*g, v) {
				t.Errorf("%s, %s: got %v, want %v", row["grp"], name, cell, v)
			}
		}
		checkInvariants(t, row)
	}
}

func checkInvariants(t *testing.T, row map[string]any) {
	t.Helper()
	a, low, high := number(row["attainment"]), number(row["attainment_low"]), number(row["attainment_high"])
	if a != nil && low != nil && (*a < *low-1e-12 || *a > *high+1e-12) {
		t.Errorf("attainment %g outside %g to %g", *a, *low, *high)
	}
	if good, all := number(row["token_goodput_per_s"]), number(row["delivered_per_s"]); good != nil && all != nil && *good > *all {
		t.Errorf("token goodput %g above delivered %g", *good, *all)
	}
}
