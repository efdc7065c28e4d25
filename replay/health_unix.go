//go:build unix

package replay

import (
	"syscall"
	"time"
)

// cpuTime is the processor time this process has used.
func cpuTime() (time.Duration, bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}

// descriptorLimit is how many requests may be in flight, each on a connection of its own.
func descriptorLimit() int {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return fallbackLimit
	}
	return int(min(max(int64(min(uint64(r.Cur), 1<<30))-spareDescriptors, 16), 1<<20))
}

// spareDescriptors are left for files and the rest.
const spareDescriptors = 64
