package replay

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/fakellm"
)

// One probe in the first half of each second, half of them long, drawn by the seed alone.
func TestProbesAreDrawn(t *testing.T) {
	make := func(seed uint64) *Plan {
		p := mustPlan(t, PlanOptions{}, requests(101, 100)...)
		if err := p.AddProbes(Probes{Tokens: 3000, Every: time.Second, Seed: seed}); err != nil {
			t.Fatal(err)
		}
		return p
	}
	p, kinds, last := make(1), map[string]int{}, int64(-1)
	for _, it := range p.Items {
		if it.DueUS < last {
			t.Errorf("%s is due before the one in front of it", it.RequestID)
		}
		if last = it.DueUS; it.Probe == "" {
			continue
		}
		kinds[it.Probe]++
		if at := it.DueUS % 1e6; at > 5e5 || it.Model != "m" || it.Endpoint != "chat" || it.OutputTokens != 1 || (it.InputTokens == 3000) != (it.Probe == ProbeLong) {
			t.Errorf("%+v", it)
		}
	}
	if kinds[ProbeLong] != 5 || kinds[ProbeControl] != 5 || len(p.Items) != 111 {
		t.Errorf("%d items, %v", len(p.Items), kinds)
	}
	if !reflect.DeepEqual(make(1), p) || reflect.DeepEqual(make(2).Items, p.Items) {
		t.Error("the seed alone must decide")
	}
	file := filepath.Join(t.TempDir(), "plan.parquet")
	if err := p.Save(file); err != nil {
		t.Fatal(err)
	}
	if got, err := LoadPlan(file); err != nil || !reflect.DeepEqual(got.Items, p.Items) {
		t.Errorf("a plan file gives other items: %v", err)
	}
}

func TestProbesRefused(t *testing.T) {
	for _, c := range []struct {
		o    Probes
		want string
	}{{Probes{16, time.Second, 1}, "more than 16 tokens"}, {Probes{3000, 0, 1}, "a time between"}, {Probes{3000, 4 * time.Second, 1}, "at least 4 slots in the plan of 10s, got 2"}} {
		if err := mustPlan(t, PlanOptions{}, requests(101, 100)...).AddProbes(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
}

// Probes are sent, marked, and of no kind that figures count.
func TestProbesAreMarked(t *testing.T) {
	s, url := target(t, fakellm.Config{DecodeBase: time.Millisecond})
	p := mustPlan(t, PlanOptions{}, requests(21, 50)...)
	if err := p.AddProbes(Probes{Tokens: 200, Every: 250 * time.Millisecond, Seed: 3}); err != nil {
		t.Fatal(err)
	}
	rep, rows := replayed(t, p, Options{Target: url, NoPreflight: true})
	truth, n := truthByID(s), map[string]int{}
	for _, r := range rows {
		n[r.Quality]++
		if want := map[string]int{trace.QProbe: 200, trace.QProbeControl: 16}[r.Quality]; r.Quality != "" && (truth[r.RequestID].PromptTokens != want || r.EndpointKind != "other" || r.FirstUS == nil) {
			t.Errorf("%+v: the target saw %d tokens", r, truth[r.RequestID].PromptTokens)
		}
	}
	if n[trace.QProbe] != 2 || n[trace.QProbeControl] != 2 || n[""] != 21 || rep.Planned != 25 {
		t.Errorf("%v, %d planned", n, rep.Planned)
	}
}
