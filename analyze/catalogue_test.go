package analyze

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
	"reprise/queries"
)

const anyTerms = "ttft<=450ms,ttfvt<=450ms,tpot<=40ms,e2e<=10s,max_gap<=250ms"

// anySLO has every term, so that every branch of the verdict is in the statement.
func anySLO(t testing.TB) SLO {
	t.Helper()
	slo, err := ParseSLO(anyTerms)
	if err != nil {
		t.Fatal(err)
	}
	return slo
}

// TestEveryQuery runs the whole catalogue on an empty run, a run of unknowns and one request, grouped and not. The
// engine checks that the columns are those of the header; here the rows must be of known kinds and the statement must
// leave nothing of a template.
func TestEveryQuery(t *testing.T) {
	e := newEngine(t)
	all := Scope{SLO: anySLO(t)}
	cut := Scope{SLO: anySLO(t), By: queries.Dimensions(), From: trace.Ptr(int64(0)), To: trace.Ptr(int64(1_000_000_000_000))}
	again := trace.Request{RequestID: "a", RootRequestID: "r1", Attempt: 2, SourceFormat: "other", Arrival: trace.Ptr(int64(400_000))}
	for _, c := range []struct {
		name  string
		rows  []trace.Request
		scope Scope
		seen  int64
	}{
		{"empty", nil, all, 0},
		{"unknown", []trace.Request{{RequestID: "a", RootRequestID: "a", Attempt: 1}, {RequestID: "b", RootRequestID: "b", Attempt: 1}}, all, 2},
		{"one", fullRequests(1), all, 1},
		{"tried again, two formats", append(fullRequests(5), again), cut, 6},
	} {
		run := writeRun(t, c.rows)
		for _, name := range queries.Names() {
			res, err := e.Query(context.Background(), run, name, c.scope, nil)
			if err != nil {
				t.Errorf("%s, %s: %v", name, c.name, err)
			} else if res.Coverage.Requests != c.seen {
				t.Errorf("%s, %s: %+v, want %d requests", name, c.name, res.Coverage, c.seen)
			}
		}
	}
}

// fullRequests are streams of a second with every field known.
func fullRequests(n int) []trace.Request {
	var rows []trace.Request
	for i := range n {
		at := int64(i) * 100_000
		r := trace.Request{RequestID: fmt.Sprint("r", i), RootRequestID: fmt.Sprint("r", i), Attempt: 1, SessionID: "s", Turn: trace.Ptr(int32(i)),
			Arrival: &at, FirstUS: trace.Ptr(int64(200_000)), FirstVisibleUS: trace.Ptr(int64(240_000)), HeadersUS: trace.Ptr(int64(9)),
			LastUS: trace.Ptr(int64(940_000)), EndUS: trace.Ptr(int64(1_000_000)), SendLagUS: trace.Ptr(int64(3)), QueueUS: trace.Ptr(int64(50_000)),
			PrefillUS: trace.Ptr(int64(100_000)), DecodeUS: trace.Ptr(int64(740_000)), GapsUS: []int32{200_000, 40_000, 40_000, 620_000, 40_000},
			ChunkTokens: []int32{1, 1, 2, 1, 3}, TTFTKind: trace.TTFTContent, Vantage: trace.Client, ClockDomain: trace.Wall, TimePrecision: 1,
			ErrorClass: trace.ClassOK, HTTPStatus: trace.Ptr(int32(200)), FinishReason: "stop", EndpointKind: "chat", Stream: trace.Ptr(true),
			CachedResponse: trace.Ptr(false), ModelRequested: "m", ModelServed: "m-1", Provider: "p", Deployment: "d", Replica: "r1", Tenant: "t", App: "a",
			Route: "/", KeyHash: "k", UserHash: "u", InputTokens: trace.Ptr(int64(1300)), CachedInputTokens: trace.Ptr(int64(512)),
			OutputTokens: trace.Ptr(int64(8)), ReasoningTokens: trace.Ptr(int64(1)), MaxTokens: trace.Ptr(int64(99)), TokensSource: "usage",
			SystemPromptTokens: trace.Ptr(int64(400)), SystemPromptHash: "h", PrefixHashIDs: []int64{1, 2, 3}, PrefixBlockTokens: trace.Ptr(int32(512)),
			SourceFormat: "test", SourceFile: "f", SourceLine: int64(i), Quality: "ttft_suspect"}
		rows = append(rows, r)
	}
	return rows
}

// TestOrderOfRowsDoesNotMatter: the same rows in another order, in another number of parts and with another number of
// threads give the same answer to every query (metrics.md 9).
func TestOrderOfRowsDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := randomRequests(rng, 300)
	one := writeRun(t, rows)
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	two := &Run{Path: "two", Parts: append(writeRun(t, rows[:120]).Parts, writeRun(t, rows[120:]).Parts...)}
	single, err := NewEngine(context.Background(), EngineOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer single.Close()
	many := newEngine(t)
	sc := Scope{SLO: anySLO(t), By: []string{"tenant", "model"}}
	for _, name := range queries.Names() {
		want, err := many.Query(context.Background(), one, name, sc, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := single.Query(context.Background(), two, name, sc, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want.Rows, got.Rows, gocmp.Comparer(near)); diff != "" {
			t.Errorf("%s: rows in another order give another answer:\n%s", name, diff)
		}
	}
}

// TestSameBytes: several threads over several row groups give the very same numbers every time.
func TestSameBytes(t *testing.T) {
	path := t.TempDir() + "/part.parquet"
	two := newEngine(t)
	if _, err := two.conn.ExecContext(context.Background(), fmt.Sprintf(rawRows, 200_000, path, 4096)); err != nil {
		t.Fatal(err)
	}
	run, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var first [][]any
	for i := range 6 {
		res, err := two.Query(context.Background(), run, "latency_over_time", Scope{By: []string{"model"}}, map[string]string{"metric": "tpot", "bin_us": "86400000000"})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = res.Rows
		} else if diff := gocmp.Diff(first, res.Rows); diff != "" {
			t.Errorf("the same query gives other numbers:\n%.500s", diff)
		}
	}
}
