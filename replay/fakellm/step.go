package fakellm

import (
	"math"
	"slices"
	"time"
)

// step is one pass of the engine over its streams.
type step struct {
	index         int
	start, end    time.Duration
	paused        time.Duration // of end-start
	decode        []*job
	prefill       []part
	prefillTokens int
	running       int // slots taken
	waiting       int // requests left in the queue
}

// part is what a step prefills of one prompt.
type part struct {
	job    *job
	tokens int
}

// begin composes the step that starts now: running streams first, then who can be admitted.
func (e *engine) begin(start time.Duration) {
	e.running = slices.DeleteFunc(e.running, func(j *job) bool { return j.cancelled })
	s := &step{index: e.steps, start: start}
	budget := e.cfg.PrefillChunk
	if budget == 0 {
		budget = math.MaxInt
	}
	for _, j := range e.running {
		if j.made > 0 {
			s.decode = append(s.decode, j)
		} else if budget > 0 {
			budget -= s.take(j, budget)
		}
	}
	for budget > 0 && len(e.waiting) > 0 && len(e.running) < e.cfg.Slots {
		budget -= s.take(e.admit(start), budget)
	}
	if len(s.decode)+len(s.prefill) == 0 {
		return // every stream was cancelled
	}
	s.running, s.waiting = len(e.running), len(e.waiting)
	cost := e.cost(s)
	s.paused = pausedWithin(e.cfg.Pauses, start, cost)
	s.end = start + cost + s.paused
	e.step, e.steps = s, e.steps+1
}

// admit moves the first waiting job into a slot and looks its prompt up in the cache. The last prompt token is always
// computed, for the first output token comes from it.
func (e *engine) admit(now time.Duration) *job {
	j := e.waiting[0]
	e.waiting = e.waiting[1:]
	e.running = append(e.running, j)
	j.admitted = now
	block := e.cfg.BlockTokens
	j.cached = min(e.cache.hit(j.blocks), max(j.tokens-1, 0)/block) * block
	j.computed = j.cached
	e.totals.prompt += j.tokens
	e.totals.cached += j.cached
	return j
}

// take puts what is left of a prompt into the step, up to the budget.
func (s *step) take(j *job, budget int) int {
	n := min(j.tokens-j.computed, budget)
	s.prefill = append(s.prefill, part{j, n})
	s.prefillTokens += n
	return n
}

func (e *engine) cost(s *step) (d time.Duration) {
	if r := len(s.decode); r > 0 {
		d += e.cfg.DecodeBase + time.Duration(r-1)*e.cfg.DecodePerRunning
	}
	if len(s.prefill) > 0 {
		d += e.cfg.PrefillBase + time.Duration(s.prefillTokens)*e.cfg.PrefillPerToken
	}
	return d
}

// finish makes the step's tokens visible and frees the slots of streams that are complete.
func (e *engine) finish() {
	s := e.step
	for _, p := range s.prefill {
		e.computed(p)
	}
	for _, j := range s.decode {
		e.emit(j, min(j.stride, j.output-j.made))
	}
	e.running = slices.DeleteFunc(e.running, func(j *job) bool { return j.made == j.output })
	e.step, e.ready = nil, s.end
	e.onStep(s)
}

// computed books a part that was prefilled: its blocks enter the cache, and a complete prompt gives the first token.
func (e *engine) computed(p part) {
	s, j := e.step, p.job
	j.computed += p.tokens
	j.prefills = append(j.prefills, PrefillTruth{
		Step: s.index, StartUS: s.start.Microseconds(), EndUS: s.end.Microseconds(), Tokens: p.tokens,
	})
	e.cache.store(j.blocks[:j.computed/e.cfg.BlockTokens])
	if j.computed == j.tokens {
		e.emit(j, 1)
	}
}
