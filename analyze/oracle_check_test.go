package analyze

import (
	"cmp"
	"context"
	"math/rand/v2"
	"testing"

	"reprise/ingest/trace"
)

// TestRequestsOracle compares every metric of every request with the definitions, under SLOs with all and with some terms.
func TestRequestsOracle(t *testing.T) {
	e := newEngine(t)
	for seed := range uint64(4) {
		rows := randomRequests(rand.New(rand.NewPCG(seed, 1)), 400)
		run := writeRun(t, rows)
		want := map[string]*figures{}
		for i := range rows {
			want[rows[i].RequestID] = measure(&rows[i])
		}
		for _, text := range []string{"ttft<=300ms,ttfvt<=300ms,tpot<=40ms,e2e<=700ms,max_gap<=250ms", "ttft<=300ms", "tpot<=30ms,max_gap<=250ms", "e2e<=500ms"} {
			slo, err := ParseSLO(text)
			if err != nil {
				t.Fatal(err)
			}
			res, err := e.SQL(context.Background(), run, Scope{SLO: slo}, `SELECT request_id, generation, latency, ttft_us, ttfvt_us, tpot_us, e2e_us,
				ntpot_us, max_gap_us, chunks, verdict, ttft_ok, ttfvt_ok, tpot_ok, e2e_ok, max_gap_ok FROM judged`)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range res.Rows {
				checkFigures(t, want[row[0].(string)], slo, row)
			}
			if len(res.Rows) != len(rows) {
				t.Errorf("%d rows, want %d", len(res.Rows), len(rows))
			}
		}
	}
}

func checkFigures(t *testing.T, f *figures, slo SLO, row []any) {
	t.Helper()
	for i, want := range []*float64{f.ttft, f.ttfvt, f.tpot, f.e2e, f.ntpot, f.maxGap} {
		if got := number(row[3+i]); (got == nil) != (want == nil) || want != nil && !near(*got, *want) {
			t.Errorf("%s, metric %d: got %v, want %v of %+v", f.r.RequestID, i, row[3+i], want, *f.r)
		}
	}
	chunks := number(row[9])
	if (chunks == nil) != (f.chunks < 0) || chunks != nil && int(*chunks) != f.chunks {
		t.Errorf("%s: %v chunks, want %d", f.r.RequestID, row[9], f.chunks)
	}
	verdict, met := f.judge(slo)
	if row[1] != f.generation || row[2] != f.latency || row[10] != verdict {
		t.Errorf("%s: generation %v, latency %v, verdict %v; want %v, %v, %s of %+v", f.r.RequestID, row[1], row[2], row[10], f.generation, f.latency, verdict, *f.r)
	}
	for i, metric := range []string{"ttft", "ttfvt", "tpot", "e2e", "max_gap"} {
		if want, judged := met[metric]; judged && (row[11+i] != false) != want {
			t.Errorf("%s: %s met %v, want %v", f.r.RequestID, metric, row[11+i], want)
		}
	}
}

// TestGapsOracle compares the merged gaps, their ends and tokens with the greedy rule of metrics.md 0.1.
func TestGapsOracle(t *testing.T) {
	e := newEngine(t)
	for seed := range uint64(4) {
		rows := randomRequests(rand.New(rand.NewPCG(seed, 2)), 500)
		res, err := e.SQL(context.Background(), writeRun(t, rows), Scope{}, "SELECT request_id, k, gap_us, end_us, tokens FROM gaps ORDER BY ALL")
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][][]any{}
		for _, row := range res.Rows {
			got[row[0].(string)] = append(got[row[0].(string)], row[1:])
		}
		for i := range rows {
			checkGaps(t, measure(&rows[i]), got[rows[i].RequestID])
		}
	}
}

func checkGaps(t *testing.T, f *figures, got [][]any) {
	t.Helper()
	if !f.latency || f.whole {
		f.gaps = nil
	}
	if len(got) != len(f.gaps) {
		t.Fatalf("%s: %d gaps, want %d of %+v", f.r.RequestID, len(got), len(f.gaps), *f.r)
	}
	if f.gaps == nil {
		return
	}
	at := int64(f.r.GapsUS[0])
	for i, g := range f.gaps {
		at += int64(g)
		var end, tokens any
		if f.r.Arrival != nil {
			end = *f.r.Arrival + at
		}
		if f.tokens != nil {
			tokens = f.tokens[i]
		}
		if w := []any{int64(i + 2), int64(g), end, tokens}; got[i][0] != w[0] || got[i][1] != w[1] || got[i][2] != w[2] || got[i][3] != w[3] {
			t.Errorf("%s: gap %v, want %v", f.r.RequestID, got[i], w)
		}
	}
}

// runQuery returns the rows as maps by column.
func runQuery(t *testing.T, e *Engine, run *Run, name string, sc Scope, params map[string]string) []map[string]any {
	t.Helper()
	res, err := e.Query(context.Background(), run, name, sc, params)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for _, row := range res.Rows {
		m := map[string]any{}
		for i, c := range res.Columns {
			m[c.Name] = row[i]
		}
		out = append(out, m)
	}
	return out
}

// TestLatencyOracle compares exact percentiles by group, of the whole and by time, with sorting.
func TestLatencyOracle(t *testing.T) {
	e := newEngine(t)
	rows := randomRequests(rand.New(rand.NewPCG(7, 7)), 3000)
	run := writeRun(t, rows)
	samples := map[string][]float64{}
	add := func(f *figures, metric string, v *float64) {
		if v == nil {
			return
		}
		grp := cmp.Or(f.r.Tenant, "(unknown)") + " / " + cmp.Or(f.r.ModelRequested, "(unknown)")
		samples[metric+" "+grp] = append(samples[metric+" "+grp], *v/1e3)
	}
	for i := range rows {
		f := measure(&rows[i])
		if f.generation && !f.cached && (f.latency || f.status == "failed") {
			add(f, "ttft", f.ttft)
		}
		if f.latency {
			add(f, "ttfvt", f.ttfvt)
			add(f, "tpot", f.tpot)
			add(f, "e2e", f.e2e)
			add(f, "ntpot", f.ntpot)
			add(f, "max_gap", f.maxGap)
		}
		for j := range f.gaps {
			if !f.latency || f.whole {
				break
			}
			add(f, "chunk_gap", &f.gaps[j])
			for k := int64(0); f.tokens != nil && k < f.tokens[j]; k++ {
				add(f, "itl", trace.Ptr(f.gaps[j]/float64(f.tokens[j])))
			}
		}
	}
	checkPercentiles(t, samples, runQuery(t, e, run, "latency", Scope{By: []string{"tenant", "model"}}, nil))
}

func checkPercentiles(t *testing.T, samples map[string][]float64, rows []map[string]any) {
	t.Helper()
	seen := 0
	for _, row := range rows {
		v := samples[row["metric"].(string)+" "+row["grp"].(string)]
		if row["n"] != int64(len(v)) {
			t.Errorf("%v %v: n %v, want %d", row["metric"], row["grp"], row["n"], len(v))
		}
		if len(v) == 0 {
			continue
		}
		seen++
		for name, p := range map[string]float64{"p50": .5, "p90": .9, "p95": .95, "p99": .99, "p99_9": .999, "max": 1} {
			if got, want := *number(row[name]), type7(v, p); !near(got, want) {
				t.Errorf("%v %v, %s: got %v, want %v", row["metric"], row["grp"], name, got, want)
			}
		}
	}
	if seen != len(samples) {
		t.Errorf("%d groups with samples, want %d", seen, len(samples))
	}
}
