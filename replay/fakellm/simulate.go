package fakellm

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Arrival is one request of a simulation.
type Arrival struct {
	ID       string
	At       time.Duration // since the start; truncated to whole microseconds, as a server's stamps are
	Prompt   string        // its words are its tokens
	Output   int           // tokens to make, at least 1
	Stride   int           // tokens a decode step makes; 0: 1
	CancelAt time.Duration // 0: never
}

// Simulate runs the model of a configuration over arrivals, without clock, network, seed or Behave. The truth has the
// times a server would plan; WrittenUS and the HTTP fields are empty, and the outcome is length, cancelled or refused.
// Requests are in order of arrival; arrivals at one time keep the order given.
func Simulate(cfg Config, arrivals []Arrival) (Truth, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Truth{}, err
	}
	t := Truth{Server: serverTruth(cfg, 0)}
	e := newEngine(cfg, func(s *step) { t.Steps = append(t.Steps, stepTruth(s)) })
	arrivals = slices.Clone(arrivals)
	slices.SortStableFunc(arrivals, func(a, b Arrival) int { return cmp.Compare(a.At, b.At) })
	jobs := make([]*job, len(arrivals))
	refused := make([]bool, len(arrivals))
	events := make([]event, 0, len(arrivals))
	for i, a := range arrivals {
		if a.Output < 1 || a.Stride < 0 || a.At < 0 || a.CancelAt != 0 && a.CancelAt < a.At {
			return Truth{}, fmt.Errorf("arrival %q: want output 1 or more, stride and time 0 or more, cancelled after arrival", a.ID)
		}
		jobs[i] = a.job(cfg.BlockTokens)
		events = append(events, event{a.At, func(now time.Duration) { refused[i] = !e.arrive(now, jobs[i]) }})
		if a.CancelAt > 0 {
			events = append(events, event{a.CancelAt, func(now time.Duration) { e.cancel(now, jobs[i]) }})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	for _, ev := range events {
		ev.do(ev.at.Truncate(time.Microsecond))
	}
	e.advance(math.MaxInt64)
	for i, a := range arrivals {
		t.Requests = append(t.Requests, a.truth(jobs[i], refused[i]))
	}
	return t, nil
}

// event is something the engine is told at a time.
type event struct {
	at time.Duration
	do func(now time.Duration)
}

func (a Arrival) job(blockTokens int) *job {
	n, blocks := chain([]string{a.Prompt}, blockTokens)
	return &job{id: a.ID, tokens: n, blocks: blocks, output: a.Output, stride: max(a.Stride, 1)}
}

func (a Arrival) truth(j *job, refused bool) RequestTruth {
	t := RequestTruth{
		Kind: "request", ID: a.ID, ArrivalUS: a.At.Microseconds(), PromptTokens: j.tokens, Outcome: OutcomeRefused,
	}
	if refused {
		return t
	}
	t.fill(j)
	t.Outcome = "length"
	if j.cancelled {
		t.Outcome = OutcomeCancelled
	}
	return t
}
