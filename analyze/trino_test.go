//go:build trino

package analyze

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"reprise/ingest/trace"
	"reprise/queries"
)

// These tests need a Trino node: make test-trino starts one. REPRISE_TRINO says where (http://USER@HOST:PORT), REPRISE_TRINO_RUNS is
// the folder that its catalog "run" reads. Without them they fail: a test that is not run must be seen.

// both are the two engines, and runs that both can read.
type both struct {
	duck, trino *Engine
	folder      string
	runs        int
}

func newBoth(t *testing.T) *both {
	t.Helper()
	folder := os.Getenv("REPRISE_TRINO_RUNS")
	if folder == "" {
		t.Fatal("REPRISE_TRINO and REPRISE_TRINO_RUNS are not set: run make test-trino")
	}
	return &both{newEngine(t), newTrino(t, "run/tests"), folder, 0}
}

func newTrino(t *testing.T, place string) *Engine {
	t.Helper()
	e, err := NewTrino(context.Background(), TrinoOptions{URL: trinoURL(t, place)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func trinoURL(t *testing.T, place string) string {
	u, err := url.Parse(os.Getenv("REPRISE_TRINO"))
	if err != nil || u.Host == "" {
		t.Fatalf("REPRISE_TRINO: expected http://USER@HOST:PORT, got %q: run make test-trino", os.Getenv("REPRISE_TRINO"))
	}
	return "trino://" + u.User.Username() + "@" + u.Host + "/" + place
}

// mount copies a run to where Trino reads, and makes a table of it.
func (b *both) mount(t *testing.T, r *Run) *Run {
	t.Helper()
	b.runs++
	name := fmt.Sprintf("r%d_%s", b.runs, strings.ToLower(b.trino.cluster.session))
	for _, part := range r.Parts {
		day := filepath.Base(filepath.Dir(part))
		if !strings.HasPrefix(day, "day=") {
			day = "day=unknown"
		}
		link(t, part, filepath.Join(b.folder, name, day, filepath.Base(part)))
	}
	for _, part := range r.metrics {
		link(t, part, filepath.Join(b.folder, name, "metrics", filepath.Base(part)))
	}
	table, err := queries.ParseTable(name, b.trino.cluster.home)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range queries.Mount(table, "local:///"+name, len(r.metrics) > 0) {
		if _, err := b.trino.conn.ExecContext(context.Background(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	there, err := b.trino.OpenTable(name)
	if err != nil {
		t.Fatal(err)
	}
	return there
}

func link(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// matches counts what was compared.
type matches struct{ answers, rows, differences int }

// compare asks both engines and reports each difference. It gives Trino's answer, nil without.
func (b *both) compare(t *testing.T, n *matches, here, there *Run, name string, sc Scope, params map[string]string) *Result {
	t.Helper()
	want, err := b.duck.Query(context.Background(), here, name, sc, params)
	if err != nil {
		t.Fatalf("%s on DuckDB: %v", name, err)
	}
	got, err := b.trino.Query(context.Background(), there, name, sc, params)
	if err != nil {
		n.differences++
		t.Errorf("%s on Trino: %v", name, err)
		return nil
	}
	n.answers++
	n.rows += len(want.Rows)
	if d := difference(want, got); d != "" {
		n.differences++
		t.Errorf("%s: %s", name, d)
	}
	return got
}

// difference is the first cell that differs: numbers that are whole on both sides exactly, others to 1e-9.
func difference(want, got *Result) string {
	if len(want.Rows) != len(got.Rows) {
		return fmt.Sprintf("%d rows on DuckDB, %d on Trino\n%v\n%v", len(want.Rows), len(got.Rows), want.Rows, got.Rows)
	}
	for i, row := range want.Rows {
		for j, w := range row {
			if !sameValue(w, got.Rows[i][j]) {
				return fmt.Sprintf("row %d, %s: %v (%T) on DuckDB, %v (%T) on Trino\n%v\n%v", i+1, want.Columns[j].Name, w, w, got.Rows[i][j], got.Rows[i][j], row, got.Rows[i])
			}
		}
	}
	got.Warnings = slices.DeleteFunc(got.Warnings, func(w Warning) bool { return w.Code == "replay_unseen" })
	if fmt.Sprint(want.Coverage) != fmt.Sprint(got.Coverage) || fmt.Sprint(want.Warnings) != fmt.Sprint(got.Warnings) {
		return fmt.Sprintf("coverage and warnings %v %v on DuckDB, %v %v on Trino", want.Coverage, want.Warnings, got.Coverage, got.Warnings)
	}
	return ""
}

func sameValue(a, b any) bool {
	switch a := a.(type) {
	case float64:
		f, ok := b.(float64)
		return ok && near(a, f)
	case []any:
		l, ok := b.([]any)
		same := ok && len(a) == len(l)
		for i := 0; same && i < len(a); i++ {
			same = sameValue(a[i], l[i])
		}
		return same
	}
	return a == b
}

// TestTrinoEveryQuery runs the whole catalogue over runs with everything odd on both engines.
func TestTrinoEveryQuery(t *testing.T) {
	b := newBoth(t)
	var n matches
	files := map[string]bool{}
	again := trace.Request{RequestID: "a", RootRequestID: "r1", Attempt: 2, SourceFormat: "other", Arrival: trace.Ptr(int64(400_000))}
	plain := Scope{SLO: anySLO(t)}
	by := Scope{SLO: anySLO(t), By: []string{"tenant", "model"}}
	cut := Scope{SLO: anySLO(t), By: []string{"model"}, From: trace.Ptr(int64(200_000)), To: trace.Ptr(int64(40_000_000))}
	for _, c := range []struct {
		name   string
		rows   []trace.Request
		scopes []Scope
	}{
		{"odd", oddRequests(), []Scope{plain, by}},
		{"random", randomRequests(rand.New(rand.NewPCG(1, 2)), 300), []Scope{by, cut}},
		{"tried again, two formats", append(fullRequests(40), again), []Scope{by}},
	} {
		t.Run(c.name, func(t *testing.T) {
			here := writeRun(t, c.rows)
			there := b.mount(t, here)
			for i, sc := range c.scopes {
				for _, name := range queries.Names() {
					t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
						files[name] = true
						b.compare(t, &n, here, there, name, sc, nil)
					})
				}
			}
		})
	}
	t.Logf("%d query files, %d answers, %d rows, %d differences", len(files), n.answers, n.rows, n.differences)
}

// oddRequests are streams as they come and what breaks figures: unknowns, failures, answers of one token, empty lists, values that
// are huge and tiny, and names that SQL could take for its own.
func oddRequests() []trace.Request {
	rows := fullRequests(30)
	set := func(i int, change func(r *trace.Request)) { change(&rows[i]) }
	set(1, func(r *trace.Request) {
		r.OutputTokens, r.ReasoningTokens, r.GapsUS, r.ChunkTokens = trace.Ptr(int64(1)), nil, []int32{200_000}, []int32{1}
	})
	set(2, func(r *trace.Request) { r.GapsUS, r.ChunkTokens, r.PrefixHashIDs = []int32{}, []int32{}, []int64{} })
	set(3, func(r *trace.Request) {
		r.GapsUS, r.ChunkTokens, r.FirstUS, r.LastUS, r.EndUS = nil, nil, nil, nil, nil
	})
	set(4, func(r *trace.Request) { r.ErrorClass, r.HTTPStatus = "timeout", nil })
	set(5, func(r *trace.Request) {
		r.ErrorClass, r.FirstUS, r.GapsUS, r.ChunkTokens = "client_cancel", nil, nil, nil
	})
	set(6, func(r *trace.Request) {
		r.EndUS, r.LastUS = trace.Ptr(int64(3_000_000_000_000)), trace.Ptr(int64(3_000_000_000_000))
	})
	set(7, func(r *trace.Request) {
		r.FirstUS, r.LastUS, r.EndUS, r.GapsUS, r.ChunkTokens = trace.Ptr(int64(1)), trace.Ptr(int64(3)), trace.Ptr(int64(3)), []int32{1, 1, 1}, []int32{1, 1, 1}
	})
	set(8, func(r *trace.Request) {
		r.InputTokens, r.OutputTokens, r.CachedInputTokens = trace.Ptr(int64(1_000_000_000_000)), trace.Ptr(int64(0)), trace.Ptr(int64(999_999_999_999))
	})
	set(9, func(r *trace.Request) { r.Tenant, r.ModelRequested, r.Replica = "it's \"t\"; --", "", "" })
	set(10, func(r *trace.Request) { r.Arrival, r.ClockDomain = nil, trace.Relative })
	set(11, func(r *trace.Request) {
		r.Stream, r.FirstUS, r.GapsUS, r.ChunkTokens, r.LastUS = trace.Ptr(false), nil, nil, nil, nil
	})
	set(12, func(r *trace.Request) { r.EndpointKind, r.Quality = "embeddings", "" })
	set(13, func(r *trace.Request) { r.Quality, r.CachedResponse = "pseudo_stream,tokens_missing", trace.Ptr(true) })
	set(14, func(r *trace.Request) {
		r.GapsUS, r.ChunkTokens = []int32{200_000, 0, 0, 700_000, 40_000}, []int32{1, 1, 5, 1, 12_000}
	})
	set(15, func(r *trace.Request) { r.Tenant, r.FinishReason, r.SessionID = "ünïcödé", "length", "" })
	set(16, func(r *trace.Request) { r.ErrorClass, r.SystemPromptTokens, r.SystemPromptHash = "in_flight", nil, "" })
	set(17, func(r *trace.Request) {
		r.InputTokens, r.CachedInputTokens, r.OutputTokens, r.QueueUS = nil, nil, nil, nil
	})
	set(18, func(r *trace.Request) { r.GapsUS = []int32{200_000, 2_147_483_647, 40_000, 620_000, 40_000} })
	return rows
}

// TestTrinoExamples runs the examples that were worked out by hand on Trino too: see TestExamples.
func TestTrinoExamples(t *testing.T) {
	b := newBoth(t)
	var n matches
	files, err := filepath.Glob("../testdata/queries/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) { b.example(t, &n, name, file) })
	}
	t.Logf("%d files of examples, %d answers, %d rows, %d differences", len(files), n.answers, n.rows, n.differences)
}

func (b *both) example(t *testing.T, n *matches, name, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var here, there *Run
	var sc Scope
	params := map[string]string{}
	for _, f := range ar.Files {
		word, _, _ := strings.Cut(f.Name, " ")
		switch word {
		case "requests":
			here, there = writeRun(t, readTable(t, string(f.Data)).requests(t)), nil
		case "metrics":
			here, there = addMetrics(t, here, readTable(t, string(f.Data))), nil
		case "params":
			sc, params = readParams(t, string(f.Data))
		case "want", "has":
			if there == nil {
				there = b.mount(t, here)
			}
			t.Run(f.Name, func(t *testing.T) {
				b.check(t, n, exampleCase{name, here, there, sc, params}, word, readTable(t, string(f.Data)))
			})
		}
	}
}

type exampleCase struct {
	name        string
	here, there *Run
	scope       Scope
	params      map[string]string
}

// check compares Trino's answer with what the example says, and for a query all of it with DuckDB's.
func (b *both) check(t *testing.T, n *matches, c exampleCase, word string, want table) {
	var got *Result
	if _, err := queries.Get(c.name); err == nil {
		if got = b.compare(t, n, c.here, c.there, c.name, c.scope, c.params); got == nil {
			return
		}
	} else {
		var places []string
		for i := range want.names {
			places = append(places, fmt.Sprint(i+1))
		}
		res, err := b.trino.SQL(context.Background(), c.there, c.scope, "SELECT "+strings.Join(want.names, ", ")+" FROM "+c.name+" ORDER BY "+strings.Join(places, ", "))
		if err != nil {
			t.Fatal(err)
		}
		got = res
	}
	if word == "has" {
		checkHas(t, cells(t, got, want.names), want)
	} else {
		checkWant(t, cells(t, got, want.names), want)
	}
}
