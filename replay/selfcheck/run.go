package selfcheck

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"reprise/replay"
)

// The parts of a check, as shares of its time. Ladders end at their deadline; a rung under way is finished.
const (
	sendShare   = .12
	stampShare  = .12
	streamUntil = .65
	rungShare   = .03
)

// Loads of the two checks that are not ladders.
const (
	sendRate     = 100 // requests a second
	stampStreams = 100
	chunkGap     = 20 * time.Millisecond
)

// DefaultBudget keeps a check well within a minute.
const DefaultBudget = 40 * time.Second

// Run measures. budget is about how long it takes; 0 is DefaultBudget. say is told what is being measured; nil for silence.
// The error is ctx's, or that of a machine that cannot open sockets.
func Run(ctx context.Context, budget time.Duration, say func(string)) (*replay.SelfCheck, error) {
	if budget <= 0 {
		budget = DefaultBudget
	}
	if say == nil {
		say = func(string) {}
	}
	start := time.Now()
	c := &replay.SelfCheck{AtUS: start.UnixMicro(), System: runtime.GOOS + "/" + runtime.GOARCH + " " + runtime.Version(), CPUs: runtime.GOMAXPROCS(0), Load: loadAverage()}
	part := func(share float64) time.Duration { return time.Duration(share * float64(budget)) }
	for _, step := range []struct {
		say string
		do  func() error
	}{
		{"how late requests leave", func() (err error) { c.Send, err = sends(ctx, part(sendShare)); return err }},
		{"how exact chunk times are", func() (err error) { c.Stamps, err = stamps(ctx, part(stampShare)); return err }},
		{"how many streams at once", func() (err error) {
			c.Streams, err = climb(ctx, 50, start.Add(part(streamUntil)), streams(part(rungShare)))
			return err
		}},
		{"how many requests a second", func() (err error) {
			c.Requests, err = climb(ctx, 100, start.Add(budget), rates(part(rungShare)))
			return err
		}},
	} {
		say(step.say)
		if err := step.do(); err != nil {
			return nil, err
		}
	}
	c.TookUS, c.LoadEnd = time.Since(start).Microseconds(), loadAverage()
	return c, nil
}

// sends measures with little else to do.
func sends(ctx context.Context, d time.Duration) (c replay.SendCheck, err error) {
	n := max(int(d.Seconds()*sendRate), 20)
	o, err := trial{requests: n, over: d, tokens: 2, gap: time.Millisecond}.run(ctx)
	if err != nil {
		return c, err
	}
	f := &o.reports[0].Fidelity
	if f.Sent == 0 || len(o.arrived) == 0 {
		return c, errors.New("no request reached the server in this process")
	}
	lag := f.Lag
	return replay.SendCheck{PerSecond: sendRate, Error: replay.Spread{N: f.Sent, P50: lag.P50US, P99: lag.P99US, Max: lag.MaxUS},
		Server: spread(o.arrived), HiccupP99: f.Health.HiccupP99}, nil
}

// stamps measures both kinds of stamps at once, on streams that all get their chunk at the same moment.
func stamps(ctx context.Context, d time.Duration) (c replay.StampCheck, err error) {
	o, err := trial{requests: stampStreams, over: d / 4, tokens: max(int(3*d/4/chunkGap), 5), gap: chunkGap, clock: true}.run(ctx)
	if err != nil {
		return c, err
	}
	c = replay.StampCheck{Streams: stampStreams, PerSecond: float64(time.Second / chunkGap), Clock: spread(o.user), WriteP99: spread(o.write).P99, ServerLate: spread(o.late).P99}
	h := &o.reports[0].Fidelity.Health
	c.HiccupP99 = h.HiccupP99
	for _, r := range o.reports {
		h := r.Fidelity.Health
		if k := h.KernelShare; k != nil && *k > .99 {
			s := spread(o.kernel)
			c.Kernel = &s
		}
		if s := h.Coalesced; s != nil {
			c.SharedShare = max(c.SharedShare, *s)
		}
	}
	return c, nil
}

// streams tries so many at once, started over a third of the time.
func streams(d time.Duration) tried {
	return func(ctx context.Context, n int) (replay.Rung, error) {
		return trial{requests: n, over: d / 3, tokens: max(int(d/chunkGap), 5), gap: chunkGap}.judged(ctx, n)
	}
}

// rates tries so many requests a second, with short answers.
func rates(d time.Duration) tried {
	return func(ctx context.Context, n int) (replay.Rung, error) {
		return trial{requests: max(int(d.Seconds()*float64(n)), 20), over: d, tokens: 4, gap: 5 * time.Millisecond}.judged(ctx, n)
	}
}

func (t trial) judged(ctx context.Context, load int) (replay.Rung, error) {
	o, err := t.run(ctx)
	if err != nil {
		return replay.Rung{}, err
	}
	return o.rung(load), nil
}

// loadAverage is that of the last minute; nil where the system does not say.
func loadAverage() *float64 {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return nil
	}
	word, _, _ := strings.Cut(string(b), " ")
	v, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return nil
	}
	return &v
}
