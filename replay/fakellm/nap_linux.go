package fakellm

import (
	"time"

	"golang.org/x/sys/unix"
)

// sharpen asks the kernel not to delay this thread's timers (50 us otherwise). A refusal costs only precision.
func sharpen() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}

// nap sleeps in the kernel: the runtime's own timers round up to a millisecond when the process is idle.
func nap(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // woken early by a signal: the caller's loop waits out the rest
}
