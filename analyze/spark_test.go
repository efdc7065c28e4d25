//go:build spark

package analyze

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"reprise/ingest/trace"
	"reprise/queries"
)

// The test needs a Spark: make test-spark fetches one. REPRISE_BIN is the program, whose text is what is tested, REPRISE_SPARK the command of
// the session that runs it, after its Python .ci/spark.py. Without them it fails: a test that is not run must be seen.

// TestSparkEveryQuery pastes what reprise sql prints of the whole catalogue into Spark, over runs with everything odd, and compares all
// rows with DuckDB's.
func TestSparkEveryQuery(t *testing.T) {
	s, duck, m := startSpark(t), newEngine(t), matches{}
	again := trace.Request{RequestID: "a", RootRequestID: "r1", Attempt: 2, SourceFormat: "other", Arrival: trace.Ptr(int64(400_000))}
	for _, c := range []struct {
		name  string
		rows  []trace.Request
		scope Scope
		flags []string
	}{
		{"odd", oddRequests(), Scope{SLO: anySLO(t), By: []string{"tenant", "model"}}, []string{"--by", "tenant,model"}},
		{"cut", randomRequests(rand.New(rand.NewPCG(1, 2)), 300), Scope{SLO: anySLO(t), By: []string{"model"}, From: trace.Ptr(int64(200_000)), To: trace.Ptr(int64(40_000_000))},
			[]string{"--by", "model", "--from", "1970-01-01T00:00:00.2Z", "--to", "1970-01-01T00:00:40Z"}},
		{"again", append(fullRequests(40), again), Scope{SLO: anySLO(t)}, nil},
	} {
		run := addMetrics(t, writeRun(t, c.rows), readTable(t, sparkMetrics))
		flags := append(s.mount(t, run, c.name), c.flags...)
		for _, name := range queries.Names() {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				q, err := queries.Get(name)
				if err != nil {
					t.Fatal(err)
				}
				values, _, err := duck.workedOut(context.Background(), run, q, c.scope, nil)
				if err != nil {
					t.Fatal(err)
				}
				args := append([]string{"sql", name, "--engine", "spark", "--table", c.name, "--slo", anyTerms}, flags...)
				for _, p := range derived {
					if values[p] != "" {
						args = append(args, "--param", p+"="+values[p])
					}
				}
				want, err := duck.Query(context.Background(), run, name, c.scope, nil)
				if err != nil {
					t.Fatal(err)
				}
				m.answers, m.rows = m.answers+1, m.rows+len(want.Rows)
				if d := differentRow(want, s.run(t, reprise(t, args...), want.Columns), "Spark"); d != "" {
					m.differences++
					t.Error(d)
				}
			})
		}
	}
	t.Logf("%d query files, %d answers, %d rows, %d differences", len(queries.Names()), m.answers, m.rows, m.differences)
}

// sparkMetrics are a few readings of a target, one of them after its count began again.
const sparkMetrics = `at_us endpoint name labels value
1000000 http://a vllm:num_requests_running {} 3
1000000 http://a vllm:prompt_tokens_total {} 100
2000000 http://a vllm:num_requests_running {} 5
2000000 http://a vllm:prompt_tokens_total {} 350
3000000 http://a vllm:prompt_tokens_total {} 20
3000000 http://a vllm:kv_cache_usage_perc {} 0.25
`

// spark is a session.
type spark struct {
	in  *json.Encoder
	out *bufio.Reader
}

func startSpark(t *testing.T) *spark {
	t.Helper()
	words := strings.Fields(os.Getenv("REPRISE_SPARK"))
	if len(words) == 0 || os.Getenv("REPRISE_BIN") == "" {
		t.Fatal("REPRISE_SPARK and REPRISE_BIN are not set: run make test-spark")
	}
	cmd := exec.Command(words[0], append(words[1:], t.TempDir())...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	s := &spark{json.NewEncoder(in), bufio.NewReader(out)}
	t.Logf("Spark %s", s.answer(t).Columns)
	return s
}

// reply is what the session says of one text.
type reply struct {
	Columns []string
	Rows    [][]any
	Error   string
}

func (s *spark) answer(t *testing.T) reply {
	t.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	var r reply
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&r); err != nil {
		t.Fatalf("Spark ended: %v", err)
	}
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	return r
}

// run gives the rows of a text, which must have these columns.
func (s *spark) run(t *testing.T, text string, columns []Column) [][]any {
	t.Helper()
	if err := s.in.Encode(map[string]string{"text": text}); err != nil {
		t.Fatal(err)
	}
	r := s.answer(t)
	res := Result{Columns: columns}
	if columns == nil {
		return nil
	}
	if err := res.setColumns(r.Columns); err != nil {
		t.Fatal(err)
	}
	c := converter{columns: columns}
	for _, row := range r.Rows {
		for i, v := range row {
			row[i] = c.value(columns[i].Name, v)
		}
	}
	if c.err != nil {
		t.Fatal(c.err)
	}
	return r.Rows
}

// mount makes the views of a run by the statements that reprise sql --mount prints, and asks by the one in a comment which flags its queries need.
func (s *spark) mount(t *testing.T, r *Run, name string) (flags []string) {
	t.Helper()
	text := reprise(t, "sql", "--mount", "file://"+r.Path, "--engine", "spark", "--table", name)
	views, rest, _ := strings.Cut(text, "read twice):\n")
	forms, metrics, _ := strings.Cut(rest, "-- Only for a run with metrics/ (replay --metrics-url):\n")
	plain := func(text string) string { return strings.ReplaceAll("\n"+text, "\n-- ", "\n") }
	s.run(t, views+"\n"+plain(metrics), nil)
	columns := []Column{{Name: "joined"}, {Name: "grouped"}, {Name: "mixed"}}
	for i, needed := range s.run(t, plain(forms), columns)[0] {
		if needed == true {
			flags = append(flags, "--"+columns[i].Name)
		}
	}
	return flags
}

func reprise(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(os.Getenv("REPRISE_BIN"), args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("reprise %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}
