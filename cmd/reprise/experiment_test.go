package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"reprise/analyze"
	"reprise/replay/fakellm"
)

// The candidate decodes ten times slower than the base, by its programme. On a machine that is too busy for a replay the
// answer is that the runs do not compare; it is never that the candidate is as good.
func TestExperiment(t *testing.T) {
	w := newWorld(t, fakellm.Config{Models: []string{"m"}, Slots: 40, DecodeBase: 10 * time.Millisecond})
	cand := " --cand " + modelled(t, fakellm.Config{Models: []string{"m"}, Slots: 40, DecodeBase: 100 * time.Millisecond})
	var x analyze.Experiment
	if err := json.Unmarshal([]byte(w.run(3, "experiment {log.jsonl} --base URL"+cand+" --warm-up 5% --drain 5% --json -o {abba}")), &x); err != nil {
		t.Fatal(err)
	}
	if x.Verdict != analyze.Worse && x.Verdict != analyze.NotComparable || !x.GateFailed {
		t.Errorf("%s: %s, %s", x.Verdict, x.Halves[0].Verdict, x.Halves[1].Verdict)
	}
	for _, h := range x.Halves { // 40 requests, 5 % cut off at each end
		if h.Pairs < 35 || h.Pairs > 37 || h.Noise == nil {
			t.Errorf("%d pairs, noise %+v", h.Pairs, h.Noise)
		}
	}
	for _, f := range x.Figures {
		if f.Figure == "tpot_p50" && (*f.Ratio[0] < 5 || *f.Ratio[1] < 5) {
			t.Errorf("%+v", f)
		}
	}
	var out strings.Builder
	if err := (&app{out: &out}).printExperiment(&x); err != nil || !strings.Contains(out.String(), "base, candidate, candidate, base") {
		t.Errorf("%v\n%s", err, out.String())
	}
	w.run(2, "experiment {log.jsonl} --base URL -o {x}")
	w.run(2, "experiment {log.jsonl} --base URL --target URL"+cand+" -o {x}")
	w.run(1, "experiment {log.jsonl} --base URL"+cand+" -o {abba}")
}
