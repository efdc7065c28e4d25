package replay

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/fakellm"
)

// talk rows: arrival and end in milliseconds, all of one session; an end below 0 is unknown.
func talkRows(spans ...[2]int64) []trace.Request {
	var rows []trace.Request
	for i, s := range spans {
		r := row(fmt.Sprint("t", i), s[0], 20, 3)
		r.SessionID, r.Turn, r.EndUS = "s", trace.Ptr(int32(i+1)), nil
		if s[1] >= 0 {
			r.EndUS = trace.Ptr((s[1] - s[0]) * 1000)
		}
		rows = append(rows, r)
	}
	return rows
}

func TestTurns(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		name string
		rows []trace.Request
		opt  PlanOptions
		want []turn
	}{
		{"one after another", talkRows([2]int64{0, 50}, [2]int64{150, 250}, [2]int64{400, 500}), PlanOptions{}, []turn{{-1, 0, false}, {0, 100 * ms, true}, {1, 150 * ms, true}}},
		{"in parallel", talkRows([2]int64{0, 100}, [2]int64{50, 300}, [2]int64{120, 200}, [2]int64{400, 500}), PlanOptions{}, []turn{{-1, 0, false}, {-1, 0, false}, {0, 20 * ms, true}, {1, 100 * ms, true}}},
		{"unknown end", talkRows([2]int64{0, -1}, [2]int64{150, 250}, [2]int64{300, 400}), PlanOptions{}, []turn{{-1, 0, false}, {0, 0, false}, {1, 50 * ms, true}}},
		{"twice as fast", talkRows([2]int64{0, 50}, [2]int64{150, 250}), PlanOptions{Speed: 2}, []turn{{-1, 0, false}, {0, 50 * ms, true}}},
		{"speed before the longest gap", talkRows([2]int64{0, 50}, [2]int64{150, 250}, [2]int64{1250, 1300}), PlanOptions{Speed: 2, MaxGap: 60 * ms}, []turn{{-1, 0, false}, {0, 50 * ms, true}, {1, 60 * ms, true}}},
	} {
		if got := mustPlan(t, c.opt, c.rows...).turns(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	apart := talkRows([2]int64{0, 50}, [2]int64{150, 250})
	apart[0].SessionID, apart[1].SessionID = "a", ""
	if got := mustPlan(t, PlanOptions{}, apart...).turns(); got[1].after != -1 {
		t.Errorf("calls of no common session: %v", got)
	}
}

// On a fake clock: two calls of a plan at 0 and 500 ms, and turns that are made known while it runs. Each leaves when it is due, in
// order, also one that comes in with an earlier time than the one waited for.
func TestTurnsLeaveWhenDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		items := make([]Item, 5)
		items[1].DueUS = 500_000
		ready := make(chan prepared, 2)
		ready <- prepared{index: 0}
		ready <- prepared{index: 1}
		close(ready)
		d := &dispatcher{items: items, pace: timerPacer{}, limit: 10, free: make(chan struct{}, 1), start: time.Now(), turns: newTurnQueue()}
		push := func(index int, in, due time.Duration) {
			d.wg.Go(func() {
				time.Sleep(in)
				d.turns.push(prepared{index: index, due: d.start.Add(due)})
			})
		}
		push(2, 100*time.Millisecond, 900*time.Millisecond)
		push(3, 200*time.Millisecond, 300*time.Millisecond)
		push(4, 700*time.Millisecond, 700*time.Millisecond) // no think time
		var mu sync.Mutex
		left := map[int]int64{}
		d.run(t.Context(), ready, func(prepared) {}, func(p prepared) {
			mu.Lock()
			defer mu.Unlock()
			left[p.index] = time.Since(d.start).Milliseconds()
		})
		if want := map[int]int64{0: 0, 1: 500, 2: 900, 3: 300, 4: 700}; fmt.Sprint(left) != fmt.Sprint(want) {
			t.Errorf("left at %v ms, want %v", left, want)
		}
	})
}

// Recorded: an answer of 50 ms and 100 ms of thought. The target takes 300 ms. Turn 2 leaves 100 ms after the answer came, its
// delay is not the client's, and its latency counts from when it could leave.
func TestSessionsWaitForAnswers(t *testing.T) {
	s, url := target(t, fakellm.Config{PrefillBase: 300 * time.Millisecond})
	plan := mustPlan(t, PlanOptions{}, append(talkRows([2]int64{0, 50}, [2]int64{150, 200}), row("other", 160, 20, 3))...)
	rep, rows := replayed(t, plan, Options{Target: url, Pacing: PacingSessions})
	truth := truthByID(s)
	first, second, other := truth["t0"], truth["t1"], truth["other"]
	if gap := second.ArrivalUS - first.EndUS; gap < 100_000-2000 || gap > 600_000 {
		t.Errorf("turn 2 arrived %d us after answer 1, want 100 ms or a little more", gap)
	}
	late := int64(0) // of the first, which the plan does not wait for
	for _, r := range rows {
		if r.RequestID == "t0" {
			late = *r.SendLagUS
		}
	}
	if gap := other.ArrivalUS - first.ArrivalUS + late; gap < 158_000 || gap > 400_000 {
		t.Errorf("a call of no session arrived after %d us, want 160 ms", gap)
	}
	d := rep.Fidelity.Dependency
	if d == nil || d.Turns != 1 || d.Late != 1 || d.ThinkUnknown != 0 || d.MaxUS < 240_000 || rep.Fidelity.TurnsEarly != 0 || rep.Pacing != PacingSessions {
		t.Fatalf("dependency %+v, early %d", d, rep.Fidelity.TurnsEarly)
	}
	if rep.Fidelity.Lag.MaxUS > d.MaxUS/2 || !hasNotice(rep.Notices, "closed_loop") {
		t.Errorf("client lag %+v, notices %v", rep.Fidelity.Lag, rep.Notices)
	}
	for _, r := range rows {
		if r.RequestID == "t1" && (*r.FirstUS < 300_000 || *r.FirstUS > 540_000) {
			t.Errorf("turn 2: first token after %d us, want 300 ms from when it could leave", *r.FirstUS)
		}
	}
	open, _ := replayed(t, plan, Options{Target: url})
	if f := open.Fidelity; f.TurnsEarly != 1 || f.Dependency != nil || !hasNotice(open.Notices, "turns_early") || hasNotice(open.Notices, "closed_loop") {
		t.Errorf("open: %d early, dependency %+v", f.TurnsEarly, f.Dependency)
	}
}

// A target that is faster than the recorded system gets each turn at its due time; a turn whose think time is unknown follows at
// once, and that is said.
func TestSessionsKeepDueTimes(t *testing.T) {
	s, url := target(t, fakellm.Config{})
	rows := append(talkRows([2]int64{0, 100}, [2]int64{200, 250}), talkRows([2]int64{0, -1}, [2]int64{120, 250})...)
	for i, id := range []string{"a0", "a1", "b0", "b1"} {
		rows[i].RequestID, rows[i].RootRequestID, rows[i].SessionID = id, id, id[:1]
	}
	rep, _ := replayed(t, mustPlan(t, PlanOptions{}, rows...), Options{Target: url, Pacing: PacingSessions})
	truth := truthByID(s)
	for id, due := range map[string]int64{"a1": 200_000, "b1": 120_000} {
		if at := truth[id].ArrivalUS - truth["a0"].ArrivalUS; at < due-20_000 || at > due+300_000 {
			t.Errorf("%s arrived after %d us, due at %d", id, at, due)
		}
	}
	if d := rep.Fidelity.Dependency; d.Turns != 2 || d.Late != 0 || d.ThinkUnknown != 1 || !hasNotice(rep.Notices, "think_unknown") {
		t.Errorf("%+v", d)
	}
	if rep.Sent != 4 || rep.Classes[trace.ClassOK] != 4 {
		t.Errorf("sent %d, %v", rep.Sent, rep.Classes)
	}
}

// A turn that fails does not hold up the next for ever, and a replay that is stopped does not wait for turns to come.
func TestSessionsGoOnAfterFailures(t *testing.T) {
	_, url := target(t, fakellm.Config{Behave: fakellm.Rules{{ID: "t0", Do: fakellm.Behaviour{Status: 500}}}.For})
	rep, _ := replayed(t, mustPlan(t, PlanOptions{}, talkRows([2]int64{0, 50}, [2]int64{60, 100})...), Options{Target: url, Pacing: PacingSessions})
	if rep.Sent != 2 || rep.Classes[trace.ClassOK] != 1 || rep.Classes[trace.ClassUpstream] != 1 {
		t.Errorf("sent %d, %v", rep.Sent, rep.Classes)
	}
}
