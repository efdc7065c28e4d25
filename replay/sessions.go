package replay

import (
	"container/heap"
	"context"
	"math"
	"sync"
	"time"

	"reprise/replay/wire"
)

// When turns of a conversation leave.
const (
	PacingOpen     = "open"     // each call at its due time, whatever the others do
	PacingSessions = "sessions" // a turn also waits for the answer before it and its recorded think time
)

// turn is what a call of a session follows.
type turn struct {
	after int           // item whose answer the recorded user had seen, -1 for none
	think time.Duration // from the end of that answer to this call, in replay time; 0 when unknown
	known bool          // think is
}

// turns finds for each item the call of its session that had ended last when it arrived. Calls that overlapped in the log wait
// for nothing: their user did not either. Where the log does not say when the call before ended, or arrivals are drawn, the
// call follows that one without a known think time.
func (p *Plan) turns() []turn {
	list := make([]turn, len(p.Items))
	talks := map[string]*talkSoFar{}
	for i := range p.Items {
		it := &p.Items[i]
		list[i].after = -1
		if it.SessionID == "" {
			continue
		}
		so := talks[it.SessionID]
		if so == nil {
			so = &talkSoFar{ended: -1, unknown: -1}
			talks[it.SessionID] = so
		}
		list[i] = so.next(p, i)
	}
	return list
}

// talkSoFar is what is known of a session while its calls are gone through by arrival.
type talkSoFar struct {
	open    []int // calls under way
	ended   int   // the one that ended last, -1 for none
	unknown int   // the newest call, when nobody knows when it ended; else -1
}

func (s *talkSoFar) next(p *Plan, i int) turn {
	it, end := &p.Items[i], func(j int) int64 { return p.Items[j].Arrival + *p.Items[j].EndUS }
	still := s.open[:0]
	for _, j := range s.open {
		if end(j) > it.Arrival {
			still = append(still, j)
		} else if s.ended < 0 || end(j) >= end(s.ended) {
			s.ended = j
		}
	}
	s.open = still
	t := turn{after: s.ended}
	if s.unknown >= 0 {
		t.after = s.unknown
	} else if t.after >= 0 {
		t.known, t.think = true, p.replayGap(it.Arrival-end(t.after))
	}
	if s.unknown = -1; it.EndUS != nil && p.Options.Rate == 0 {
		s.open = append(s.open, i)
	} else {
		s.unknown = i
	}
	return t
}

// replayGap is a recorded pause at the plan's speed and within its longest gap.
func (p *Plan) replayGap(us int64) time.Duration {
	d := time.Duration(us) * time.Microsecond
	if speed := p.Options.Speed; speed > 0 {
		d = time.Duration(math.Round(float64(d) / speed))
	}
	if p.Options.MaxGap > 0 {
		d = min(d, p.Options.MaxGap)
	}
	return d
}

// followers are the items that follow each item.
func followers(turns []turn) [][]int {
	next := make([][]int, len(turns))
	for i, t := range turns {
		if t.after >= 0 {
			next[t.after] = append(next[t.after], i)
		}
	}
	return next
}

// turnQueue holds calls whose turn has come, or will soon, by the time they are due.
type turnQueue struct {
	mu   sync.Mutex
	list byDue
	woke chan struct{} // holds at most one "look again"
}

func newTurnQueue() *turnQueue { return &turnQueue{woke: make(chan struct{}, 1)} }

func (q *turnQueue) push(p prepared) {
	q.mu.Lock()
	heap.Push(&q.list, p)
	q.mu.Unlock()
	select {
	case q.woke <- struct{}{}:
	default:
	}
}

// first is when the earliest is due; false when there is none.
func (q *turnQueue) first() (time.Time, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return time.Time{}, false
	}
	return q.list[0].due, true
}

func (q *turnQueue) pop() prepared {
	q.mu.Lock()
	defer q.mu.Unlock()
	return heap.Pop(&q.list).(prepared)
}

type byDue []prepared

func (h byDue) Len() int           { return len(h) }
func (h byDue) Less(i, j int) bool { return h[i].due.Before(h[j].due) }
func (h byDue) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byDue) Push(x any)        { *h = append(*h, x.(prepared)) }
func (h *byDue) Pop() any {
	old := *h
	p := old[len(old)-1]
	old[len(old)-1] = prepared{}
	*h = old[:len(old)-1]
	return p
}

// buildLead is how long before a turn is due its body is built: as late as is safe, so that few wait in memory.
const buildLead = 100 * time.Millisecond

// wake sees to the turns that follow a call that has ended.
func (r *run) wake(ctx context.Context, p *prepared, end time.Time, out *wire.Outcome) {
	if r.follow == nil {
		return
	}
	for _, i := range r.follow[p.index] {
		due := r.d.due(i)
		if t := end.Add(r.turns[i].think); t.After(due) {
			due = t
		}
		past := r.thread(p, i, out)
		r.d.wg.Go(func() {
			if !sleep(ctx, time.Until(due)-buildLead) {
				return
			}
			next, err := r.prepare(i, past)
			if err != nil {
				r.fail(err)
				return
			}
			next.due = due
			r.d.turns.push(next)
		})
	}
}

// sleep waits for d, false when ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
