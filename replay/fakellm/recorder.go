package fakellm

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"sync"
)

// recorder keeps and writes truth. It may be called from any goroutine.
type recorder struct {
	mu    sync.Mutex
	out   *bufio.Writer // nil: write nothing
	err   error         // of the first write that failed
	keep  bool
	truth Truth
}

func newRecorder(w io.Writer, keep bool) *recorder {
	r := &recorder{keep: keep}
	if w != nil {
		r.out = bufio.NewWriterSize(w, 1<<16)
	}
	return r
}

func (r *recorder) server(t ServerTruth) {
	r.add(t, func() { r.truth.Server = t })
}

func (r *recorder) request(t RequestTruth) {
	r.add(t, func() { r.truth.Requests = append(r.truth.Requests, t) })
}

// step is called by the engine loop for every step, so it does nothing when nobody wants to know.
func (r *recorder) step(s *step) {
	if r.out == nil && !r.keep {
		return
	}
	t := stepTruth(s)
	r.add(t, func() { r.truth.Steps = append(r.truth.Steps, t) })
}

func (r *recorder) add(line any, keep func()) {
	var text []byte
	var err error
	if r.out != nil {
		text, err = json.Marshal(line) // before the lock: a long answer must not hold up the engine's steps
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keep {
		keep()
	}
	if r.out == nil || r.err != nil {
		return
	}
	if err == nil {
		_, err = r.out.Write(append(text, '\n'))
	}
	r.err = err
}

func (r *recorder) snapshot() Truth {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.truth
	t.Requests, t.Steps = slices.Clone(t.Requests), slices.Clone(t.Steps)
	return t
}

func (r *recorder) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.out != nil && r.err == nil {
		r.err = r.out.Flush()
	}
	return r.err
}
