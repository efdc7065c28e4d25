package replay

import (
	"fmt"
	"math"
	"time"
)

// Verdicts. Invalid: latencies of this run are those of the client or of another load.
const (
	Faithful = "FAITHFUL"
	Degraded = "DEGRADED"
	Invalid  = "INVALID"
)

// Bounds of metrics.md part 6. A bound passed by invalidFactor makes a run invalid rather than degraded; so does a send more
// than a second late.
const (
	lagLimit      = 5 * time.Millisecond
	maxLag        = time.Second
	maxDrift      = 1.0
	maxKS         = 0.05
	invalidFactor = 10
)

// judge compares with the bounds.
func (f *Fidelity) judge(ttftSLO time.Duration, lengths string) {
	f.Verdict, f.Reasons = Faithful, []string{}
	fail := func(verdict, format string, args ...any) {
		f.Reasons = append(f.Reasons, fmt.Sprintf(format, args...))
		if f.Verdict != Invalid {
			f.Verdict = verdict
		}
	}
	limit := float64(max(lagLimit, ttftSLO/20) / time.Microsecond)
	f.Lag.LimitUS = limit
	if f.Sent < f.Scheduled {
		fail(Degraded, "%d of %d requests were sent", f.Sent, f.Scheduled)
	}
	switch {
	case f.Lag.P99US > invalidFactor*limit || f.Lag.MaxUS > float64(maxLag/time.Microsecond):
		fail(Invalid, "sends were late: 99th percentile %.1f ms, longest %.1f ms (bound %.1f ms; a sleeping thread here wakes %.1f ms late)", f.Lag.P99US/1000, f.Lag.MaxUS/1000, limit/1000, f.Health.HiccupP99/1000)
	case f.Lag.P99US > limit:
		fail(Degraded, "sends were late: 99th percentile %.1f ms (bound %.1f ms; a sleeping thread here wakes %.1f ms late)", f.Lag.P99US/1000, limit/1000, f.Health.HiccupP99/1000)
	}
	if d := f.DriftMSPerS; d != nil && math.Abs(*d) > maxDrift {
		verdict := Degraded
		if math.Abs(*d) > invalidFactor*maxDrift {
			verdict = Invalid
		}
		fail(verdict, "the lag drifts by %.2f ms a second: the client does not keep up", *d)
	}
	if f.Inversions > 0 {
		fail(Degraded, "%d requests left before one that was due earlier", f.Inversions)
	}
	if k := f.ArrivalKS1; k != nil && *k > maxKS {
		fail(Degraded, "distances between sends differ from the plan (KS %.3f)", *k)
	}
	if c := f.CVRatio; c != nil && (*c < .95 || *c > 1.05) {
		fail(Degraded, "burstiness of sends is %.2f of the plan's", *c)
	}
	if f.Held > 0 {
		fail(Degraded, "%d sends waited for the limit on requests in flight", f.Held)
	}
	f.judgeContent(fail, lengths)
	f.judgeHealth(fail)
}

func (f *Fidelity) judgeContent(fail func(verdict, format string, args ...any), lengths string) {
	if r := f.InputRatio; r != nil && (*r < .98 || *r > 1.02) {
		fail(Degraded, "prompts were %.1f %% of their recorded length", 100**r)
	} else if c := f.InputClose; c != nil && *c < .99 {
		fail(Degraded, "only %.1f %% of prompts were within 2 %% of their recorded length", 100**c)
	}
	if r := f.OutputRatio; r != nil && lengths == LengthsRecorded && math.Abs(*r-1) > 1e-9 {
		fail(Degraded, "answers were %.1f %% of their recorded length although it was asked for: end-to-end times and throughput do not compare", 100**r)
	} else if r != nil && lengths == LengthsNatural && math.Abs(*r-1) > .1 {
		fail(Degraded, "answers were %.1f %% of their recorded length: end-to-end times and throughput do not compare", 100**r)
	}
	if a, b := f.PrefixPlan, f.PrefixSent; a != nil && b != nil && math.Abs(*a-*b) > .01 {
		fail(Degraded, "%.1f %% of prompt tokens could come from a cache, recorded %.1f %%", 100**b, 100**a)
	}
	b := f.PrefixSent
	if b != nil && f.PrefixAll != nil {
		b = f.PrefixAll
	}
	if a := f.CachedTarget; a != nil && b != nil && *a > *b+.05 {
		f.Warm = true
		fail(Degraded, "%.1f %% of prompt tokens came from the cache where %.1f %% could: it was warm from earlier prompts (a --salt of its own helps)", 100**a, 100**b)
	}
}

func (f *Fidelity) judgeHealth(fail func(verdict, format string, args ...any)) {
	h := &f.Health
	if c := h.CPUShare; c != nil && *c > .8 {
		fail(Degraded, "this client used %.0f %% of its processors", 100**c)
	}
	if g := h.GCPauseP99; g != nil && *g > 5000 {
		fail(Degraded, "garbage collection paused this client for %.1f ms", *g/1000)
	}
	if c := h.ConnectP99; c != nil && *c > f.Lag.LimitUS && h.Connections*100 > f.Sent {
		fail(Degraded, "%d of %d requests needed a new connection, which took up to %.1f ms (99th percentile) and is in their latencies", h.Connections, f.Sent, *c/1000)
	}
	late, k, shared := h.ReadLateP99, h.KernelShare, h.Coalesced
	if late == nil || *late <= 5000 {
		return
	}
	if k != nil && *k < .99 {
		fail(Degraded, "answers were read up to %.1f ms late and have no kernel stamps", *late/1000)
	} else if shared != nil && *shared > .01 {
		fail(Degraded, "answers were read up to %.1f ms late: %.1f %% of chunks share a stamp with another, so short gaps are blurred", *late/1000, 100**shared)
	}
}
