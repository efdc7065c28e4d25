package replay

import (
	"context"
	"time"
)

// pacer waits for instants. It is a value so that tests run schedules on a fake clock.
type pacer interface {
	// lock prepares the calling goroutine, which alone calls until; undo gives up what lock took.
	lock() (undo func())
	// until returns at the instant or at most early before it, or soon after ctx has ended.
	until(ctx context.Context, t time.Time)
	// at waits for the rest. It is called by the goroutine that acts at the instant.
	at(t time.Time)
}

// early is how long before an instant the thread wakes and starts the goroutine that acts: the two wake-ups, of the thread and of
// another that runs the goroutine, are late by 50 to 150 microseconds. It spins the rest.
const early = 250 * time.Microsecond

// nap bounds one sleep of the dispatcher thread, which nothing can wake. Not shorter, for what health.go says of sleeps.
const nap = 100 * time.Millisecond

// timerPacer waits with the runtime's timers: about a millisecond late, but everywhere and on fake clocks.
type timerPacer struct{}

func (timerPacer) lock() func() { return func() {} }

func (timerPacer) at(time.Time) {}

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
