package replay

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// schedule runs items on a fake clock and returns when each was sent, in milliseconds after the start. before is called
// ahead of each send, send as the call.
func onFakeClock(t *testing.T, dueMS []int64, limit int, before, call func()) (sent []int64, held int) {
	synctest.Test(t, func(t *testing.T) {
		items := make([]Item, len(dueMS))
		ready := make(chan prepared, len(items))
		for i := range items {
			items[i].DueUS = dueMS[i] * 1000
			ready <- prepared{index: i}
		}
		close(ready)
		d := &dispatcher{items: items, pace: timerPacer{}, limit: limit, free: make(chan struct{}, 1), start: time.Now()}
		var mu sync.Mutex
		sent = make([]int64, len(items))
		d.run(t.Context(), ready, func(prepared) { before() }, func(p prepared) {
			mu.Lock()
			sent[p.index] = time.Since(d.start).Milliseconds()
			mu.Unlock()
			call()
		})
		held = d.held
	})
	return sent, held
}

func every(n int, ms int64) (due []int64) {
	for i := range n {
		due = append(due, int64(i)*ms)
	}
	return due
}

// Sends leave when they are due, whether or not earlier calls have ended.
func TestOpenLoop(t *testing.T) {
	due := every(100, 10)
	sent, held := onFakeClock(t, due, 1000, func() {}, func() { time.Sleep(time.Hour) })
	for i := range due {
		if sent[i] != due[i] {
			t.Fatalf("send %d left at %d ms, due at %d", i, sent[i], due[i])
		}
	}
	if held != 0 {
		t.Errorf("%d held", held)
	}
}

// 100 sends in one second from a client that can do 50 a second: the last is a second late, and that is visible.
func TestRPL16LatenessIsNotHidden(t *testing.T) {
	due := every(100, 10)
	sent, _ := onFakeClock(t, due, 1000, func() { time.Sleep(20 * time.Millisecond) }, func() {})
	if lag := sent[99] - due[99]; lag != 990 {
		t.Errorf("the last send was %d ms late, want 990", lag)
	}
	if sent[0] != 0 || sent[50] != 1000 {
		t.Errorf("sends 0 and 50 at %d and %d ms", sent[0], sent[50])
	}
}

// Limit 4, 10 a second, 1 s of service: four leave on time, the others when one has ended, in order, and each is counted.
func TestRPL17SafetyLimit(t *testing.T) {
	due := every(12, 100)
	sent, held := onFakeClock(t, due, 4, func() {}, func() { time.Sleep(time.Second) })
	want := []int64{0, 100, 200, 300, 1000, 1100, 1200, 1300, 2000, 2100, 2200, 2300}
	for i := range want {
		if sent[i] != want[i] {
			t.Fatalf("sent %v, want %v", sent, want)
		}
	}
	if held != 8 {
		t.Errorf("%d held, want 8", held)
	}
}

func TestDispatchStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		items := make([]Item, 100)
		ready := make(chan prepared, len(items))
		for i := range items {
			items[i].DueUS = int64(i) * 10_000
			ready <- prepared{index: i}
		}
		close(ready)
		ctx, stop := context.WithTimeout(t.Context(), 255*time.Millisecond)
		defer stop()
		d := &dispatcher{items: items, pace: timerPacer{}, limit: 1000, free: make(chan struct{}, 1), start: time.Now()}
		n := 0
		d.run(ctx, ready, func(prepared) { n++ }, func(prepared) { <-ctx.Done() })
		if n != 26 || time.Since(d.start) != 255*time.Millisecond {
			t.Errorf("%d sent, stopped after %v; want 26 (0 to 250 ms) at 255 ms", n, time.Since(d.start))
		}
	})
}

// A call that will have to connect starts earlier.
func TestLead(t *testing.T) {
	d := &dispatcher{}
	if d.lead() != early {
		t.Error("early where connections are not known")
	}
	d.open = func() int { return 3 }
	for inFlight, want := range map[int64]time.Duration{0: early, 2: early, 3: earlier, 9: earlier} {
		if d.inFlight.Store(inFlight); d.lead() != want {
			t.Errorf("3 connections, %d in flight: %v ahead, want %v", inFlight, d.lead(), want)
		}
	}
}

// The machine's pacer returns a little early at most, and ends with its context.
func TestMachinePacer(t *testing.T) {
	p := newPacer()
	defer p.open()()
	sleeps := 0
	woke := func(late time.Duration) {
		if sleeps++; late < 0 {
			t.Errorf("woke %v early", -late)
		}
	}
	defer func() {
		if sleeps < 20 {
			t.Errorf("told of %d sleeps", sleeps)
		}
	}()
	for range 20 {
		at := time.Now().Add(2 * time.Millisecond)
		p.until(t.Context(), at, early, woke)
		if time.Until(at) > early {
			t.Fatal("returned long before the instant")
		}
	}
	p.until(t.Context(), time.Now().Add(-time.Second), early, woke)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	start := time.Now()
	p.until(ctx, start.Add(time.Hour), early, woke)
	if time.Since(start) > time.Minute {
		t.Error("did not end with its context")
	}
}
