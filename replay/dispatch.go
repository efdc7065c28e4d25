package replay

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"reprise/replay/wire"
)

// prepared is a call whose body is built.
type prepared struct {
	index int
	call  wire.Call
	words int  // of a synthetic prompt
	hit   int  // words of it that an endless prefix cache would hold
	free  bool // its length was to be forced and must not be
}

// dispatcher starts calls at their due times. It never waits for an answer; only the safety limit can hold it, and then
// the lateness of what follows is recorded like any other.
type dispatcher struct {
	items    []Item
	start    time.Time
	pace     pacer
	limit    int
	inFlight atomic.Int64
	held     int // calls that had to wait for the limit
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
	undo := d.pace.lock()
	defer undo()
	defer d.wg.Wait()
	for p := range ready {
		d.pace.until(ctx, d.due(p.index))
		if !d.room(ctx) || ctx.Err() != nil {
			return
		}
		d.inFlight.Add(1)
		d.wg.Go(func() {
			defer d.done()
			send(p)
		})
		sent(p)
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

// build makes the bodies of all items in order and ahead of need, as many as fit aheadBytes. full is closed when that
// many are ready or all are. errs gets the first body that cannot be built, which ends the building.
func (r *run) build(ctx context.Context, out chan<- prepared, full chan<- struct{}) error {
	defer close(out)
	var once sync.Once
	signal := func() { once.Do(func() { close(full) }) }
	defer signal()
	meter := newShareMeter(r.bodies.cal)
	for i := range r.plan.Items {
		it := &r.plan.Items[i]
		b, err := r.bodies.body(it)
		if err != nil {
			return fmt.Errorf("building request %d: %w", i+1, err)
		}
		p := prepared{index: i, call: r.call(it, b.bytes), free: b.free}
		p.words, p.hit = meter.add(it, b.text)
		select {
		case out <- p:
		default:
			signal()
			select {
			case out <- p:
			case <-ctx.Done():
				return nil
			}
		}
	}
	return nil
}

// call is the call of an item.
func (r *run) call(it *Item, body []byte) wire.Call {
	return wire.Call{URL: r.urls[it.Endpoint], API: shapeOf(it.Endpoint), Header: r.header(it), Body: body, Stream: it.Stream}
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
