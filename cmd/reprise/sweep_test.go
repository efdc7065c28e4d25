package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/analyze"
	"reprise/replay/fakellm"
)

// The log has 20 requests a second of 3 to 6 tokens. One slot at 10 ms a token serves about 28 a second, so that half and
// the whole load are carried and four times is not: by the server's own programme it is saturated, whatever the machine does. A load
// whose replay this machine could not send on time has no figures; it cannot be asserted which, on a busy one.
func TestSweep(t *testing.T) {
	w := newWorld(t, fakellm.Config{Models: []string{"m"}, DecodeBase: 10 * time.Millisecond})
	var s analyze.Sweep
	if err := json.Unmarshal([]byte(w.run(0, "sweep {log.jsonl} --target URL --speeds 0.5,1,4,8 --slo ttft<=150ms --order-seed 3 --json -o {sweep}")), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Rungs) != 4 || len(s.Order) != 4 || !slices.IsSortedFunc(s.Rungs, func(a, b analyze.SweepRung) int { return int(8 * (a.Speed - b.Speed)) }) || slices.IsSorted(s.Order) {
		t.Fatalf("rungs %+v in order %v", s.Rungs, s.Order)
	}
	for _, r := range s.Rungs {
		switch {
		case r.State == analyze.RungSkipped:
			if r.Speed <= 1 || r.Attainment != nil {
				t.Errorf("%+v was skipped", r)
			}
		case r.State != analyze.RungMeasured:
			if r.Attainment != nil || r.TTFTP50 != nil || r.Verdict == "" || len(r.Why) == 0 {
				t.Errorf("%+v has figures, or no reason", r)
			}
		case r.Speed >= 4:
			if !r.Saturated || *r.TTFTP99 < 150 {
				t.Errorf("%+v is not saturated", r)
			}
		default: // 2 s or 4 s with 10 % cut off at each end: 32 of 40
			if r.Offered < 31 || r.Offered > 33 || *r.Attainment < .5 {
				t.Errorf("%+v: attainment %v", r, *r.Attainment)
			}
		}
	}
	w.run(1, "sweep {log.jsonl} --target URL --slo ttft<=150ms -o {sweep}")
	for _, wrong := range []string{"sweep {log.jsonl} --target URL -o {x}", "sweep {log.jsonl} --target URL --slo ttft<=1s", "sweep {log.jsonl} --target URL --slo ttft<=1s -o {x} --speeds 0,1",
		"sweep {log.jsonl} --target URL --slo ttft<=1s -o {x} --speed 2", "sweep {log.jsonl} --target URL --slo ttft<=1s -o {x} --warm-up 50% --drain 50%"} {
		w.run(2, wrong)
	}
}

// What is printed: capacity with the word that belongs to its bound, fidelity of each load, and no number for what was invalid.
func TestPrintSweep(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var out strings.Builder
	good, rate, tokens := .95, 10.0, 500.0
	s := &analyze.Sweep{Base: "run", Objective: "ttft<=1s"}
	s.Add(analyze.SweepRung{Speed: 1, State: analyze.RungMeasured, Verdict: "FAITHFUL", Attainment: &good, OfferedPS: &rate, GoodTokens: &tokens, Judged: 100})
	s.Add(analyze.SweepRung{Speed: 2, State: analyze.RungInvalid, Verdict: "INVALID", Why: []string{"sends were late"}})
	if err := (&app{out: &out}).printSweep(s, "sweep"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"capacity at 90 %: at least 1 times the recorded load, at least 10 requests/s", "capacity at 99 %: below 1 times", "INVALID", "sends were late",
		"there may be more above it", "client: not measured"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
