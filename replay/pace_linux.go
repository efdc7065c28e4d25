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

// lock has the runtime take one more processor: a thread that sleeps in the kernel keeps one until the runtime's monitor takes it away, up to
// 10 ms, while a call that is due waits.
func (threadPacer) lock() func() {
	runtime.LockOSThread()
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	runtime.GOMAXPROCS(processors + 1)
	return func() {
		runtime.GOMAXPROCS(processors)
		if err == nil {
			unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0)
		}
		runtime.UnlockOSThread()
	}
}

func (threadPacer) until(ctx context.Context, t time.Time, lead time.Duration, woke func(time.Duration)) {
	for time.Until(t) > lead {
		if ctx.Err() != nil {
			return
		}
		wait := min(time.Until(t)-lead, nap)
		end, ts := time.Now().Add(wait), unix.NsecToTimespec(int64(wait))
		if unix.Nanosleep(&ts, nil) == nil { // no signal ended it
			woke(time.Since(end))
		}
	}
}
