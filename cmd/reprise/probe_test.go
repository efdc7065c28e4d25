package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/replay/fakellm"
)

// Probes see what the engine does: an engine that reads prompts whole holds every stream for the 200 ms of 4,000 tokens of 50 us; one
// that reads 128 tokens a step makes no gap much longer, though it delivers as few chunks meanwhile.
func TestProbesMeasurePrefill(t *testing.T) {
	w := newWorld(t, fakellm.Config{Models: []string{"m"}})
	var log strings.Builder
	for i := range 121 { // 10 a second, each for .6 s and more
		fmt.Fprintf(&log, `{"request_id":"r%d","arrival":%d,"first_us":50000,"end_us":700000,"stream":true,"model_requested":"m","input_tokens":20,"output_tokens":60,"error_class":"ok"}`+"\n", i, 1795961900000000+100_000*i)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "log.jsonl"), []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	w.run(0, "plan {log.jsonl} --probe-tokens 4000 --probe-every 1s -o {plan.parquet}")
	var both sync.WaitGroup
	for chunk, run := range map[int]string{0: "whole", 128: "chunked"} {
		url := modelled(t, fakellm.Config{Models: []string{"m"}, Slots: 100, DecodeBase: 10 * time.Millisecond, PrefillPerToken: 50 * time.Microsecond, PrefillChunk: chunk})
		both.Go(func() { w.run(0, "replay {plan.parquet} --no-preflight --target "+url+" -o {"+run+"}") })
	}
	both.Wait()
	whole, chunked := probeEffect(w, "whole"), probeEffect(w, "chunked")
	if whole["probes"] != 6 || whole["controls"] != 6 || whole["tokens"] != 4000 || whole["streams"] < 12 {
		t.Errorf("whole prompts: %v", whole)
	}
	if e := whole["gap_effect_ms"]; e < 150 || e > 300 || whole["gap_low_ms"] < 50 {
		t.Errorf("whole prompts lengthen a gap by %.1f ms (%.1f to %.1f), want 200", e, whole["gap_low_ms"], whole["gap_high_ms"])
	}
	if e := chunked["gap_effect_ms"]; e > 80 || e > whole["gap_effect_ms"]/2 {
		t.Errorf("prompts in pieces lengthen a gap by %.1f ms (%.1f to %.1f), want 6.4", e, chunked["gap_low_ms"], chunked["gap_high_ms"])
	}
	for name, run := range map[string]map[string]float64{"whole": whole, "pieces": chunked} {
		if run["chunks_effect"] > -5 { // of some 20
			t.Errorf("%s: %.1f chunks fewer", name, -run["chunks_effect"])
		}
	}
	if out := w.run(0, "analyze {whole} --slo ttft<=1s"); !strings.Contains(out, "What a long prompt does to other streams") {
		t.Errorf("analyze does not tell of the probes:\n%s", out)
	}
	w.run(exitError, "plan {log.jsonl} --probe-tokens 4000 --probe-every 5s -o {other.parquet}")
}

func probeEffect(w world, run string) map[string]float64 {
	w.Helper()
	var r struct{ Rows []map[string]any }
	text := w.run(0, "query probe_effect {"+run+"} --json")
	if err := json.Unmarshal([]byte(text), &r); err != nil || len(r.Rows) != 1 {
		w.Fatal(err, text)
	}
	out := map[string]float64{}
	for k, v := range r.Rows[0] {
		out[k], _ = v.(float64)
	}
	w.Logf("%s: %v", run, out)
	return out
}
