package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/wire"
)

// tally adds up what a replay does. sent is called by the dispatcher, the rest by the collector.
type tally struct {
	r   *run
	err error

	mu                   sync.Mutex
	nSent                int
	words                int64 // of synthetic prompts sent
	hit                  int64 // words of them an endless cache would hold
	done                 []outcome
	classes              map[string]int
	example              []Example
	told                 time.Time
	finals               int
	retried              int // requests tried more than once
	saved                int // of them, those that ended well
	breaker              breaker
	threaded, unthreaded int
}

// outcome is what the checks need of a finished attempt.
type outcome struct {
	index             int
	again             bool          // not the first attempt
	due               time.Duration // after the start, with what the turn before it held it up
	sent              time.Duration // when it left, after it was due
	lag, wait         time.Duration // send lag without the wait for a new connection; that wait
	written           bool
	reused, kernel    bool
	late              time.Duration
	coalesced, chunks int
	input, output     int64 // as the server counted, -1 unknown
	cached            int64
	ok, free          bool
	end               time.Duration // from due, -1 unknown
}

func newTally(r *run) *tally {
	return &tally{r: r, classes: map[string]int{}, example: []Example{}, breaker: breaker{share: r.opt.StopShare}, done: make([]outcome, 0, len(r.plan.Items))}
}

func (t *tally) sent(p prepared) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.nSent++
	t.words += int64(p.words)
	t.hit += int64(p.hit)
}

// threads counts a turn that was to hold the target's answer to the turn before it.
func (t *tally) threads(does bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.threaded, t.unthreaded = t.threaded+count(does), t.unthreaded+count(!does)
}

// collect takes results until the channel is closed.
func (t *tally) collect(results <-chan result) {
	for res := range results {
		row := t.r.record(&res)
		trace.Check(row)
		if t.err == nil {
			if err := t.r.opt.sink(row); err != nil {
				t.err = err
				t.r.stop(errSink)
			}
		}
		t.add(&res, row)
		t.tell(false)
	}
	t.tell(true)
}

func (t *tally) add(res *result, row *trace.Request) {
	o := &res.out
	t.count(res, row.ErrorClass)
	if row.ErrorClass != trace.ClassOK {
		t.addExample(row, o)
	}
	x := outcome{index: res.index, again: res.attempt > 1, due: res.due.Sub(t.r.d.start), written: !o.Sent.IsZero(), reused: o.Reused, wait: o.ConnWait, kernel: o.Stamps == wire.StampKernel,
		late: o.Lateness, coalesced: o.Coalesced, chunks: len(o.Chunks), input: orMinus(row.InputTokens), output: orMinus(row.OutputTokens),
		cached: orMinus(row.CachedInputTokens), ok: row.ErrorClass == trace.ClassOK, free: res.free, end: -1}
	x.lag, x.sent = lateness(o, res.due)
	if row.EndUS != nil {
		x.end = time.Duration(*row.EndUS) * time.Microsecond
	}
	t.done = append(t.done, x)
}

// lateness says by how much a call was sent behind due, and how much of that was this client's own doing: all but the wait for a new
// connection, so far as that was not ahead of due.
func lateness(o *wire.Outcome, due time.Time) (own, sent time.Duration) {
	begun := max(o.Begun.Sub(due), 0)
	if o.Sent.IsZero() {
		return begun, begun
	}
	own = o.Sent.Sub(due)
	sent = own
	if !o.Reused {
		own -= max(o.Begun.Add(o.ConnWait).Sub(due), 0) - begun
	}
	return own, sent
}

// count takes how a request ended in the end, and stops a replay that is hopeless.
func (t *tally) count(res *result, class string) {
	if !res.final {
		return
	}
	t.finals++
	t.classes[class]++
	if res.attempt > 1 {
		t.retried++
		t.saved += count(class == trace.ClassOK)
	}
	failed := class != trace.ClassOK && class != trace.ClassCancel && class != trace.ClassInFlight
	if t.breaker.add(time.Now(), failed) && !t.allSent() {
		t.r.stop(errFailures)
	}
}

func orMinus(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

func (t *tally) addExample(row *trace.Request, o *wire.Outcome) {
	e := Example{RequestID: row.RequestID, Class: row.ErrorClass, Status: o.Status, Reason: o.Reason, Code: o.Code,
		RetryAfterS: int64(o.RetryAfter / time.Second), Count: 1}
	same := func(x Example) bool { return x.Class == e.Class && x.Status == e.Status && x.Reason == e.Reason }
	switch i := slices.IndexFunc(t.example, same); {
	case i >= 0:
		known := &t.example[i]
		if known.Count++; len(known.Others) < maxSamples-1 {
			known.Others = append(known.Others, e.RequestID)
		}
	case len(t.example) < maxExamples:
		t.example = append(t.example, e)
	}
}

// Bounds of what a report says about failures: kinds, and request ids of each.
const (
	maxExamples = 40
	maxSamples  = 4
)

func (t *tally) allSent() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.nSent == len(t.r.plan.Items)
}

// tell reports progress, at most twice a second.
func (t *tally) tell(last bool) {
	if t.r.opt.Progress == nil || !last && time.Since(t.told) < time.Second/2 {
		return
	}
	t.told = time.Now()
	t.mu.Lock()
	p := Progress{Planned: len(t.r.plan.Items), Sent: t.nSent, InFlight: int(t.r.d.inFlight.Load()), Done: t.finals}
	t.mu.Unlock()
	p.Failed = p.Done - t.classes[trace.ClassOK]
	if len(t.done) > 0 {
		p.Lag = t.done[len(t.done)-1].lag
	}
	t.r.opt.Progress(p)
}

// report is made when everything has ended.
func (t *tally) report(cause error, h Health) *Report {
	r := t.r
	slices.SortStableFunc(t.done, func(a, b outcome) int { return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.index, b.index)) })
	rep := &Report{Target: r.opt.replica(), StartUS: r.d.start.UnixMicro(), TookUS: time.Since(r.d.start).Microseconds(), Planned: len(r.plan.Items),
		Sent: t.nSent, Classes: t.classes, Examples: t.example, Attempts: len(t.done), Retried: t.retried, Recovered: t.saved, Pacing: r.opt.Pacing, Threaded: t.threaded, Unthreaded: t.unthreaded, Lengths: r.plan.Options.Lengths, Cancel: r.opt.Cancel, Salt: r.opt.Salt,
		Calibration: r.bodies.cal}
	switch {
	case errors.Is(cause, errFailures):
		rep.Incomplete = StoppedFailures
	case errors.Is(cause, errSink):
		rep.Incomplete = StoppedSink
	case errors.Is(cause, errBody):
		rep.Incomplete = StoppedBody
	case cause != nil:
		rep.Incomplete = StoppedInterrupt
	}
	rep.Fidelity = t.fidelity(h)
	rep.Notices = rep.notices()
	return rep
}

// notices tells what a reader of the figures must know and what no verdict says.
func (rep *Report) notices() []Notice {
	list := []Notice{}
	add := func(code, format string, args ...any) {
		list = append(list, Notice{code, fmt.Sprintf(format, args...)})
	}
	f, c := &rep.Fidelity, rep.Calibration
	if !c.Measured {
		add("not_calibrated", "how the target counts was not measured: prompts have one word for each recorded token")
	} else if c.TokensPerWord != 1 || c.User != 0 {
		add("calibrated", "the target counts %.3f tokens a word and %.0f for its template: prompts are made to come out as long as recorded", c.TokensPerWord, c.User)
	}
	if d := f.Dependency; d != nil {
		add("closed_loop", "turns waited for the answers before them: %d of %d left later than planned (99th percentile %.0f ms), so the load followed the target (closed loop)",
			d.Late, d.Turns, d.P99US/1000)
		if d.ThinkUnknown > 0 {
			add("think_unknown", "%d turns followed at once: the log does not say when the answer before them had ended", d.ThinkUnknown)
		}
	}
	if rep.Threaded+rep.Unthreaded > 0 {
		add("threaded", "%d turns held what the target had answered, %d what was recorded or nothing of it", rep.Threaded, rep.Unthreaded)
	}
	if rep.Retried > 0 {
		add("retried", "%d requests were tried again, %d of them with success: each attempt is a row of its own", rep.Retried, rep.Recovered)
	}
	if f.TurnsEarly > 0 {
		add("turns_early", "%d turns left before the answer to the turn before them had ended", f.TurnsEarly)
	}
	if k := f.Health.KernelShare; k != nil && *k < .99 {
		add("user_stamps", "%.0f %% of answers are stamped by this program and not by the kernel: its own delays are in the figures", 100-100**k)
	}
	return list
}
