package fakellm

import (
	"container/heap"
	"fmt"
	"time"
)

// Timeline is a server of known timing without an engine: each request has its tokens at set times after its arrival, whatever else
// there is. Slots, costs, cache and pauses do not count.
type Timeline struct {
	First time.Duration // from arrival to the first token; at least 5 ms, for an arrival has to reach a sleeping loop
	Gap   time.Duration // between tokens
	Every int           // each so manyth gap is Stall instead; 0: none
	Stall time.Duration
}

// minFirst is more than the loop sleeps without listening.
const minFirst = 5 * time.Millisecond

func (t *Timeline) check() error {
	switch {
	case t == nil:
		return nil
	case t.First < minFirst || t.Gap < 0 || t.Every < 0 || t.Stall < 0:
		return fmt.Errorf("timeline: want a first token after %v or more and no time below 0, got %+v", minFirst, *t)
	}
	return nil
}

// gap is the distance from token k, counted from 1, to the next.
func (t *Timeline) gap(k int) time.Duration {
	if t.Every > 0 && k%t.Every == 0 {
		return t.Stall
	}
	return t.Gap
}

// timed holds the streams of a Timeline by their next token.
type timed []timedJob

type timedJob struct {
	at time.Duration
	*job
}

func (q timed) Len() int           { return len(q) }
func (q timed) Less(i, j int) bool { return q[i].at < q[j].at }
func (q timed) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *timed) Push(x any)        { *q = append(*q, x.(timedJob)) }
func (q *timed) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// follow makes the tokens that are due by now.
func (e *engine) follow(now time.Duration) {
	for len(e.timed) > 0 && e.timed[0].at <= now {
		next := &e.timed[0]
		if j := next.job; !j.cancelled {
			j.made++
			e.totals.output++
			j.put(chunk{at: next.at, tokens: 1}, j.made == j.output)
		}
		if next.cancelled || next.made == next.output {
			heap.Pop(&e.timed)
			continue
		}
		next.at += e.cfg.Timeline.gap(next.made)
		heap.Fix(&e.timed, 0)
	}
}
