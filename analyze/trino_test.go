//go:build trino

package analyze

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"reprise/ingest/trace"
	"reprise/queries"
)

// These tests need a Trino node: make test-trino starts one. REPRISE_TRINO says where (http://USER@HOST:PORT), REPRISE_TRINO_RUNS is
// the folder that its catalog "run" reads. Without them they fail: a test that is not run must be seen.

// both are the two engines, as many pairs as there are cores, and runs that both can read.
type both struct {
	idle   chan *enginePair
	folder string
	mu     sync.Mutex
	runs   int
	matches
}

// enginePair is used by one test at a time. tables are the runs on Trino by name.
type enginePair struct {
	duck, trino *Engine
	tables      map[string]*Run
}

func newBoth(t *testing.T) *both {
	t.Helper()
	b := &both{idle: make(chan *enginePair, runtime.GOMAXPROCS(0)), folder: os.Getenv("REPRISE_TRINO_RUNS")}
	if b.folder == "" {
		t.Fatal("REPRISE_TRINO and REPRISE_TRINO_RUNS are not set: run make test-trino")
	}
	for range cap(b.idle) {
		b.idle <- &enginePair{newEngine(t), newTrino(t, "run/tests"), map[string]*Run{}}
	}
	return b
}

// take waits for a pair, which goes back at the end of the test.
func (b *both) take(t *testing.T) *enginePair {
	p := <-b.idle
	t.Cleanup(func() { b.idle <- p })
	return p
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
func (b *both) mount(t *testing.T, r *Run) string {
	t.Helper()
	p := <-b.idle
	defer func() { b.idle <- p }()
	b.mu.Lock()
	b.runs++
	name := fmt.Sprintf("r%d_%s", b.runs, p.trino.cluster.session)
	b.mu.Unlock()
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
	table, err := queries.ParseTable(name, p.trino.cluster.home)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range queries.Mount(table, "local:///"+name, len(r.metrics) > 0) {
		if _, err := p.trino.conn.ExecContext(context.Background(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return name
}

// table is the run of a name on Trino.
func (p *enginePair) table(t *testing.T, name string) *Run {
	if p.tables[name] == nil {
		r, err := OpenTable(name)
		if err != nil {
			t.Fatal(err)
		}
		p.tables[name] = r
	}
	return p.tables[name]
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

// compare asks both engines and reports each difference. It gives Trino's answer, nil without.
func (b *both) compare(t *testing.T, c comparison) *Result {
	t.Helper()
	p := b.take(t)
	want, err := p.duck.Query(context.Background(), c.here, c.name, c.scope, c.params)
	if err != nil {
		t.Fatalf("%s on DuckDB: %v", c.name, err)
	}
	got, err := p.trino.Query(context.Background(), p.table(t, c.there), c.name, c.scope, c.params)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		b.differences++
		t.Errorf("%s on Trino: %v", c.name, err)
		return nil
	}
	b.answers++
	b.rows += len(want.Rows)
	if d := difference(want, got); d != "" {
		b.differences++
		t.Errorf("%s: %s", c.name, d)
	}
	return got
}

// comparison is one question to both engines.
type comparison struct {
	name   string
	here   *Run
	there  string
	scope  Scope
	params map[string]string
}

// difference is the first that differs of the rows, the coverage and the warnings.
func difference(want, got *Result) string {
	if d := differentRow(want, got.Rows, "Trino"); d != "" {
		return d
	}
	got.Warnings = slices.DeleteFunc(got.Warnings, func(w Warning) bool { return w.Code == "replay_unseen" })
	if fmt.Sprint(want.Coverage) != fmt.Sprint(got.Coverage) || fmt.Sprint(want.Warnings) != fmt.Sprint(got.Warnings) {
		return fmt.Sprintf("coverage and warnings %v %v on DuckDB, %v %v on Trino", want.Coverage, want.Warnings, got.Coverage, got.Warnings)
	}
	return ""
}

// TestTrinoEveryQuery runs the whole catalogue over runs with everything odd on both engines.
func TestTrinoEveryQuery(t *testing.T) {
	b := newBoth(t)
	again := trace.Request{RequestID: "a", RootRequestID: "r1", Attempt: 2, SourceFormat: "other", Arrival: trace.Ptr(int64(400_000))}
	by := Scope{SLO: anySLO(t), By: []string{"tenant", "model"}}
	cut := Scope{SLO: anySLO(t), By: []string{"model"}, From: trace.Ptr(int64(200_000)), To: trace.Ptr(int64(40_000_000))}
	t.Run("runs", func(t *testing.T) {
		for _, c := range []struct {
			name  string
			rows  []trace.Request
			scope Scope
		}{
			{"odd", oddRequests(), by},
			{"cut", randomRequests(rand.New(rand.NewPCG(1, 2)), 300), cut},
			{"tried again, two formats", append(fullRequests(40), again), Scope{SLO: anySLO(t)}},
		} {
			here := writeRun(t, c.rows)
			there := b.mount(t, here)
			for _, name := range queries.Names() {
				t.Run(c.name+"/"+name, func(t *testing.T) {
					t.Parallel()
					b.compare(t, comparison{name, here, there, c.scope, nil})
				})
			}
		}
	})
	t.Logf("%d query files, %d answers, %d rows, %d differences", len(queries.Names()), b.answers, b.rows, b.differences)
}

// TestTrinoExamples runs the examples that were worked out by hand on Trino too: see TestExamples.
func TestTrinoExamples(t *testing.T) {
	b := newBoth(t)
	files, err := filepath.Glob("../testdata/queries/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	t.Run("files", func(t *testing.T) {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b.example(t, name, file)
			})
		}
	})
	t.Logf("%d files of examples, %d answers, %d rows, %d differences", len(files), b.answers, b.rows, b.differences)
}

func (b *both) example(t *testing.T, name, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := comparison{name: name}
	for _, f := range ar.Files {
		word, _, _ := strings.Cut(f.Name, " ")
		switch word {
		case "requests":
			c.here, c.there = writeRun(t, readTable(t, string(f.Data)).requests(t)), ""
		case "metrics":
			c.here, c.there = addMetrics(t, c.here, readTable(t, string(f.Data))), ""
		case "params":
			c.scope, c.params = readParams(t, string(f.Data))
		case "want", "has":
			if c.there == "" {
				c.there = b.mount(t, c.here)
			}
			t.Run(f.Name, func(t *testing.T) { b.check(t, c, word, readTable(t, string(f.Data))) })
		}
	}
}

// check compares Trino's answer with what the example says, and for a query all of it with DuckDB's.
func (b *both) check(t *testing.T, c comparison, word string, want table) {
	var got *Result
	if _, err := queries.Get(c.name); err == nil {
		if got = b.compare(t, c); got == nil {
			return
		}
	} else {
		p := b.take(t)
		var places []string
		for i := range want.names {
			places = append(places, fmt.Sprint(i+1))
		}
		res, err := p.trino.SQL(context.Background(), p.table(t, c.there), c.scope, "SELECT "+strings.Join(want.names, ", ")+" FROM "+c.name+" ORDER BY "+strings.Join(places, ", "))
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
