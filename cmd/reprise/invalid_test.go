package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/replay/fakellm"
)

// A replay that its client could not carry (4,000 requests due within 40 ms) is INVALID, and nothing shows a latency of it without saying so.
func TestInvalidReplayIsMarkedEverywhere(t *testing.T) {
	w := newWorld(t, fakellm.Config{Models: []string{"m"}, Timeline: &fakellm.Timeline{First: 5 * time.Millisecond}})
	var log strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&log, `{"request_id":"r%d","arrival":%d,"first_us":5000,"end_us":5000,"stream":true,"model_requested":"m","input_tokens":20,"output_tokens":1,"error_class":"ok"}`+"\n", i, 1795961900000000+10*i)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "fast.jsonl"), []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := w.run(0, "replay {fast.jsonl} --target URL --no-preflight --stop-failures 0 -o {run}"); !strings.Contains(out, "INVALID") {
		t.Fatalf("the replay says:\n%s", out)
	}
	for line, code := range map[string]int{"analyze {run} --slo ttft<=1s": 0, "query latency {run}": 0, "query latency {run} --json": 0, "compare {run} {run}": exitGate} {
		var out, talk bytes.Buffer
		a := &app{out: &out, err: &talk}
		got := a.run(w.Context(), strings.Fields(strings.NewReplacer("{", w.dir+"/", "}", "").Replace(line)))
		if text := out.String() + talk.String(); got != code || !strings.Contains(strings.ToUpper(text), "INVALID") {
			t.Errorf("%s: exit code %d, and no mark in:\n%s", line, got, text)
		}
	}
}
