package reports

import (
	"strings"
	"testing"

	"reprise/analyze"
)

// An invalid replay is the first thing that a reader sees; a degraded one is noted; a log says nothing of replays.
func TestReplayNotes(t *testing.T) {
	build := func(list ...analyze.Replayed) Report { return Build(AnalyzeInput{Run: "run", Replays: list}) }
	r := build(analyze.Replayed{Verdict: "INVALID", Reasons: []string{"sends were late"}})
	if r.Verdict != "bad" || len(r.Answer) == 0 || !strings.HasPrefix(r.Answer[0], "INVALID replay: ") || !strings.Contains(r.Answer[0], "sends were late") {
		t.Errorf("%q %q", r.Verdict, r.Answer)
	}
	r = build(analyze.Replayed{Verdict: "DEGRADED", Reasons: []string{"a bit late"}, Incomplete: "interrupted", Client: &analyze.ClientCheck{AtUS: 1795961900000000, SendP99: .25, StampP99: .017}})
	notes := strings.Join(r.Notes, "\n")
	for _, want := range []string{"DEGRADED: a bit late", "ended early: interrupted", "self-check of 2026-11-29: sends within 0.250 ms, chunk times within 0.017 ms"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	if notes := strings.Join(build().Notes, "\n"); strings.Contains(notes, "replay") {
		t.Error(notes)
	}
}
