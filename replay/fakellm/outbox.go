package fakellm

import (
	"sync"
	"time"
)

// chunk is the tokens one step made for one stream.
type chunk struct {
	at     time.Duration // modelled end of the step
	tokens int
	step   int
}

// outbox is where the engine puts a stream's chunks and the handler finds them. It never blocks the engine.
type outbox struct {
	mu     sync.Mutex
	chunks []chunk
	done   bool
	signal chan struct{} // holds at most one "there is more"
}

func (o *outbox) put(c chunk, last bool) {
	o.mu.Lock()
	o.chunks = append(o.chunks, c)
	o.done = last
	o.mu.Unlock()
	select {
	case o.signal <- struct{}{}:
	default:
	}
}

// after gives the chunks from index i on, and whether there will be no more. Chunks are never changed once put.
func (o *outbox) after(i int) ([]chunk, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.chunks[i:len(o.chunks):len(o.chunks)], o.done
}
