package replay

import (
	"context"
	"time"
)

// pacer waits for instants. It is a value so that tests run schedules on a fake clock.
type pacer interface {
	// open prepares the calling goroutine, which alone calls until; undo gives up what open took.
	open() (undo func())
	// until returns at the instant or at most lead before it, or soon after ctx has ended. woke is told how late each sleep ended.
	until(ctx context.Context, t time.Time, lead time.Duration, woke func(late time.Duration))
}

// early is how long before an instant the dispatcher wakes and starts the call: its wake-up and that of a thread that runs the call
// are late by 50 to 150 microseconds, and to build a request takes as long. earlier is that of a call that finds no idle connection: one on
// the same machine takes 300 more. The connection holds the first write back until the instant, on a processor: hence not always.
const early, earlier = 250 * time.Microsecond, 600 * time.Microsecond

// nap bounds one sleep, which nothing can wake.
const nap = 100 * time.Millisecond

// timerPacer waits with the runtime's timers: about a millisecond late, but everywhere and on fake clocks.
type timerPacer struct{}

func (timerPacer) open() func() { return func() {} }

func (timerPacer) until(ctx context.Context, t time.Time, _ time.Duration, woke func(time.Duration)) {
	if wait := time.Until(t); wait > 0 && sleep(ctx, wait) {
		woke(time.Since(t))
	}
}
