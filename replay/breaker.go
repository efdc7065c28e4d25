package replay

import "time"

// Of the first checkAfter to checkUntil finished requests, and of those that finished within any checkSpan, if there are
// checkAfter or more.
const (
	checkAfter = 20
	checkUntil = 100
	checkSpan  = 30 * time.Second
)

// breaker decides when a replay is hopeless: a fast report about nothing helps nobody (RPL-30), nor does an hour against a
// target that has died. A shorter outage is what a replay has to measure.
type breaker struct {
	share     float64 // of failures; negative never
	start     time.Time
	n, failed int
	recent    []ended
	lost      int // failures in recent
}

type ended struct {
	at     time.Time
	failed bool
}

// add takes a finished request and says whether to stop.
func (b *breaker) add(at time.Time, failed bool) bool {
	if b.share < 0 {
		return false
	}
	if b.n == 0 {
		b.start = at
	}
	b.n, b.failed = b.n+1, b.failed+count(failed)
	b.recent, b.lost = append(b.recent, ended{at, failed}), b.lost+count(failed)
	for at.Sub(b.recent[0].at) > checkSpan {
		b.lost -= count(b.recent[0].failed)
		b.recent = b.recent[1:]
	}
	hopeless := func(failed, n int) bool { return n >= checkAfter && float64(failed) >= b.share*float64(n) }
	return b.n <= checkUntil && hopeless(b.failed, b.n) || at.Sub(b.start) >= checkSpan && hopeless(b.lost, len(b.recent))
}
