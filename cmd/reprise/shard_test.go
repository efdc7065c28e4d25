package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/ingest/trace"
	"reprise/replay"
	"reprise/replay/fakellm"
)

// Four processes that share a plan send what one sends: the same requests, each once, due at the same times, and the same
// latencies within what two replays of one target differ by. A lost shard is told.
func TestFourClientsAreOne(t *testing.T) {
	w := newWorld(t, fakellm.Config{Models: []string{"m"}, Slots: 200, DecodeBase: 10 * time.Millisecond, PrefillPerToken: 200 * time.Microsecond, PrefillChunk: 64})
	var log strings.Builder
	for i := range 200 { // 50 sessions of four turns over four seconds
		fmt.Fprintf(&log, `{"request_id":"r%d","session_id":"s%d","arrival":%d,"first_us":50000,"end_us":200000,"stream":true,"model_requested":"m","input_tokens":%d,"output_tokens":20,"error_class":"ok"}`+"\n",
			i, i%50, 1795961900000000+20_000*i, 40+i%90)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "log.jsonl"), []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	w.run(0, "plan {log.jsonl} -o {plan.parquet}")
	w.run(0, "replay {plan.parquet} --target URL -o {one}")
	w.run(0, "replay {plan.parquet} --target URL -o {again}")
	began := time.Now()
	if out, err := program(t, "replay", filepath.Join(w.dir, "plan.parquet"), "--dry-run").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	at := time.Now().Add(3*time.Second + 8*time.Since(began)).Truncate(time.Millisecond).UTC() // four start beside each other
	var clients []*exec.Cmd
	var said [4]bytes.Buffer
	for i := range 4 {
		c := program(t, "replay", filepath.Join(w.dir, "plan.parquet"), "--target", w.url, "--shard", fmt.Sprintf("%d/4", i), "--start-at", at.Format(time.RFC3339Nano), "-o", filepath.Join(w.dir, "four"))
		c.Stdout, c.Stderr = &said[i], &said[i]
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
	}
	for i, c := range clients {
		if err := c.Wait(); err != nil {
			t.Fatalf("client %d: %v\n%s", i, err, said[i].String())
		}
	}
	one, four := dueTimes(t, filepath.Join(w.dir, "one")), dueTimes(t, filepath.Join(w.dir, "four", "shard-*-of-00004"))
	if len(one) != 200 || len(four) != 200 {
		t.Fatalf("one client sent %d requests, four sent %d; want 200", len(one), len(four))
	}
	for id, due := range one {
		if got := four[id] - at.UnixMicro(); got != due-one["r0"] {
			t.Errorf("%s was due %d us after the start, want %d", id, got, due-one["r0"])
		}
	}
	a, again, b := ttfts(t, filepath.Join(w.dir, "one")), ttfts(t, filepath.Join(w.dir, "again")), ttfts(t, filepath.Join(w.dir, "four", "shard-*"))
	for i, p := range []string{"p50", "p90"} { // of 10 to 50 ms, on a machine that may be busy
		if noise := math.Abs(a[i] - again[i]); math.Abs(a[i]-b[i]) > 3*noise+15 {
			t.Errorf("TTFT %s: one client %.1f ms, four %.1f; one client again %.1f", p, a[i], b[i], again[i])
		}
	}
	if out := w.run(0, "analyze {four} --slo ttft<=1s"); !strings.Contains(out, "shard 3 of 4") || !strings.Contains(out, "clocks of its 4 clients") || strings.Contains(out, "missing") {
		t.Errorf("analyze says of four:\n%s", out)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "four", "shard-00002-of-00004")); err != nil {
		t.Fatal(err)
	}
	for line, code := range map[string]int{"analyze {four} --slo ttft<=1s": 0, "compare {one} {four}": exitGate} {
		if out := w.run(code, line); !strings.Contains(out, "shards 2 of 4 are missing") {
			t.Errorf("%s does not tell of the lost shard:\n%s", line, out)
		}
	}
}

// ttfts are the median and the 90th percentile of runs, in milliseconds, from when a request was sent: whether it left on
// time is another matter.
func ttfts(t *testing.T, pattern string) []float64 {
	t.Helper()
	runs, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var ms []float64
	for _, run := range runs {
		for row, err := range trace.Read(parts(t, run)...) {
			if err != nil {
				t.Fatal(err)
			}
			ms = append(ms, float64(*row.FirstUS-*row.SendLagUS)/1e3)
		}
	}
	slices.Sort(ms)
	return []float64{ms[len(ms)/2], ms[len(ms)*9/10]}
}

// dueTimes are those of the requests of some runs, all of which must differ.
func dueTimes(t *testing.T, pattern string) map[string]int64 {
	t.Helper()
	runs, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	due := map[string]int64{}
	for _, run := range runs {
		r := storedReport(t, run)
		if r.Fidelity.Verdict == replay.Invalid {
			t.Logf("%s: %s", filepath.Base(run), r.Fidelity.Reasons) // a busy machine
		}
		for row, err := range trace.Read(parts(t, run)...) {
			if err != nil {
				t.Fatal(err)
			}
			if _, twice := due[row.RequestID]; twice || row.ErrorClass != trace.ClassOK {
				t.Errorf("%s: %s twice %v", row.RequestID, row.ErrorClass, twice)
			}
			due[row.RequestID] = *row.Arrival
		}
	}
	return due
}

func TestShardFlags(t *testing.T) {
	w := newWorld(t, fakellm.Config{Models: []string{"m"}})
	for _, flags := range []string{"--shard 4/4 --start-at 2030-01-01", "--shard 1 --start-at 2030-01-01", "--shard 0/4", "--start-at soon", "--clock-server x"} {
		w.run(exitUsage, "replay {log.jsonl} --target URL -o {run} "+flags)
	}
	w.run(exitError, "replay {log.jsonl} --target URL -o {run} --start-at 2020-01-01")
	w.run(0, "replay {log.jsonl} --target URL -o {run}")
	w.run(exitError, "replay {log.jsonl} --target URL -o {run} --shard 0/2 --start-at 2030-01-01")
}
