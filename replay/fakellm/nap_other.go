//go:build !linux

package fakellm

import (
	"runtime"
	"time"
)

// sharpen has no counterpart here.
func sharpen() {}

// nap sleeps by the runtime's timer up to its worst lateness before the end, then gives way in a loop. This costs up to
// a millisecond of processor time a step; steps then end some tens of microseconds late, more when the machine is busy.
func nap(d time.Duration) {
	end := time.Now().Add(d)
	time.Sleep(d - time.Millisecond)
	for time.Now().Before(end) {
		runtime.Gosched()
	}
}
