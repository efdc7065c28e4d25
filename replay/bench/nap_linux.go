package main

import (
	"syscall"
	"time"
)

// nap sleeps on the calling thread, without the runtime's timers.
func nap(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	syscall.Nanosleep(&ts, nil)
}
