package replay

import (
	"context"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func newPacer() pacer { return &kernelPacer{} }

// kernelPacer waits on a timer of the kernel through the runtime's poller: as exact as a thread of its own that sleeps, but nothing is held
// meanwhile. The runtime's own sleep is half a millisecond late on average (golang/go#44343), and a thread that sleeps in the kernel keeps
// the runtime's monitor awake, which took a fifth of the processor time.
type kernelPacer struct {
	timer syscall.RawConn // nil: there is none
	spec  unix.ItimerSpec
	fired [8]byte
}

func (k *kernelPacer) open() func() {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return func() {}
	}
	file := os.NewFile(uintptr(fd), "timer")
	k.timer, _ = file.SyscallConn()
	return func() { file.Close() }
}

func (k *kernelPacer) until(ctx context.Context, t time.Time, lead time.Duration, woke func(time.Duration)) {
	for ctx.Err() == nil {
		now := time.Now()
		wait := min(t.Sub(now)-lead, nap)
		if wait <= 0 { // 0 would disarm the timer
			return
		}
		if k.timer == nil || !k.sleep(wait) {
			timerPacer{}.until(ctx, t.Add(-lead), 0, woke)
			return
		}
		woke(time.Since(now) - wait)
	}
}

// sleep makes its calls raw, as wire's socket does.
func (k *kernelPacer) sleep(d time.Duration) bool {
	k.spec.Value = unix.NsecToTimespec(int64(d))
	var failed syscall.Errno
	err := k.timer.Control(func(fd uintptr) {
		_, _, failed = unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&k.spec)), 0, 0, 0)
	})
	if err != nil || failed != 0 {
		return false
	}
	err = k.timer.Read(func(fd uintptr) bool {
		_, _, failed = unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&k.fired)), unsafe.Sizeof(k.fired))
		return failed != unix.EAGAIN
	})
	return err == nil && failed == 0
}
