package replay

import "golang.org/x/sys/unix"

// kernelClock is what a time service (chrony, ntpd, timesyncd) told the kernel: what of the offset is not yet corrected, and
// the largest error. Containers share it with their host.
func kernelClock() Clock {
	c := Clock{Source: "kernel"}
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		c.Why = err.Error()
		return c
	}
	if t.Status&unix.STA_UNSYNC != 0 {
		c.Why = "the kernel says that nothing keeps its clock right"
		return c
	}
	left := float64(t.Offset) // to be added to the clock
	if t.Status&unix.STA_NANO != 0 {
		left /= 1e3
	}
	offset, bound := -left, float64(t.Maxerror)
	c.OffsetUS, c.ErrorUS = &offset, &bound
	return c
}
