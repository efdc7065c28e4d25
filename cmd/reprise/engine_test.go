//go:build engine

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reprise/analyze"
	"reprise/replay/fakellm"
)

// enginePackages are what the throw-away environment holds.
var enginePackages = []string{"xllamacpp==2026.10.11549", "numpy"}

// realEngine is llama.cpp's server with a model of random weights (testdata/engine).
type realEngine struct {
	*testing.T
	python, model, files string
}

func newRealEngine(t *testing.T) realEngine {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Abs(filepath.Join("..", "..", "testdata", "engine"))
	if err != nil {
		t.Fatal(err)
	}
	e := realEngine{t, filepath.Join(dir, "venv", "bin", "python"), filepath.Join(dir, "model.gguf"), files}
	start := time.Now()
	e.must("python3", "-m", "venv", filepath.Join(dir, "venv"))
	e.must(e.python, append([]string{"-m", "pip", "install", "-q"}, enginePackages...)...)
	e.must(e.python, filepath.Join(files, "make_gguf.py"), filepath.Join("..", "..", "replay", "words.txt"), e.model)
	t.Logf("%s installed and model made in %.0f s", enginePackages[0], time.Since(start).Seconds())
	return e
}

func (e realEngine) must(name string, args ...string) {
	e.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		e.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// start serves with a batch (most prompt tokens of a step) and slots (streams at once), and returns the address. Each has a cache of its own.
func (e realEngine) start(batch, slots int) (url string, stop func()) {
	e.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		e.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	log, err := os.Create(filepath.Join(e.TempDir(), "engine.log"))
	if err != nil {
		e.Fatal(err)
	}
	cmd := exec.Command(e.python, filepath.Join(e.files, "engine.py"), e.model, strconv.Itoa(port), strconv.Itoa(batch), strconv.Itoa(slots))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		e.Fatal(err)
	}
	stop = func() { cmd.Process.Kill(); cmd.Wait(); log.Close() }
	url = fmt.Sprintf("http://127.0.0.1:%d", port)
	for range 600 {
		if answer, err := http.Get(url + "/health"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return url, stop
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	text, _ := os.ReadFile(log.Name())
	e.Fatalf("the engine does not answer within a minute:\n%s", text)
	return "", nil
}

// The window of the capture holds 75 requests in 50 s.
const (
	engineSpan = 50 * time.Second
	engineRate = 1.5
)

// speed is how fast the window may be sent so that the engine is busy a quarter of the time: it makes four streams' tokens no faster than one's, and near its limit no two
// replays are alike. Measured, for the machine may have other things to do.
func (e realEngine) speed() float64 {
	e.Helper()
	url, stop := e.start(512, 4)
	defer stop()
	words, err := os.ReadFile(filepath.Join("..", "..", "replay", "words.txt"))
	if err != nil {
		e.Fatal(err)
	}
	list := strings.Fields(string(words))
	var took []time.Duration
	for i := range 5 { // about what a request of the window has to be read and written
		body := fmt.Sprintf(`{"model":"random","max_tokens":65,"ignore_eos":true,"messages":[{"role":"user","content":"%s"}]}`, strings.Join(list[200*i:200*i+200], " "))
		start := time.Now()
		answer, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			e.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	speed := min(max(.25/(engineRate*took[2].Seconds()), .2), 1)
	e.Logf("a request takes %v alone: the window is sent at %.2f of its speed", took[2].Round(time.Millisecond), speed)
	return speed
}

// replay sends the plan to a fresh engine. One that the client could not follow is repeated: other work on the machine may have been the reason.
func (e realEngine) replay(w world, name string, batch, slots int) {
	w.Helper()
	for try := 1; ; try++ {
		url, stop := e.start(batch, slots)
		said := w.run(0, "replay {plan.parquet} -q --model random --metrics-url "+url+"/metrics --target "+url+" -o {"+name+"}")
		stop()
		w.Logf("%s, batch %d, slots %d:\n%s", name, batch, slots, said)
		if !strings.Contains(said, "INVALID") {
			return
		}
		if try == 3 {
			w.Fatal("three times INVALID: this machine is too busy, or too small")
		}
		if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
			w.Fatal(err)
		}
	}
}

// A window of the shipped capture, sent to a real engine: twice to the same (no difference is claimed), to one with a single slot (worse: requests
// queue) and to one with a smaller batch (long prompts hold other streams for less long, by probes in every replay).
func TestRealEngine(t *testing.T) {
	e := newRealEngine(t)
	w := newWorld(t, fakellm.Config{})
	log, err := filepath.Abs(filepath.Join("..", "..", "testdata", "demo", "baseline.litellm.jsonl.zst"))
	if err != nil {
		t.Fatal(err)
	}
	first := time.UnixMicro(1795961900757231).UTC() // of the capture
	span := fmt.Sprintf("--from %s --to %s", first.Add(100*time.Second).Format(time.RFC3339Nano), first.Add(100*time.Second+engineSpan).Format(time.RFC3339Nano))
	speed := e.speed()
	w.run(0, fmt.Sprintf("plan %s %s --speed %.2f --probe-tokens 1500 --probe-every %.1fs -o {plan.parquet}", log, span, speed, engineSpan.Seconds()/speed/17))
	e.replay(w, "a", 512, 4)
	e.replay(w, "again", 512, 4)
	e.replay(w, "slot1", 512, 1)
	e.replay(w, "batch64", 64, 4)
	if v := w.verdict("compare {a} {again} --margin 30% --json"); v != analyze.NonInferior && v != analyze.Inconclusive {
		t.Errorf("the same engine twice: %s", v)
	}
	if v := w.verdict("compare {a} {slot1} --aa {again} --margin 30% --json"); v != analyze.Worse {
		t.Errorf("one slot in place of four: %s, want worse", v)
	}
	large, small := probeEffect(w, "a"), probeEffect(w, "batch64")
	if large["gap_long_ms"] < 1.5*small["gap_long_ms"] || small["gap_long_ms"] == 0 {
		t.Errorf("the longest gap of a stream beside a long prompt is %.0f ms with a batch of 512 and %.0f with one of 64; want much less", large["gap_long_ms"], small["gap_long_ms"])
	}
}

// verdict runs a comparison, whatever its exit code.
func (w world) verdict(line string) string {
	w.Helper()
	var out, talk bytes.Buffer
	args := strings.Fields(strings.NewReplacer("{", w.dir+"/", "}", "").Replace(line))
	code := (&app{out: &out, err: &talk}).run(w.Context(), args)
	var c struct {
		Verdict string
		WhyNot  []string `json:"why_not"`
		Metrics []struct {
			Metric     string
			Quantile   float64
			Base, Cand *float64
			Verdict    string
		}
	}
	if err := json.Unmarshal(out.Bytes(), &c); err != nil {
		w.Fatalf("%s: exit code %d: %v\n%s%s", line, code, err, out.String(), talk.String())
	}
	w.Logf("%s: %s %v", line, c.Verdict, c.WhyNot)
	for _, m := range c.Metrics {
		if m.Base != nil && m.Cand != nil {
			w.Logf("  %s p%g: %.1f ms, %.1f ms: %s", m.Metric, 100*m.Quantile, *m.Base, *m.Cand, m.Verdict)
		}
	}
	return c.Verdict
}
