package replay

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

func newPacer() pacer { return threadPacer{} }

// threadPacer waits on a thread of its own with the kernel's finest timers. The runtime's sleep goes through epoll with
// millisecond steps and is half a millisecond late on average (golang/go#44343).
type threadPacer struct{}

func (threadPacer) lock() func() {
	runtime.LockOSThread()
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	return func() {
		if err == nil {
			unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0)
		}
		runtime.UnlockOSThread()
	}
}

func (threadPacer) until(ctx context.Context, t time.Time, lead time.Duration) {
	for time.Until(t) > lead {
		if ctx.Err() != nil {
			return
		}
		ts := unix.NsecToTimespec(int64(min(time.Until(t)-lead, nap)))
		unix.Nanosleep(&ts, nil)
	}
}

// rest sleeps on the calling thread.
func rest(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	unix.Nanosleep(&ts, nil)
}
