package replay

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

func dues(p *Plan) (ms []int64) {
	for _, it := range p.Items {
		ms = append(ms, it.DueUS/1000)
	}
	return ms
}

func ids(p *Plan) (list []string) {
	for _, it := range p.Items {
		list = append(list, it.RequestID)
	}
	return list
}

func TestRPL18InputsMergeByArrival(t *testing.T) {
	rows := []trace.Request{row("a1", 0, 5, 5), row("a2", 2000, 5, 5), row("b1", 1000, 5, 5), row("b2", 3000, 5, 5), row("a0", 0, 5, 5)}
	p := mustPlan(t, PlanOptions{}, rows...)
	if d := cmp.Diff([]string{"a0", "a1", "b1", "a2", "b2"}, ids(p)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int64{0, 0, 1000, 2000, 3000}, dues(p)); d != "" {
		t.Error(d)
	}
	for range 5 {
		rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		if d := cmp.Diff(p.Items, mustPlan(t, PlanOptions{}, rows...).Items); d != "" {
			t.Fatalf("the order of reading changes the plan: %s", d)
		}
	}
}

func TestRPL19SpeedAndGaps(t *testing.T) {
	rows := []trace.Request{row("a", 100, 5, 5), row("b", 2100, 5, 5), row("c", 10100, 5, 5)}
	if p := mustPlan(t, PlanOptions{Speed: 2}, rows...); p.Summary.DurationUS != 5_000_000 {
		t.Errorf("10 s at speed 2 planned as %d us, want 5 s", p.Summary.DurationUS)
	}
	// Speed first (gaps of 1 s and 4 s), then the gap of 4 s is cut to 3 s: both count in replay time.
	p := mustPlan(t, PlanOptions{Speed: 2, MaxGap: 3 * time.Second}, rows...)
	if d := cmp.Diff([]int64{0, 1000, 4000}, dues(p)); d != "" || p.Summary.CutUS != 1_000_000 {
		t.Errorf("cut %d us: %s", p.Summary.CutUS, d)
	}
	for _, bad := range []PlanOptions{{Speed: -1}, {Sample: 2}, {Sample: -.1}, {MaxGap: -1}, {Lengths: "long"}} {
		if _, err := BuildPlan(seq(rows...), bad); err == nil {
			t.Errorf("%+v: want an error", bad)
		}
	}
}

func TestRPL20QuietHeadAndZeroTokens(t *testing.T) {
	var rows []trace.Request
	for i := range 300 {
		rows = append(rows, row(fmt.Sprint("q", i), int64(i)*33_000, 5, 5)) // 0.03 a second for 9900 s
	}
	for i := range 9000 {
		rows = append(rows, row(fmt.Sprint("b", i), 9_900_000+int64(i)*333, 5, 5)) // 3 a second for 3000 s
	}
	rows = append(rows, row("z1", 50, 0, 5), row("z2", 60, 5, 0))
	p := mustPlan(t, PlanOptions{}, rows...)
	if !hasNotice(p.Summary.Notices, "quiet_head") {
		t.Errorf("no notice about the quiet head: %v", p.Summary.Notices)
	}
	if p.Summary.LeftOut[OutZeroTokens] != 2 || p.Summary.Requests != 9300 {
		t.Errorf("left out %v of %d", p.Summary.LeftOut, p.Summary.Requests)
	}
	p = mustPlan(t, PlanOptions{From: trace.Ptr(int64(9_900_000_000))}, rows...)
	if hasNotice(p.Summary.Notices, "quiet_head") || p.Summary.Requests != 9000 || p.Summary.PeakRate != 4 {
		t.Errorf("from the busy part: %v, %d requests, peak %d a second; want no notice, 9000 and 4", p.Summary.Notices, p.Summary.Requests, p.Summary.PeakRate)
	}
}

func hasNotice(list []Notice, code string) bool {
	return slices.ContainsFunc(list, func(n Notice) bool { return n.Code == code })
}

func TestRPL21BlocksMustFitLength(t *testing.T) {
	bad := row("bad", 0, 300, 5)
	bad.PrefixHashIDs, bad.PrefixBlockTokens = []int64{1, 2, 3}, trace.Ptr(int32(512))
	dropped := row("dropped", 1, 300, 5)
	dropped.PrefixHashIDs, dropped.PrefixBlockTokens = []int64{1, 2, 3}, trace.Ptr(int32(512))
	trace.Check(&dropped) // ingest has found it already and dropped the ids
	good := row("good", 2, 1300, 5)
	good.PrefixHashIDs, good.PrefixBlockTokens = []int64{1, 2, 3}, trace.Ptr(int32(512))
	p := mustPlan(t, PlanOptions{}, bad, dropped, good)
	if p.Summary.LeftOut[OutPrefix] != 2 || len(p.Items) != 1 {
		t.Errorf("left out %v", p.Summary.LeftOut)
	}
	if d := cmp.Diff([]int32{512, 512, 276}, p.Items[0].PrefixTokens); d != "" {
		t.Error(d)
	}
}

func TestRPL26WholeSessionsAreSampled(t *testing.T) {
	var rows []trace.Request
	for s := range 1000 {
		for turn := range 3 {
			r := row(fmt.Sprintf("s%d-%d", s, turn), int64(s*10+turn*700), 5, 5)
			r.SessionID = fmt.Sprint("session ", s)
			rows = append(rows, r)
		}
	}
	draw := func(seed uint64) map[string]int {
		turns := map[string]int{}
		for _, it := range mustPlan(t, PlanOptions{Sample: .1, Seed: seed}, rows...).Items {
			turns[it.SessionID]++
		}
		return turns
	}
	seven := draw(7)
	if len(seven) < 70 || len(seven) > 130 {
		t.Errorf("%d of 1000 sessions at 10 %%", len(seven))
	}
	for s, n := range seven {
		if n != 3 {
			t.Errorf("%s has %d of 3 turns", s, n)
		}
	}
	if d := cmp.Diff(seven, draw(7)); d != "" {
		t.Error("the same seed draws other sessions")
	}
	if cmp.Equal(seven, draw(8)) {
		t.Error("another seed draws the same sessions")
	}
}

func TestAttemptsAndSourcesAreOneItem(t *testing.T) {
	failed := row("call-1", 0, 0, 0)
	failed.RootRequestID, failed.ErrorClass, failed.InputTokens, failed.OutputTokens = "call", trace.ClassUpstream, nil, nil
	won := row("call-2", 900, 30, 7)
	won.RootRequestID, won.Attempt, won.Tenant = "call", 2, "acme"
	engine := row("call-2", 905, 30, 7)
	engine.RootRequestID, engine.Attempt, engine.Vantage, engine.SourceFile = "call", 2, trace.Engine, "spans.json"
	engine.PrefixHashIDs, engine.PrefixBlockTokens = []int64{5, 6}, trace.Ptr(int32(16))
	p := mustPlan(t, PlanOptions{}, engine, won, failed)
	if len(p.Items) != 1 {
		t.Fatalf("%d items, want one call", len(p.Items))
	}
	it := p.Items[0]
	if it.Arrival != 0 || it.RequestID != "call-1" || it.RootID != "call" || it.InputTokens != 30 || it.OutputTokens != 7 || it.Tenant != "acme" || len(it.PrefixIDs) != 2 {
		t.Errorf("%+v: want the arrival of the first attempt and what is known of the one that counted", it)
	}
	// Ids made from line numbers are not the same call in two files.
	a, b := row("1", 0, 5, 5), row("1", 1, 5, 5)
	a.AddQuality(trace.QIDDerived)
	b.AddQuality(trace.QIDDerived)
	b.SourceFile = "b.jsonl"
	if p := mustPlan(t, PlanOptions{}, a, b); len(p.Items) != 2 {
		t.Errorf("%d items, want 2", len(p.Items))
	}
}

func TestLeftOut(t *testing.T) {
	change := func(id string, f func(r *trace.Request)) trace.Request {
		r := row(id, 1, 5, 5)
		f(&r)
		return r
	}
	rows := []trace.Request{row("ok", 0, 5, 5),
		change("a", func(r *trace.Request) { r.CachedResponse = trace.Ptr(true) }),
		change("b", func(r *trace.Request) { r.EndpointKind = "rerank" }),
		change("c", func(r *trace.Request) { r.ErrorClass = trace.ClassClientError }),
		change("d", func(r *trace.Request) { r.OutputTokens = nil }),
		change("e", func(r *trace.Request) { r.InputTokens = nil }),
		change("f", func(r *trace.Request) { r.Arrival = nil }),
		// Hung up before the counts came: the caller's limit is what there is.
		change("g", func(r *trace.Request) {
			r.ErrorClass, r.OutputTokens, r.MaxTokens = trace.ClassCancel, nil, trace.Ptr(int64(90))
		}),
		change("h", func(r *trace.Request) { r.Stream = nil }),
		change("i", func(r *trace.Request) { r.EndpointKind, r.Stream = "completions", trace.Ptr(false) }),
	}
	p := mustPlan(t, PlanOptions{}, rows...)
	want := map[string]int{OutCached: 1, OutNotGeneration: 1, OutClientError: 1, OutNoCounts: 2}
	// The row without a time has arrival 0 and is inside the range.
	want[OutNoArrival] = 1
	if d := cmp.Diff(want, p.Summary.LeftOut); d != "" {
		t.Error(d)
	}
	if len(p.Items) != 4 || p.Items[1].OutputTokens != 90 || p.Items[1].CancelUS == nil || !p.Items[2].Stream || p.Items[3].Stream || p.Items[3].Endpoint != "completions" {
		t.Errorf("%+v", p.Items)
	}
	if !hasNotice(p.Summary.Notices, "stream_unknown") || !hasNotice(p.Summary.Notices, "no_prompt_shape") {
		t.Errorf("notices %v", p.Summary.Notices)
	}
	if _, err := BuildPlan(seq(rows[1:6]...), PlanOptions{}); err == nil || !strings.Contains(err.Error(), "no_token_counts 2") {
		t.Errorf("got %v, want an error that says why nothing is left", err)
	}
	if _, err := BuildPlan(seq(), PlanOptions{}); err == nil {
		t.Error("an empty run has no plan")
	}
}

func TestSummary(t *testing.T) {
	// Three calls of 1 s at 0, 0.5 and 1 s: at most two are open, since the first ends as the third begins.
	var rows []trace.Request
	for i, at := range []int64{0, 500, 1000} {
		r := row(fmt.Sprint(i), at, 10, 4)
		r.EndUS = trace.Ptr(int64(1_000_000))
		rows = append(rows, r)
	}
	rows[0].SessionID, rows[2].SessionID = "s", "s"
	s := mustPlan(t, PlanOptions{}, rows...).Summary
	if *s.PeakConcurrency != 2 || s.PeakRate != 2 || s.Sessions != 2 || s.InputTokens != 30 || s.OutputTokens != 12 || s.DurationUS != 1_000_000 || s.PrefixShare != nil {
		t.Errorf("%+v", s)
	}
	if s.Profile[0] != 1 || s.Profile[29] != 1 || s.Profile[59] != 1 {
		t.Errorf("profile %v", s.Profile)
	}
}

func TestPlanFile(t *testing.T) {
	r := row("a", 7, 40, 5)
	r.PrefixHashIDs, r.PrefixBlockTokens = []int64{-1 << 63, 5, 9}, trace.Ptr(int32(16))
	r.SystemPromptHash, r.SystemPromptTokens = "h", trace.Ptr(int64(12))
	p := mustPlan(t, PlanOptions{Speed: 3, Body: func(id string, _ int32) []byte { return []byte(`{"id":"` + id + `"}`) }}, r, row("b", 9, 1, 1))
	path := filepath.Join(t.TempDir(), "p.parquet")
	if err := p.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := LoadPlan(path)
	if err != nil {
		t.Fatal(err)
	}
	p.Options.Body = nil
	if d := cmp.Diff(p, got); d != "" {
		t.Error(d)
	}
	if _, err := LoadPlan(filepath.Join(t.TempDir(), "none.parquet")); err == nil {
		t.Error("want an error for a missing file")
	}
	other := filepath.Join(t.TempDir(), "other.parquet")
	if err := trace.WriteTable(other, []trace.Request{r}, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPlan(other); err == nil || !strings.Contains(err.Error(), "plan file") {
		t.Errorf("got %v, want an error that says it is no plan", err)
	}
}
