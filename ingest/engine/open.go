package engine

import "reprise/ingest/decode"

// maxOpen bounds the requests that a group keeps: what a log begins and never ends must not fill the memory.
const maxOpen = 1 << 16

// pending are the requests of one file that are not over yet, in the order in which they began.
type pending[T any] struct {
	by    map[string]*entry[T]
	order []*entry[T] // from index from on
	from  int
	last  func(*decode.Context, *T) // emits one that will not end
}

type entry[T any] struct {
	key   string
	value T
	done  bool
}

func newPending[T any](last func(*decode.Context, *T)) *pending[T] {
	return &pending[T]{by: map[string]*entry[T]{}, last: last}
}

// add begins a request. One of the same key that is still open will not end: it is emitted, and so is the oldest when
// there are too many.
func (p *pending[T]) add(c *decode.Context, key string, v T) *T {
	if old := p.by[key]; old != nil {
		p.end(c, old)
	}
	e := &entry[T]{key: key, value: v}
	p.by[key] = e
	p.order = append(p.order, e)
	if len(p.by) > maxOpen {
		p.end(c, p.oldest())
	}
	if len(p.order)-p.from > 2*len(p.by)+1024 {
		p.sweep()
	}
	return &e.value
}

// oldest returns the request that has been open longest; there must be one.
func (p *pending[T]) oldest() *entry[T] {
	for p.order[p.from].done {
		p.order[p.from] = nil
		p.from++
	}
	return p.order[p.from]
}

// sweep forgets the requests that are over.
func (p *pending[T]) sweep() {
	kept := make([]*entry[T], 0, len(p.by))
	for _, e := range p.order[p.from:] {
		if !e.done {
			kept = append(kept, e)
		}
	}
	p.order, p.from = kept, 0
}

func (p *pending[T]) get(key string) *T {
	if e := p.by[key]; e != nil {
		return &e.value
	}
	return nil
}

// take ends a request: it is the caller's to emit.
func (p *pending[T]) take(key string) *T {
	e := p.by[key]
	if e == nil {
		return nil
	}
	delete(p.by, key)
	e.done = true
	return &e.value
}

func (p *pending[T]) end(c *decode.Context, e *entry[T]) {
	if v := p.take(e.key); v != nil {
		p.last(c, v)
	}
}

// finish emits all that is open, in order.
func (p *pending[T]) finish(c *decode.Context) {
	for _, e := range p.order[p.from:] {
		if !e.done {
			p.end(c, e)
		}
	}
}

// Reasons for lines that are no request of their own.
const (
	partOfRequest = "part_of_request" // told of one, whose row comes with another line
	otherLine     = "other_line"
)
