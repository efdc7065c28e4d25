package replay

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"reprise/replay/wire"
)

// prepared is a call whose body is built.
type prepared struct {
	index int
	due   time.Time // set when it leaves, or when the turn before it has ended
	call  wire.Call
	words int  // of a synthetic prompt
	hit   int  // words of it that an endless prefix cache would hold
	free  bool // its length was to be forced and must not be
	past  *past
}

// dispatcher starts calls at their due times: a goroutine a call, a little before. It never waits for an answer; only the
// safety limit can hold it, and then the lateness of what follows is recorded like any other.
type dispatcher struct {
	items    []Item
	start    time.Time
	pace     pacer
	open     func() int // connections there are; nil: not known
	limit    int
	inFlight atomic.Int64
	held     int        // calls that had to wait for the limit
	late     []float64  // how late each sleep ended, microseconds
	turns    *turnQueue // calls that waited for a turn of their session; nil in open pacing
	free     chan struct{}
	wg       sync.WaitGroup
}

// fallbackLimit bounds requests in flight where the system does not say how many descriptors there are.
const fallbackLimit = 4096

// due is the instant an item has to be sent.
func (d *dispatcher) due(i int) time.Time {
	return d.start.Add(time.Duration(d.items[i].DueUS) * time.Microsecond)
}

// run sends everything that comes out of ready, in order, each with send in a goroutine of its own, and returns when all
// of them are done. It stops sending when ctx ends; sent is called before each.
func (d *dispatcher) run(ctx context.Context, ready <-chan prepared, sent func(prepared), send func(prepared)) {
	undo := d.pace.open()
	defer undo()
	defer d.wg.Wait()
	next := feed{d: d, ready: ready}
	for range d.items {
		p, ok := next.take(ctx)
		if !ok || !d.room(ctx) || ctx.Err() != nil {
			return
		}
		d.inFlight.Add(1)
		d.wg.Go(func() {
			defer d.done()
			send(p)
		})
		runtime.Gosched() // the call goes first: what follows may wake others
		sent(p)
	}
}

// lead is how much before it is due the next call starts.
func (d *dispatcher) lead() time.Duration {
	if d.open != nil && int64(d.open()) <= d.inFlight.Load() {
		return earlier
	}
	return early
}

func (d *dispatcher) woke(late time.Duration) {
	d.late = append(d.late, float64(late)/float64(time.Microsecond))
}

// feed puts calls that are due at a set time and turns that waited for others in the order in which they are due.
type feed struct {
	d     *dispatcher
	ready <-chan prepared // nil when it has ended
	head  *prepared       // taken from ready
}

// take returns the next call when it is due, false when there is none or ctx has ended.
func (f *feed) take(ctx context.Context) (prepared, bool) {
	if f.d.turns == nil {
		p, ok := <-f.ready
		if ok {
			p.due = f.d.due(p.index)
			f.d.pace.until(ctx, p.due, f.d.lead(), f.d.woke)
		}
		return p, ok
	}
	for ctx.Err() == nil {
		f.look()
		due, fromTurns := f.earliest()
		if wait := time.Until(due) - handOver; due.IsZero() || wait > 0 {
			f.wait(ctx, due, wait)
			continue
		}
		f.d.pace.until(ctx, due, f.d.lead(), f.d.woke)
		if fromTurns {
			return f.d.turns.pop(), true
		}
		p := *f.head
		f.head = nil
		return p, true
	}
	return prepared{}, false
}

// handOver is how long before a call is due the dispatcher stops listening for turns that are due earlier: a timer wakes up to a
// millisecond late.
const handOver = 2 * time.Millisecond

// look takes the next call of the plan if it is built.
func (f *feed) look() {
	if f.head != nil || f.ready == nil {
		return
	}
	select {
	case p, ok := <-f.ready:
		f.accept(p, ok)
	default:
	}
}

func (f *feed) accept(p prepared, ok bool) {
	if !ok {
		f.ready = nil
		return
	}
	p.due = f.d.due(p.index)
	f.head = &p
}

// earliest is when the next call is due, zero when none is known, and whether it is one of the turns.
func (f *feed) earliest() (due time.Time, fromTurns bool) {
	due, fromTurns = f.d.turns.first()
	if f.head != nil && (!fromTurns || f.head.due.Before(due)) {
		return f.head.due, false
	}
	return due, fromTurns
}

// wait returns when something new has come, or after d if there is a call due.
func (f *feed) wait(ctx context.Context, due time.Time, d time.Duration) {
	var timeout <-chan time.Time
	if !due.IsZero() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		timeout = timer.C
	}
	var ready <-chan prepared
	if f.head == nil {
		ready = f.ready
	}
	select {
	case <-timeout:
	case p, ok := <-ready:
		f.accept(p, ok)
	case <-f.d.turns.woke:
	case <-ctx.Done():
	}
}

// room waits until fewer calls than the limit are under way.
func (d *dispatcher) room(ctx context.Context) bool {
	if d.inFlight.Load() < int64(d.limit) {
		return true
	}
	d.held++
	for d.inFlight.Load() >= int64(d.limit) {
		select {
		case <-d.free:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (d *dispatcher) done() {
	d.inFlight.Add(-1)
	select {
	case d.free <- struct{}{}:
	default:
	}
}

// aheadBytes bounds what bodies built ahead may hold.
const aheadBytes = 256 << 20

// build makes the bodies of all items that wait for no other, in order and ahead of need, as many as fit aheadBytes. full is
// closed when that many are ready or all are. The first body that cannot be built ends it.
func (r *run) build(ctx context.Context, out chan<- prepared, full chan<- struct{}) {
	defer close(out)
	var once sync.Once
	signal := func() { once.Do(func() { close(full) }) }
	defer signal()
	for i := range r.plan.Items {
		if r.follow != nil && r.turns[i].after >= 0 {
			continue
		}
		p, err := r.prepare(i, nil)
		if err != nil {
			r.fail(err)
			return
		}
		select {
		case out <- p:
		default:
			signal()
			select {
			case out <- p:
			case <-ctx.Done():
				return
			}
		}
	}
}

// prepare builds the body of an item, with what was said before it where answers are threaded.
func (r *run) prepare(i int, past *past) (prepared, error) {
	it := &r.plan.Items[i]
	b, err := r.bodies.after(it, past)
	if err != nil {
		return prepared{}, fmt.Errorf("building request %d: %w", i+1, err)
	}
	p := prepared{index: i, call: r.call(it, b.bytes), free: b.free}
	if r.opt.ThreadAnswers {
		p.past, p.call.Keep = b.past, true
	}
	if past != nil && len(past.said) > 0 {
		r.tally.threads(len(b.past.said) > 1)
	}
	if it.Probe != "" {
		return p, nil // shares nothing, and is not to be held against the log
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p.words, p.hit = r.meter.add(it, b.text)
	return p, nil
}

// call is the call of an item.
func (r *run) call(it *Item, body []byte) wire.Call {
	return wire.Call{URL: r.urls[it.Endpoint], API: shapeOf(it.Endpoint), Header: r.header(it, 1), Body: body, Stream: it.Stream}
}

// shapeOf is the shape of an endpoint's answers.
func shapeOf(endpoint string) wire.API {
	if api := wire.API(endpoint); api == wire.Responses || api == wire.Messages || api == wire.Embeddings {
		return api
	}
	return wire.Chat
}

// ahead is how many bodies are built ahead.
func (p *Plan) ahead() int {
	bytes := int64(0)
	for i := range p.Items {
		bytes += 7*p.Items[i].InputTokens + int64(len(p.Items[i].Body)) + 512
	}
	return int(min(max(aheadBytes/(bytes/int64(len(p.Items))+1), 16), 1024))
}
