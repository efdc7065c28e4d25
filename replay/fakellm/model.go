package fakellm

import (
	"container/heap"
	"slices"
	"time"
)

// engine is the model: a function of the arrivals and cancellations it is told of and of nothing else. Times are since
// the start, and the times it is called with must not decrease. It is not safe for concurrent use.
//
// A step that may start at time t starts only once the engine is told of a time after t, so that arrivals at t are in it
// whichever is told first.
type engine struct {
	cfg     Config
	cache   *prefixCache
	waiting []*job // in order of arrival
	running []*job // one a slot, in order of admission
	timed   timed  // of a Timeline, instead
	step    *step  // the one that runs, nil between steps
	ready   time.Duration
	steps   int
	onStep  func(*step)
	totals  totals
}

// totals count tokens since the start.
type totals struct {
	prompt, cached, output int
}

// job is one request in the engine.
type job struct {
	id     string
	tokens int      // of the prompt
	blocks []uint64 // chain of the prompt's full blocks
	output int      // tokens to make
	stride int      // tokens a decode step makes
	outbox

	arrived     time.Duration
	admitted    time.Duration // start of its first step; valid when prefills is not empty
	cached      int
	computed    int // prompt tokens cached or prefilled
	prefills    []PrefillTruth
	made        int // output tokens
	cancelled   bool
	cancelledAt time.Duration
}

func newEngine(cfg Config, onStep func(*step)) *engine {
	return &engine{cfg: cfg, cache: newPrefixCache(cfg.CacheBlocks), onStep: onStep}
}

// arrive puts a job into the queue, or says that the queue is full.
func (e *engine) arrive(now time.Duration, j *job) bool {
	e.advance(now)
	if t := e.cfg.Timeline; t != nil {
		j.arrived, e.totals.prompt = now, e.totals.prompt+j.tokens
		heap.Push(&e.timed, timedJob{now + t.First, j})
		return true
	}
	inside := len(e.waiting) + len(e.running)
	if limit := e.cfg.QueueLimit; limit != 0 && inside >= e.cfg.Slots+max(limit, 0) {
		return false
	}
	if e.step == nil && inside == 0 {
		e.ready = now
	}
	j.arrived = now
	e.waiting = append(e.waiting, j)
	return true
}

// cancel takes a waiting job out at once; a running one gives its slot back at the start of the next step; one that is
// complete stays complete.
func (e *engine) cancel(now time.Duration, j *job) {
	e.advance(now)
	if j.made == j.output {
		return
	}
	j.cancelled, j.cancelledAt = true, now
	e.waiting = slices.DeleteFunc(e.waiting, func(w *job) bool { return w == j })
}

// advance runs everything that ends by now.
func (e *engine) advance(now time.Duration) {
	if e.cfg.Timeline != nil {
		e.follow(now)
		return
	}
	for {
		at, ok := e.next()
		if !ok || at > now {
			return
		}
		if e.step != nil {
			e.finish()
		} else {
			e.begin(at - 1)
		}
	}
}

// next is the time to call advance again: the end of the running step, or just after the start of the coming one.
// Without work there is none.
func (e *engine) next() (time.Duration, bool) {
	switch {
	case len(e.timed) > 0:
		return e.timed[0].at, true
	case e.step != nil:
		return e.step.end, true
	case len(e.waiting)+len(e.running) == 0:
		return 0, false
	}
	return afterPause(e.cfg.Pauses, e.ready) + 1, true
}

// emit hands n tokens to the stream; the last chunk closes it.
func (e *engine) emit(j *job, n int) {
	if j.cancelled {
		return
	}
	j.made += n
	e.totals.output += n
	j.put(chunk{at: e.step.end, tokens: n, step: e.step.index}, j.made == j.output)
}

// afterPause is t, or the end of the pause that t is in.
func afterPause(pauses []Pause, t time.Duration) time.Duration {
	for _, p := range pauses {
		if p.At <= t && t < p.At+p.For {
			t = p.At + p.For
		}
	}
	return t
}

// pausedWithin is how much longer a step from start of this cost takes for pauses.
func pausedWithin(pauses []Pause, start, cost time.Duration) (paused time.Duration) {
	for _, p := range pauses {
		if p.At >= start && p.At < start+cost+paused {
			paused += p.For
		}
	}
	return paused
}
