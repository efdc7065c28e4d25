package replay

import (
	"context"
	"time"
)

// pacer waits for instants. It is a value so that tests run schedules on a fake clock.
type pacer interface {
	// lock prepares the calling goroutine, which alone calls until; undo gives up what lock took.
	lock() (undo func())
	// until returns at the instant, or soon after ctx has ended.
	until(ctx context.Context, t time.Time)
}

// early is how long before an instant the thread wakes to spin the rest: a wake-up is late by tens of microseconds, and 150
// was the best trade of exactness for a core's time (stack.md part 7).
const early = 150 * time.Microsecond

// nap bounds one sleep of the dispatcher thread, which nothing can wake. Not shorter, for what health.go says of sleeps.
const nap = 100 * time.Millisecond

// timerPacer waits with the runtime's timers: about a millisecond late, but everywhere and on fake clocks.
type timerPacer struct{}

func (timerPacer) lock() func() { return func() {} }

func (timerPacer) until(ctx context.Context, t time.Time) {
	wait := time.Until(t)
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
