package analyze

import (
	"slices"
	"testing"

	"reprise/ingest/trace"
)

// withNoise compares rows with candidate rows, and with a second run of the same target.
func (tr trial) withNoise(base, again, cand []trace.Request) *Comparison {
	b := tr.load(base)
	c := tr.compare(b, tr.load(cand), CompareOptions{})
	c.takeNoise(tr.compare(b, tr.load(again), CompareOptions{}))
	return c
}

// A target that does the same twice takes nothing from a verdict; one that was itself 1.3 times slower the second time makes
// a candidate that is 1.2 times slower inconclusive, and leaves one that is 1.5 times slower worse. The noise counts in either
// direction: also a second run that was faster shows what the target does by itself.
func TestNoiseFloor(t *testing.T) {
	tr, rows := newTrial(t, ""), traffic(400)
	for _, c := range []struct {
		name          string
		againN, candN int64 // tenths of the base
		verdict       string
		noise         float64
	}{
		{"quiet, slower", 10, 12, Worse, 1},
		{"quiet, faster", 10, 8, Better, 1},
		{"noisy, less slower", 13, 12, Inconclusive, 1.3},
		{"noisy, slower", 13, 15, Worse, 1.3},
		{"noisy the other way", 8, 12, Inconclusive, .8},
		{"noisy, less faster", 13, 8, Inconclusive, 1.3},
	} {
		got := tr.withNoise(rows, changed(rows, scale(c.againN, 10)), changed(rows, scale(c.candN, 10)))
		if got.Verdict != c.verdict || got.GateFailed != (c.verdict == Worse) || !got.Noise.Comparable {
			t.Errorf("%s: %s, gate failed %v, want %s (%+v)", c.name, got.Verdict, got.GateFailed, c.verdict, got.Noise)
		}
		for _, d := range got.Metrics {
			if d.Noise == nil || !close9(*d.Noise.Ratio, c.noise) || d.Verdict != c.verdict {
				t.Errorf("%s, %s: noise %+v, %s", c.name, d.Metric, d.Noise, d.Verdict)
			}
		}
		if demoted := slices.Contains(got.Noise.Demoted, "ttft_p50"); demoted != (c.verdict == Inconclusive) {
			t.Errorf("%s: demoted %v", c.name, got.Noise.Demoted)
		}
	}
}

// A second run that was not the same load shows no floor, which is said; the verdict stays as without it.
func TestNoiseUnknown(t *testing.T) {
	tr, rows := newTrial(t, ""), traffic(400)
	other := changed(rows, func(i int, q *trace.Request) { q.RequestID, q.RootRequestID = q.RequestID+"x", q.RootRequestID+"x" })
	got := tr.withNoise(rows, other, changed(rows, scale(12, 10)))
	if got.Verdict != Worse || got.Noise.Comparable || got.Metrics[0].Noise != nil || !slices.ContainsFunc(got.Warnings, func(w Warning) bool { return w.Code == "noise_unknown" }) {
		t.Errorf("%s %+v", got.Verdict, got.Noise)
	}
}

// Every reason why two runs do not compare comes with what would make them.
func TestWouldHelp(t *testing.T) {
	tr, rows := newTrial(t, ""), traffic(400)
	for name, c := range map[string]struct {
		cand func(int, *trace.Request)
		help string
	}{
		"other requests": {func(_ int, q *trace.Request) { q.RequestID, q.RootRequestID = q.RequestID+"x", q.RootRequestID+"x" }, helpIDs},
		"other speed":    {func(i int, q *trace.Request) { q.Arrival = trace.Ptr(*q.Arrival / 2) }, helpSpeed},
		"other prompts":  {func(_ int, q *trace.Request) { q.InputTokens = trace.Ptr(*q.InputTokens * 2) }, helpTokens},
		"the same":       {func(int, *trace.Request) {}, ""},
	} {
		got := tr.compare(tr.load(rows), tr.load(changed(rows, c.cand)), CompareOptions{})
		if c.help == "" != got.Comparable || c.help != "" && !slices.Contains(got.WouldHelp, c.help) || len(got.WouldHelp) > len(got.WhyNot) {
			t.Errorf("%s: %q, would help: %q", name, got.WhyNot, got.WouldHelp)
		}
	}
}
