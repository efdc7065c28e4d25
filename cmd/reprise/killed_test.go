package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/fakellm"
)

// program makes the command line of the program under test, which is this test binary under its own name.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "reprise")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	return cmd
}

// killWhen starts cmd and kills it without warning as soon as ready says so.
func killWhen(t *testing.T, cmd *exec.Cmd, ready func() bool) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !ready(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the program did not come so far within a minute")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
}

func parts(t *testing.T, run string) []string {
	t.Helper()
	p, err := trace.Parts(run)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func started(run string) bool {
	open, _ := filepath.Glob(filepath.Join(run, ".partial-*", "*"))
	return len(open) > 0
}

func logLine(i int) string {
	return fmt.Sprintf(`{"id":"r%d","call_type":"acompletion","stream":true,"status":"success","startTime":%d.5,"endTime":%d.5,"completionStartTime":%d.7,"model":"fake","prompt_tokens":9,"completion_tokens":5,"metadata":{},"model_map_information":{},"hidden_params":{}}`+"\n",
		i, 1795961900+i/50, 1795961901+i/50, 1795961900+i/50)
}

func TestKilledIngestLeavesNoHalfPart(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	cmd := program(t, "ingest", "-", "-o", run)
	in, out := io.Pipe()
	cmd.Stdin = in
	go func() { // a log that never ends
		for i := 0; ; i++ {
			if _, err := io.WriteString(out, logLine(i)); err != nil {
				return
			}
		}
	}()
	killWhen(t, cmd, func() bool { return started(run) })
	in.Close()
	if p := parts(t, run); len(p) != 0 {
		t.Fatalf("a killed ingest left parts: %v", p)
	}
	log := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(log, []byte(logLine(1)+logLine(2)), 0o600); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(t.TempDir(), "key") // another key would be another part
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if b, err := program(t, "ingest", log, "-o", run, "--key-file", key).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
	}
	if p := parts(t, run); len(p) != 1 || started(run) {
		t.Errorf("after two reruns: parts %v, leftovers %v; want one part and none", p, started(run))
	}
}

func TestKilledReplayLeavesNoHalfPart(t *testing.T) {
	s, url, err := fakellm.Listen(fakellm.Config{Slots: 64, DecodeBase: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := t.TempDir()
	log, run := filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "run")
	var lines strings.Builder
	for i := range 100 { // two seconds
		lines.WriteString(logLine(i))
	}
	if err := os.WriteFile(log, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"replay", log, "--target", url + "/v1", "--model", "fake", "-o", run}
	killWhen(t, program(t, args...), func() bool { return started(run) })
	if p := parts(t, run); len(p) != 0 {
		t.Fatalf("a killed replay left parts: %v", p)
	}
	if b, err := program(t, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	n := 0
	for r, err := range trace.Read(parts(t, run)...) {
		if err != nil || r.ErrorClass != trace.ClassOK {
			t.Fatalf("%s: %s, %v", r.RequestID, r.ErrorClass, err)
		}
		n++
	}
	if n != 100 || started(run) {
		t.Errorf("the second replay stored %d requests (leftovers: %v), want 100", n, started(run))
	}
}
