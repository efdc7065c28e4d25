package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/analyze"
	"reprise/replay/fakellm"
)

// A compaction that is killed, again and again and each time a little later, leaves a run that reads the same, to which the
// same logs add nothing.
func TestKilledCompactionReadsTheSame(t *testing.T) {
	dir := t.TempDir()
	run, key := filepath.Join(dir, "run"), filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 60 { // a log a minute
		var lines strings.Builder
		for j := range 20 {
			lines.WriteString(logLine(i*3000 + j))
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("log-%02d.jsonl", i)), []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	logs, err := filepath.Glob(filepath.Join(dir, "log-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	ingest := func() string {
		b, err := program(t, append([]string{"ingest", "-o", run, "--key-file", key}, logs...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		return string(b)
	}
	rows := func() string {
		b, err := program(t, "query", run, "--format", "csv", "--sql", "SELECT * FROM requests ORDER BY request_id").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	ingest()
	want := rows()
	if n := strings.Count(want, "\n"); n != 1201 {
		t.Fatalf("%d lines before, want 1201", n)
	}
	killed := 0
	for after := time.Duration(0); ; after += after/2 + 5*time.Millisecond {
		cmd := program(t, "compact", run)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// the clock runs from the first sign of work
		for deadline := time.Now().Add(10 * time.Second); !started(run) && cmd.ProcessState == nil && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if len(parts(t, run)) == 1 {
				break
			}
		}
		time.Sleep(after)
		cmd.Process.Kill()
		if cmd.Wait() == nil {
			break
		}
		killed++
		if n := len(parts(t, run)); n != 60 && n != 1 {
			t.Fatalf("killed after %v: %d parts count, want all or the one", after, n)
		}
		if killed%4 == 0 && rows() != want {
			t.Fatalf("killed after %v: the run reads differently", after)
		}
	}
	if killed == 0 {
		t.Error("no compaction was killed at work")
	}
	t.Logf("killed %d times", killed)
	if out := ingest(); !strings.Contains(out, "nothing new: the run had all of it") || len(parts(t, run)) != 1 {
		t.Errorf("the same logs again: %d parts, %s", len(parts(t, run)), out)
	}
	if rows() != want {
		t.Error("the compacted run reads differently")
	}
	before, _ := os.ReadFile(parts(t, run)[0])
	b, err := program(t, "compact", run).CombinedOutput()
	after, _ := os.ReadFile(parts(t, run)[0])
	if err != nil || !strings.Contains(string(b), "nothing to do: 1 file, 1,200 requests") || !bytes.Equal(before, after) {
		t.Errorf("a second call: %v %s", err, b)
	}
}

// A log that grew and was ingested twice counts once when it is compacted, then shared.
func TestCompactedGrownLogIsShared(t *testing.T) {
	w := newWorld(t, fakellm.Config{})
	for name, n := range map[string]int{"a.jsonl": 30, "b.jsonl": 40, "key": 1} {
		var lines strings.Builder
		for i := range n {
			lines.WriteString(logLine(i))
		}
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.run(0, "ingest {a.jsonl} {b.jsonl} -o {run}")
	w.run(0, "compact {run}")
	run, err := analyze.Open(filepath.Join(w.dir, "run"))
	if err != nil || len(run.Parts) != 1 {
		t.Fatal(run, err)
	}
	shared, err := newSharing(true, &ingestFlags{keyFile: filepath.Join(w.dir, "key")})
	if err != nil {
		t.Fatal(err)
	}
	defer shared.close()
	if run, err = shared.copy(t.Context(), run, "run"); err != nil {
		t.Fatal(err)
	}
	e, err := analyze.NewEngine(t.Context(), analyze.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	res, err := e.SQL(t.Context(), run, analyze.Scope{}, "SELECT count(*) FROM requests")
	if err != nil || res.Rows[0][0] != int64(40) {
		t.Errorf("%v calls, want 40: %v", res, err)
	}
}
