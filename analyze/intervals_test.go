package analyze

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reprise/analyze/stats"
	"reprise/ingest/trace"
)

// waits are n unstreamed calls of a tenant that took 1, 2, 3 ... n ms, one each second.
func waits(tenant string, n int) []trace.Request {
	var rows []trace.Request
	for i := range n {
		id := fmt.Sprint(tenant, i)
		rows = append(rows, trace.Request{RequestID: id, RootRequestID: id, Attempt: 1, Tenant: tenant, Arrival: trace.Ptr(int64(i) * 1e6),
			EndUS: trace.Ptr(int64(i+1) * 1000), Stream: trace.Ptr(false), ErrorClass: trace.ClassOK, Vantage: trace.Client, ClockDomain: trace.Wall})
	}
	return rows
}

// TestIntervalExamples is EX-2.4: the value of rank k is k ms.
func TestIntervalExamples(t *testing.T) {
	rows := slices.Concat(waits("100", 100), waits("300", 300), waits("1000", 1000), waits("10000", 10000))
	got := map[string]map[string]any{}
	for _, row := range runQuery(t, newEngine(t), writeRun(t, rows), "latency_ci", Scope{By: []string{"tenant"}}, nil) {
		got[row["grp"].(string)] = row
	}
	for _, c := range []struct {
		n, column string
		want      any
	}{
		{"100", "p50_lo", 40.}, {"100", "p50_hi", 61.}, {"1000", "p95_lo", 936.}, {"1000", "p95_hi", 964.}, {"1000", "p99_lo", 983.}, {"1000", "p99_hi", 997.},
		{"10000", "p99_lo", 9880.}, {"10000", "p99_hi", 9920.}, {"300", "p99_lo", 293.}, {"300", "p99_hi", nil},
		{"100", "supported", .9}, {"1000", "supported", .99}, {"10000", "supported", .999},
	} {
		if got[c.n][c.column] != c.want {
			t.Errorf("%s of %s: got %v, want %v", c.column, c.n, got[c.n][c.column], c.want)
		}
	}
}

// TestType1AgainstSorting holds the quantile stage, plain and weighted, against sorting.
func TestType1AgainstSorting(t *testing.T) {
	var rows []trace.Request
	for _, n := range []int{1, 2, 3, 7, 10, 20, 40, 100, 101, 200, 300, 1000, 2000} {
		rows = append(rows, waits(fmt.Sprint(n), n)...)
	}
	for i := range rows {
		rows[i].OutputTokens = trace.Ptr(int64(3))
	}
	e, run, by := newEngine(t), writeRun(t, rows), Scope{By: []string{"tenant"}}
	for query, weight := range map[string]int{"latency": 1, "latency_weighted": 3} {
		params := map[string]string{}
		if weight == 1 {
			params["quantile_type"] = "1"
		}
		for _, row := range runQuery(t, e, run, query, by, params) {
			if row["metric"] != "e2e" {
				continue
			}
			n, _ := strconv.Atoi(row["grp"].(string))
			var x []float64
			for i := range n * weight {
				x = append(x, float64(i/weight+1))
			}
			for _, q := range intervalPercentiles {
				if want := stats.Quantile1(x, q.p); row[q.name] != want {
					t.Errorf("%s, %s of %d: got %v, want %v", query, q.name, n, row[q.name], want)
				}
			}
		}
	}
}

// TestCountingAgainstSorting: what counts weights gives the type 7 percentiles that the engine's own function gives.
func TestCountingAgainstSorting(t *testing.T) {
	e := newEngine(t)
	run := writeRun(t, randomRequests(rand.New(rand.NewPCG(5, 5)), 2000))
	by := Scope{By: []string{"tenant", "model"}}
	counted := runQuery(t, e, run, "latency_as", by, map[string]string{"definition": "reprise"})
	sorted := runQuery(t, e, run, "latency", by, nil)
	if len(counted) != len(sorted) {
		t.Fatalf("%d rows, want %d", len(counted), len(sorted))
	}
	for i, want := range sorted {
		for column, v := range want {
			if f, ok := v.(float64); ok && near(counted[i][column].(float64), f) {
				continue
			}
			if counted[i][column] != v {
				t.Errorf("%v %v %s: got %v, want %v", want["metric"], want["grp"], column, counted[i][column], v)
			}
		}
	}
}

// TestBlockIntervals: one slow minute in six moves the interval by blocks, which ranks do not see; the percentile lies in it,
// the same seed gives the same ends, and a log too short says so.
func TestBlockIntervals(t *testing.T) {
	rows := waits("a", 3600)
	for i := range rows {
		wait := int64(100_000 + i%7*1000)
		if i/60%6 == 0 {
			wait *= 3
		}
		rows[i].EndUS = &wait
	}
	e, run := newEngine(t), writeRun(t, rows)
	ask := func(params map[string]string) *Result {
		t.Helper()
		res, err := e.Query(context.Background(), run, "latency_ci", Scope{}, params)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	cell := func(res *Result, column string) float64 { return res.Rows[0][res.at(column)].(float64) }
	ranks, blocks, again := ask(nil), ask(map[string]string{"method": "blocks"}), ask(map[string]string{"method": "blocks"})
	for i := range blocks.Rows[0] {
		if blocks.Rows[0][i] != again.Rows[0][i] {
			t.Errorf("%s: %v, then %v", blocks.Columns[i].Name, blocks.Rows[0][i], again.Rows[0][i])
		}
	}
	// slow calls are a sixth: P90 is a slow one, P50 is not; between 6 and 30 % of slow minutes P90 may be either
	if lo, hi := cell(ranks, "p90_lo"), cell(ranks, "p90_hi"); lo < 300 || hi-lo > 10 {
		t.Errorf("ranks: P90 from %v to %v", lo, hi)
	}
	if lo, hi := cell(blocks, "p90_lo"), cell(blocks, "p90_hi"); lo > 110 || hi < 300 {
		t.Errorf("blocks: P90 from %v to %v", lo, hi)
	}
	if v := blocks.Rows[0][blocks.at("p99_9_hi")]; v != nil {
		t.Errorf("P99.9 of 3600 has no upper end, got %v", v)
	}
	to := int64(200e6)
	short, err := e.Query(context.Background(), run, "latency_ci", Scope{To: &to}, map[string]string{"method": "blocks"})
	if err != nil {
		t.Fatal(err)
	}
	if short.Rows[0][short.at("p50_lo")] != nil || len(short.Warnings) != 1 || short.Warnings[0].Code != "few_blocks" ||
		short.Warnings[0].Message != "the samples span 199 s, less than 5 blocks of 60 s: no interval by blocks" {
		t.Errorf("%v %v", short.Rows, short.Warnings)
	}
}

// TestHistogramAddsUp: over groups and minutes the counts are those of the whole, and a percentile from the sums is within
// 1 % of the exact one.
func TestHistogramAddsUp(t *testing.T) {
	e := newEngine(t)
	run := writeRun(t, randomRequests(rand.New(rand.NewPCG(8, 8)), 3000))
	type bucket struct{ lower, value, n float64 }
	sums := func(sc Scope, bin string) map[string]map[int64]bucket {
		out := map[string]map[int64]bucket{}
		for _, row := range runQuery(t, e, run, "latency_histogram", sc, map[string]string{"bin_us": bin}) {
			metric := row["metric"].(string)
			if out[metric] == nil {
				out[metric] = map[int64]bucket{}
			}
			b := out[metric][row["bucket"].(int64)]
			out[metric][row["bucket"].(int64)] = bucket{row["lower_ms"].(float64), row["value_ms"].(float64), b.n + float64(row["n"].(int64))}
		}
		return out
	}
	parts, whole := sums(Scope{By: []string{"tenant"}}, "60000000"), sums(Scope{}, "1000000000000000")
	for _, row := range runQuery(t, e, run, "latency", Scope{}, map[string]string{"quantile_type": "1"}) {
		metric := row["metric"].(string)
		if len(parts[metric]) != len(whole[metric]) {
			t.Errorf("%s: %d buckets from the parts, %d of the whole", metric, len(parts[metric]), len(whole[metric]))
		}
		var x, w []float64
		var keys []int64
		for i, b := range whole[metric] {
			if parts[metric][i] != b {
				t.Errorf("%s, bucket %d: parts %v, whole %v", metric, i, parts[metric][i], b)
			}
			keys = append(keys, i)
		}
		slices.Sort(keys)
		for _, i := range keys {
			x, w = append(x, parts[metric][i].value), append(w, parts[metric][i].n)
		}
		for _, q := range intervalPercentiles {
			exact, ok := row[q.name].(float64)
			if got := stats.WeightedQuantile1(x, w, q.p); ok && exact > .001 && math.Abs(got-exact) > .0100001*exact {
				t.Errorf("%s %s: %v from the histogram, %v exactly", metric, q.name, got, exact)
			}
		}
	}
	if len(whole) < 6 || !strings.Contains(fmt.Sprint(whole), "itl") {
		t.Errorf("metrics: %d", len(whole))
	}
}

// TestPictureTurns: the whole picture shows turns where a session has more than one call.
func TestPictureTurns(t *testing.T) {
	e, rows := newEngine(t), fullRequests(2)
	for _, want := range []bool{true, false} {
		p, err := e.Picture(context.Background(), writeRun(t, rows), Scope{SLO: anySLO(t)})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Results["ttft_by_turn"] != nil; got != want {
			t.Errorf("ttft_by_turn: %v, want %v", got, want)
		}
		rows[1].SessionID = "another"
	}
}

// Every cell has 19 calls that waited 1 ms and one without an end, so each resample of 100 cells has 2,000 and P95 lies a twentieth of the way from 1 ms to
// for ever: for ever, and not a large number.
func TestBlocksBeyondTheLast(t *testing.T) {
	var group []timedSample
	for i := range 2000 {
		wait := 1000.0
		if i%20 == 0 {
			wait = math.Inf(1)
		}
		group = append(group, timedSample{int64(i/20) * 1000, wait})
	}
	found := blockEstimates(group, 0, 99_000, 1000)
	res := &Result{Columns: []Column{}}
	row := []any{}
	for _, q := range intervalPercentiles {
		res.Columns, row = append(res.Columns, Column{Name: q.name + "_lo"}, Column{Name: q.name + "_hi"}), append(row, 1.0, 1.0)
	}
	res.setIntervals(row, found)
	if want := []any{1.0, 1.0, 1.0, 1.0, nil, nil, nil, nil, nil, nil}; !slices.Equal(want, row) {
		t.Errorf("p50, p90, p95, p99, p99.9: %v, want %v", row, want)
	}
}
