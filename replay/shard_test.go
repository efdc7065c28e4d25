package replay

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/fakellm"
)

// sessionRows are n sessions of three turns that share a system prompt.
func sessionRows(n int) []trace.Request {
	var rows []trace.Request
	for s := range n {
		for turn := range 3 {
			r := row(fmt.Sprintf("s%d-%d", s, turn), int64(s*7+turn*100), int64(60+20*turn), 3)
			r.SessionID, r.SystemPromptHash, r.SystemPromptTokens = fmt.Sprint("session ", s), "all", trace.Ptr(int64(40))
			rows = append(rows, r)
		}
	}
	return rows
}

// Four clients send what one would: each request once, sessions whole, at the times of the whole plan, with the same bytes.
func TestShardsAreThePlan(t *testing.T) {
	whole := mustPlan(t, PlanOptions{}, append(sessionRows(20), requests(30, 11)...)...)
	prompts := func(p *Plan) map[string]string {
		m, out := &bodyMaker{prompter: newPrompter(Calibration{TokensPerWord: 1}, "x"), opt: &Options{}, lengths: LengthsRecorded}, map[string]string{}
		for i := range p.Items {
			b, err := m.after(&p.Items[i], nil)
			if err != nil {
				t.Fatal(err)
			}
			out[fmt.Sprint(p.Items[i].RequestID, p.Items[i].DueUS)] = string(b.bytes)
		}
		return out
	}
	want, got, clients := prompts(whole), map[string]string{}, map[string]int{}
	all := 0
	for i := range 4 {
		p, err := whole.Shard(i, 4)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range p.Items {
			if before, ok := clients[it.SessionID]; ok && it.SessionID != "" && before != i {
				t.Errorf("%s is in shards %d and %d", it.SessionID, before, i)
			}
			clients[it.SessionID] = i
		}
		all += len(p.Items)
		for k, v := range prompts(p) {
			got[k] = v
		}
		if p.Part.Requests != 90 || p.Part.Plan != whole.name() || p.Summary.DurationUS != whole.Summary.DurationUS || p.Summary.Requests != len(p.Items) {
			t.Errorf("shard %d: %+v, %+v", i, p.Part, p.Summary)
		}
		again, _ := whole.Shard(i, 4)
		if !reflect.DeepEqual(again, p) {
			t.Errorf("shard %d comes out another way the second time", i)
		}
	}
	if all != 90 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d requests, %d different; want %d", all, len(got), len(want))
	}
}

// The first prompt of a shared system prompt is no hit for an empty cache; the clients of the other shards may have sent it before.
func TestShardKnowsBothIdeals(t *testing.T) {
	whole := mustPlan(t, PlanOptions{}, sessionRows(20)...) // 60 prompts of 60, 80, 100 tokens, 40 of them shared: 59*40 of 4800
	hits, tokens, others := int64(0), int64(0), 0.0
	for i := range 3 {
		p, err := whole.Shard(i, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range p.Items {
			hits += it.IdealHit
		}
		tokens += p.Summary.InputTokens
		others += *p.Part.PrefixShare * float64(p.Summary.InputTokens)
	}
	if tokens != 4800 || hits != 57*40 || int(others+.5) != 59*40 {
		t.Errorf("%d tokens, %d hits of each part's own, %.1f of the whole; want 4800, %d, %d", tokens, hits, others, 57*40, 59*40)
	}
}

func TestShardRefusals(t *testing.T) {
	p := mustPlan(t, PlanOptions{}, requests(3, 10)...)
	for _, c := range []struct {
		i, n int
		want string
	}{{4, 4, "from 0 to n-1"}, {-1, 2, "from 0 to n-1"}, {0, 0, "from 0 to n-1"}, {0, 50, "of 50 clients would have nothing to send, the plan has 3 sessions"}} {
		if _, err := p.Shard(c.i, c.n); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d/%d: %v, want %q", c.i, c.n, err, c.want)
		}
	}
}

// All wait for the agreed instant; who comes too late sends nothing.
func TestStartAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(90 * time.Second)
		start, err := (&Options{StartAt: at}).anchor(context.Background())
		if wait := time.Until(at); err != nil || !start.Equal(at) || wait <= 0 || wait > anchorAhead {
			t.Errorf("%v, %v; want %v, told at most %v before (%v)", start, err, at, anchorAhead, wait)
		}
	})
	s, url := target(t, fakellm.Config{})
	o := Options{Target: url, NoPreflight: true, StartAt: time.Now().Add(-3 * time.Second)}
	if rep, err := Run(t.Context(), mustPlan(t, PlanOptions{}, requests(2, 10)...), o); err == nil || rep != nil || !strings.Contains(err.Error(), "nothing was sent") {
		t.Errorf("%+v, %v", rep, err)
	}
	if n := len(s.Truth().Requests); n != 0 {
		t.Errorf("%d requests came", n)
	}
	o.StartAt = time.Now().Add(400 * time.Millisecond)
	_, rows := replayed(t, mustPlan(t, PlanOptions{}, requests(2, 10)...), o)
	slices.SortFunc(rows, func(a, b trace.Request) int { return int(*a.Arrival - *b.Arrival) })
	if got := *rows[0].Arrival; got != o.StartAt.UnixMicro() {
		t.Errorf("the first request was due at %d, want %d", got, o.StartAt.UnixMicro())
	}
}
