package analyze

import (
	"fmt"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

// TestShift: moving all arrivals changes no latency, verdict or share (metrics.md 9).
func TestShift(t *testing.T) {
	e := newEngine(t)
	rows := randomRequests(rand.New(rand.NewPCG(11, 1)), 400)
	moved := make([]trace.Request, len(rows))
	for i := range rows {
		moved[i] = rows[i]
		if rows[i].Arrival != nil {
			moved[i].Arrival = trace.Ptr(*rows[i].Arrival + 1_795_961_911_000_000)
		}
	}
	sc := Scope{SLO: anySLO(t), By: []string{"tenant"}}
	before, after := writeRun(t, rows), writeRun(t, moved)
	for _, name := range []string{"latency", "token_gaps", "goodput", "errors", "lengths", "concurrency", "prefix_cache", "coverage"} {
		if diff := gocmp.Diff(runQuery(t, e, before, name, sc, nil), runQuery(t, e, after, name, sc, nil), gocmp.Comparer(near)); diff != "" {
			t.Errorf("%s changes with the time of day:\n%s", name, diff)
		}
	}
}

// TestFailuresNeverHelp: more failed requests never raise goodput or attainment, and never lower a percentile when they
// count as infinitely slow (metrics.md 9).
func TestFailuresNeverHelp(t *testing.T) {
	e := newEngine(t)
	rng := rand.New(rand.NewPCG(12, 1))
	rows := randomRequests(rng, 300)
	worse := rows
	for i := range 60 {
		worse = append(worse, trace.Request{RequestID: fmt.Sprint("failed", i), RootRequestID: fmt.Sprint("failed", i), Attempt: 1, ErrorClass: trace.ClassUpstream,
			Stream: trace.Ptr(true), SourceFormat: "test", Tenant: maybeText(rng, "x", "y", "z"), Arrival: trace.Ptr(rng.Int64N(60_000_000)), EndUS: trace.Ptr(int64(5))})
	}
	to := int64(60_000_000)
	sc := Scope{SLO: anySLO(t), By: []string{"tenant"}, From: trace.Ptr(int64(0)), To: &to}
	good, bad := writeRun(t, rows), writeRun(t, worse)
	before, after := runQuery(t, e, good, "goodput", sc, nil), runQuery(t, e, bad, "goodput", sc, nil)
	for i, row := range before {
		for _, column := range []string{"good", "attainment", "ttft_attainment", "goodput_per_s", "token_goodput_per_s"} {
			if *number(after[i][column]) > *number(row[column]) {
				t.Errorf("%v: %s rose from %v to %v", row["grp"], column, row[column], after[i][column])
			}
		}
		if after[i]["attainment"] == row["attainment"] && *number(row["attainment"]) > 0 {
			t.Errorf("%v: attainment stays at %v", row["grp"], row["attainment"])
		}
	}
	inf := map[string]string{"failures": "inf"}
	before, after = runQuery(t, e, good, "latency", sc, inf), runQuery(t, e, bad, "latency", sc, inf)
	for i, row := range before {
		for _, p := range []string{"p50", "p90", "p99"} {
			was, is := number(row[p]), number(after[i][p])
			if was == nil && is != nil && row["n"].(int64) > 0 || was != nil && is != nil && *is < *was {
				t.Errorf("%v %v: %s fell from %v to %v", row["grp"], row["metric"], p, row[p], after[i][p])
			}
		}
	}
}

// TestPartsMakeTheWhole: what is added up by tenant is what is counted without.
func TestPartsMakeTheWhole(t *testing.T) {
	e := newEngine(t)
	run := writeRun(t, randomRequests(rand.New(rand.NewPCG(13, 1)), 400))
	for name, columns := range map[string][]string{
		"goodput":     {"n", "good", "bad", "unevaluable", "excluded", "client_errors", "goodput_per_s", "token_goodput_per_s", "delivered_per_s"},
		"overview":    {"n", "calls", "ok", "failed", "streamed", "arrivals_per_s", "input_tokens", "output_tokens"},
		"concurrency": {"n", "n_total", "mean"},
	} {
		whole := runQuery(t, e, run, name, Scope{SLO: anySLO(t)}, nil)[0]
		for _, c := range columns {
			sum := 0.0
			for _, row := range runQuery(t, e, run, name, Scope{SLO: anySLO(t), By: []string{"tenant", "model"}}, nil) {
				sum += *number(row[c])
			}
			if !near(sum, *number(whole[c])) {
				t.Errorf("%s: %s is %v, its parts make %v", name, c, whole[c], sum)
			}
		}
	}
}

// TestUnionOfGroups is EX-2.3: the P99 of 1000 calls of 10 ms and 10 of 1000 ms is 10, not the mean of theirs, 505.
func TestUnionOfGroups(t *testing.T) {
	e := newEngine(t)
	rows := make([]trace.Request, 1010)
	for i := range rows {
		rows[i] = at(int64(i))
		rows[i].Tenant, rows[i].EndUS = "quick", trace.Ptr(int64(10_000))
		if i >= 1000 {
			rows[i].Tenant, rows[i].EndUS = "slow", trace.Ptr(int64(1_000_000))
		}
	}
	run := writeRun(t, rows)
	for _, row := range runQuery(t, e, run, "latency", Scope{}, nil) {
		if row["metric"] == "e2e" && *number(row["p99"]) != 10 {
			t.Errorf("p99 %v, want 10", row["p99"])
		}
	}
	for _, row := range runQuery(t, e, run, "latency", Scope{By: []string{"tenant"}}, nil) {
		if want := map[any]float64{"quick": 10, "slow": 1000}[row["grp"]]; row["metric"] == "e2e" && *number(row["p99"]) != want {
			t.Errorf("%v: p99 %v, want %v", row["grp"], row["p99"], want)
		}
	}
}
