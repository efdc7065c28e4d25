//go:build trino

package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/trinodb/trino-go-client/trino"
)

const trinoSLO = "ttft<=1s,tpot<=60ms@99%"

// TestTrinoReports makes every report by DuckDB from folders and by Trino from tables, and compares them value by value: of the demo's
// recording (a log and spans of one traffic), of what clients saw of four runs, with stalls, and of a month with planted
// incidents. The tables are made by the statements that reprise sql --mount prints.
func TestTrinoReports(t *testing.T) {
	c := newCluster(t)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	made := map[string]bool{}
	data := testdata(t)
	t.Chdir(c.folder)
	values, differences := 0, 0
	for _, line := range []string{
		"report weekly demo", "compare demo demo", "report incident demo", "analyze demo",
		"report weekly client", "report incident client", "analyze client", "analyze vllm",
		"compare aa candidate", "report compare aa candidate --aa client",
		"report weekly month", "report incident month", "analyze month",
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			for _, word := range args {
				if !made[word] && (recordings[word] != "" || word == "month") {
					c.make(t, word, data)
					made[word] = true
				}
			}
			args = append(args, "--format", "json", "--slo", trinoSLO)
			begin := time.Now()
			here := reprise(t, args...)
			mid := time.Now()
			there := reprise(t, append(args, "--engine", c.engine)...)
			n, d := sameJSON(decoded(t, here), decoded(t, there), "")
			values += n
			if d != "" {
				differences++
				t.Error(d)
			}
			t.Logf("%d values, %.1f s on DuckDB, %.1f s on Trino", n, mid.Sub(begin).Seconds(), time.Since(mid).Seconds())
		})
	}
	t.Logf("%d values compared, %d differences", values, differences)
}

// recordings are the logs that the runs of the reports are made of.
var recordings = map[string]string{"demo": "demo/baseline.litellm.jsonl.zst demo/baseline.spans.jsonl.zst", "client": "truth/baseline.jsonl.gz",
	"vllm": "truth/vllm-baseline.jsonl.gz truth/vllm-baseline.spans.jsonl.gz", "aa": "compare/aa.jsonl.gz", "candidate": "compare/candidate.jsonl.gz"}

// make makes a run and its table.
func (c *cluster) make(t *testing.T, name, data string) {
	t.Helper()
	if name == "month" {
		writeRows(t, name, newMonth(t, 16).rows)
	} else {
		args := []string{"ingest", "-o", name}
		for log := range strings.FieldsSeq(recordings[name]) {
			args = append(args, filepath.Join(data, log))
		}
		reprise(t, args...)
	}
	c.mount(t, name)
}

// TestTrinoReadOnly: where no table can be made, joined rows are worked out in each statement.
func TestTrinoReadOnly(t *testing.T) {
	c := newCluster(t)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	data := testdata(t)
	t.Chdir(c.folder)
	c.make(t, "vllm", data)
	overview := []string{"query", "overview", "vllm", "--format", "json"}
	noTables := append(slices.Clone(overview), "--engine", c.engine+"?scratch=system.information_schema")
	if _, d := sameJSON(decoded(t, reprise(t, overview...)), decoded(t, reprise(t, noTables...)), ""); d != "" {
		t.Error(d)
	}
}

// TestTrinoErrors says what went wrong where a person can do something about it.
func TestTrinoErrors(t *testing.T) {
	c := newCluster(t)
	for _, f := range []struct {
		name, engine, table, want string
	}{
		{"no server", "trino://ci@127.0.0.1:1/run/tests", "x", "no Trino answers at 127.0.0.1:1"},
		{"no catalog", strings.Replace(c.engine, "/run/", "/nosuch/", 1), "x", "no such catalog: "},
		{"no table", c.engine, "nosuch", "reprise sql --mount"},
		{"no partition", c.engine, "unsynced", "sync_partition_metadata('tests', 'unsynced', 'FULL')"},
		{"a folder", c.engine, "a/b", "expected a table"},
		{"password without TLS", c.engine, "x", "goes over TLS only"},
	} {
		t.Run(f.name, func(t *testing.T) {
			if f.name == "no partition" {
				if err := os.MkdirAll(filepath.Join(c.folder, "unsynced"), 0o755); err != nil {
					t.Fatal(err)
				}
				c.exec(t, mountStatements(t, "local:///unsynced", "unsynced")[:2])
			}
			if f.name == "password without TLS" {
				t.Setenv(passwordVariable, "secret")
			}
			var out, talk bytes.Buffer
			a := &app{in: strings.NewReader(""), out: &out, err: &talk}
			if code := a.run(context.Background(), []string{"query", "overview", f.table, "--engine", f.engine}); code == exitOK {
				t.Errorf("exit code 0, want an error")
			}
			if !strings.Contains(talk.String(), f.want) || strings.Contains(talk.String(), "secret") {
				t.Errorf("got %q, want %q in it", talk.String(), f.want)
			}
		})
	}
}

// cluster is the node that make test-trino started.
type cluster struct {
	engine, folder string
	db             *sql.DB
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	server, folder := os.Getenv("REPRISE_TRINO"), os.Getenv("REPRISE_TRINO_RUNS")
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || folder == "" {
		t.Fatal("REPRISE_TRINO and REPRISE_TRINO_RUNS are not set: run make test-trino")
	}
	db, err := sql.Open("trino", server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &cluster{"trino://" + u.User.Username() + "@" + u.Host + "/run/tests", folder, db}
}

// testdata is the shared folder of data, wherever the test goes.
func testdata(t *testing.T) string {
	t.Helper()
	data, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// mountStatements are those that reprise sql --mount prints.
func mountStatements(t *testing.T, location, name string) []string {
	text := reprise(t, "sql", "--mount", location, "--table", "run.tests."+name)
	var out []string
	for s := range strings.SplitSeq(text, ";\n") {
		if s = strings.TrimSpace(s); s != "" && !strings.HasPrefix(s, "--") {
			out = append(out, s)
		}
	}
	return out
}

func (c *cluster) mount(t *testing.T, name string) {
	c.exec(t, mountStatements(t, "local:///"+name, name))
}

func (c *cluster) exec(t *testing.T, statements []string) {
	t.Helper()
	for _, s := range statements {
		if _, err := c.db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// reprise runs a command line and gives its output; a gate that fails is an answer too.
func reprise(t *testing.T, args ...string) string {
	t.Helper()
	var out, talk bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, err: &talk, quiet: true}
	if code := a.run(context.Background(), args); code != exitOK && code != exitGate {
		t.Fatalf("reprise %s: exit code %d: %s", strings.Join(args, " "), code, talk.String())
	}
	return out.String()
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

// sameJSON counts the values of both and gives the first place where they differ: whole numbers exactly, others to 1e-9.
// The statements differ, since each is of its engine.
func sameJSON(a, b any, at string) (n int, difference string) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return n, fmt.Sprintf("%s: %.300v on DuckDB, %.300v on Trino", at, a, b)
		}
		for k, v := range x {
			if k == "sql" {
				continue
			}
			m, d := sameJSON(v, y[k], at+"."+k)
			if n += m; d != "" {
				return n, d
			}
		}
		return n, ""
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return n, fmt.Sprintf("%s: %.600v on DuckDB, %.600v on Trino", at, a, b)
		}
		for i, v := range x {
			m, d := sameJSON(v, y[i], fmt.Sprintf("%s[%d]", at, i))
			if n += m; d != "" {
				return n, d
			}
		}
		return n, ""
	case string: // fits are JSON within a text
		if y, ok := b.(string); ok && x != y && strings.HasPrefix(x, "[{") {
			var list, other any
			if json.Unmarshal([]byte(x), &list) == nil && json.Unmarshal([]byte(y), &other) == nil {
				return sameJSON(list, other, at)
			}
		}
	case float64:
		if y, ok := b.(float64); ok && near(x, y) {
			return 1, ""
		}
	case json.Number:
		if y, ok := b.(json.Number); ok && x != y && strings.ContainsAny(string(x)+string(y), ".e") {
			f, _ := x.Float64()
			g, _ := y.Float64()
			if near(f, g) {
				return 1, ""
			}
		}
	}
	if a != b {
		return 1, fmt.Sprintf("%s: %v on DuckDB, %v on Trino", at, a, b)
	}
	return 1, ""
}
