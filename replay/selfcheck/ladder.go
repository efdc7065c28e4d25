package selfcheck

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"reprise/replay"
)

// Bounds of a rung: the fidelity table's on the lag, and for stamps the distance below which two chunks count as one
// (metrics.md 0.1), so that a gap is never off by more.
const (
	maxLag   = 5000.0 // microseconds, 99th percentile
	maxStamp = 1000.0
)

// Tries of a load that breaks a bound: a hiccup must not end the ladder, and a busy machine hiccups often.
const (
	tries     = 2
	busyTries = 5 // while sleeping threads, too, wake later than the bound on sends
)

// climb doubles the load from first until a rung breaks a bound again and again, then tries once between the last two.
// It ends early when the time is over.
func climb(ctx context.Context, first int, deadline time.Time, try tried) (replay.Ladder, error) {
	l := ladder{replay.Ladder{Rungs: []replay.Rung{}}, deadline, try}
	err := l.climb(ctx, first)
	return l.Ladder, err
}

// tried sends one load.
type tried func(context.Context, int) (replay.Rung, error)

type ladder struct {
	replay.Ladder
	deadline time.Time
	try      tried
}

func (l *ladder) over() bool { return time.Now().After(l.deadline) }

func (l *ladder) climb(ctx context.Context, first int) error {
	for load := first; load <= maxLoad && !l.over(); load *= 2 {
		broke, err := l.hold(ctx, load)
		if err != nil {
			return err
		}
		if broke == "" {
			continue
		}
		l.Limit = broke
		if l.Carried > 0 && !l.over() {
			between := int(math.Round(math.Sqrt(float64(l.Carried) * float64(load))))
			r, err := l.step(ctx, between)
			l.Limit = cmp.Or(r.Broke, broke)
			return err
		}
		return nil
	}
	return nil
}

// hold tries one load until it is within the bounds, or has broken them often enough; it says which.
func (l *ladder) hold(ctx context.Context, load int) (string, error) {
	for n := 1; ; n++ {
		r, err := l.step(ctx, load)
		if err != nil || r.Broke == "" {
			return "", err
		}
		if n >= busyTries || n >= tries && r.HiccupP99 <= maxLag || l.over() {
			return r.Broke, nil
		}
	}
}

func (l *ladder) step(ctx context.Context, load int) (replay.Rung, error) {
	r, err := l.try(ctx, load)
	if err == nil {
		l.Rungs = append(l.Rungs, r)
		if r.Broke == "" {
			l.Carried = load
		}
	}
	return r, err
}

// maxLoad bounds a ladder that nothing breaks.
const maxLoad = 12800

// rung judges a trial.
func (o *observed) rung(load int) replay.Rung {
	f := &o.reports[0].Fidelity
	r := replay.Rung{Load: load, LagP99: f.Lag.P99US, ServerLate: spread(o.late).P99, HiccupP99: f.Health.HiccupP99, CPU: f.Health.CPUShare}
	if len(o.kernel) > 0 {
		p := spread(o.kernel).P99
		r.StampP99 = &p
	}
	switch {
	case o.failed > 0:
		r.Broke = fmt.Sprintf("%d of %d requests failed", o.failed, f.Scheduled)
	case r.LagP99 > maxLag:
		r.Broke = fmt.Sprintf("sends %.1f ms late (99th percentile, bound %.0f ms)%s", r.LagP99/1e3, maxLag/1e3, busy(r.HiccupP99))
	case r.StampP99 == nil || *r.StampP99 > maxStamp:
		r.Broke = "no chunk could be checked"
		if r.StampP99 != nil {
			r.Broke = fmt.Sprintf("chunk times %.1f ms off (99th percentile, bound %.0f ms)%s", *r.StampP99/1e3, maxStamp/1e3, busy(r.HiccupP99))
		}
	}
	return r
}

// busy says that the machine itself is later than the bound.
func busy(hiccup float64) string {
	if hiccup <= maxLag {
		return ""
	}
	return fmt.Sprintf(" while sleeping threads woke %.1f ms late: the machine is too busy to tell", hiccup/1e3)
}
