package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/ingest/trace"
	"reprise/replay"
	"reprise/replay/fakellm"
)

// world is a person's shell: an empty home, and a target.
type world struct {
	*testing.T
	dir, url string
}

func newWorld(t *testing.T, c fakellm.Config) world {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	var log strings.Builder
	for i := range 40 {
		fmt.Fprintf(&log, `{"request_id":"r%d","arrival":%d,"first_us":200000,"end_us":400000,"stream":true,"model_requested":"m","input_tokens":20,"output_tokens":%d,"error_class":"ok"}`+"\n", i, 1795961900000000+50_000*i, 3+i%4)
	}
	if err := os.WriteFile(filepath.Join(dir, "log.jsonl"), []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return world{t, dir, modelled(t, c)}
}

// modelled starts a target and returns its address.
func modelled(t *testing.T, c fakellm.Config) string {
	t.Helper()
	s, url, err := fakellm.Listen(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return url
}

// run executes a command line in which {name} is a file of the world and URL the target; it returns what was printed.
func (w world) run(code int, line string) string {
	w.Helper()
	var out, talk bytes.Buffer
	a := &app{out: &out, err: &talk}
	args := strings.Fields(strings.NewReplacer("{", w.dir+"/", "}", "", "URL", w.url).Replace(line))
	if got := a.run(w.Context(), args); got != code {
		w.Fatalf("%s: exit code %d, want %d\n%s%s", line, got, code, out.String(), talk.String())
	}
	return out.String()
}

// The self-check is kept, and every replay from then on tells it, prints it and stores it; before, replays say that it
// is missing. The target's own metrics come into the run, and its count of tokens is that of the answers.
func TestSelfCheckAndTargetMetrics(t *testing.T) {
	w := newWorld(t, fakellm.Config{Models: []string{"m"}, Slots: 4, DecodeBase: 2 * time.Millisecond})
	out := w.run(0, "replay {log.jsonl} --target URL --no-preflight -o {bare}")
	if !strings.Contains(out, "note: what this client can do on this machine was never measured") {
		t.Errorf("a replay without self-check says:\n%s", out)
	}
	if out = w.run(0, "analyze {bare} --slo ttft<=1s"); !strings.Contains(out, "target over time (the run holds no metrics of its target") {
		t.Errorf("a replay without target metrics does not say so:\n%s", out)
	}
	var check replay.SelfCheck
	if err := json.Unmarshal([]byte(w.run(0, "selfcheck --time 2s --json")), &check); err != nil || check.Send.Error.N == 0 {
		t.Fatalf("%v %+v", err, check)
	}
	out = w.run(0, "replay {log.jsonl} --target URL --no-preflight --metrics-url URL/metrics -o {run}")
	if !strings.Contains(out, "client: self-check of "+dayOf(check.AtUS)) || !strings.Contains(out, "target metrics of ") {
		t.Errorf("a replay says:\n%s", out)
	}
	if stored := storedReport(t, filepath.Join(w.dir, "run")); stored.SelfCheck == nil || stored.SelfCheck.AtUS != check.AtUS || len(stored.Metrics) != 1 {
		t.Errorf("stored: %+v", stored)
	}
	var res struct{ Rows []map[string]any }
	if err := json.Unmarshal([]byte(w.run(0, "query target_metrics {run} --json")), &res); err != nil {
		t.Fatal(err)
	}
	tokens := 0.0
	for _, r := range res.Rows {
		rise, _ := r["output_tokens"].(float64) // null in a step that holds the first reading alone
		tokens += rise
	}
	if want := 40*3 + 10*(0+1+2+3); tokens != float64(want) {
		t.Errorf("the target's page counts %v output tokens, want %d", tokens, want)
	}
	if out = w.run(0, "analyze {run} --slo ttft<=1s"); !strings.Contains(out, "Target over time") {
		t.Errorf("no section of target metrics:\n%s", out)
	}
}

// storedReport reads what a replay stored with its rows.
func storedReport(t *testing.T, run string) (r replay.Report) {
	t.Helper()
	parts, err := trace.Parts(run)
	if err != nil || len(parts) == 0 {
		t.Fatal(err, "no parts in ", run)
	}
	meta, _, _, err := trace.Meta(parts[0])
	if err == nil {
		err = json.Unmarshal([]byte(meta["reprise.replay"]), &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}
