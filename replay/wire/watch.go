package wire

import (
	"context"
	"sync/atomic"
	"time"
)

// Limits end a call that takes too long. 0 is no limit; [Client] puts the defaults in place of a zero Limits.
type Limits struct {
	Connect   time.Duration // until there is a connection, name look-up and TLS included
	FirstByte time.Duration // from the connection to the first byte of the answer's body
	Silence   time.Duration // between two reads of the body; comments (keep-alive) count as bytes
	Whole     time.Duration // the whole call
}

// DefaultLimits suit a queueing model server: a long prompt may wait minutes, a stream that began does not pause for two.
func DefaultLimits() Limits {
	return Limits{Connect: 10 * time.Second, FirstByte: 10 * time.Minute, Silence: 2 * time.Minute, Whole: time.Hour}
}

// watch ends a call at the limit of the stage it is in. One timer serves all stages: in a stage it is not reset at each
// read but looks, when it fires, whether the limit has moved.
type watch struct {
	start time.Time
	whole time.Duration
	stop  context.CancelFunc
	timer *time.Timer
	limit atomic.Int64 // of the stage, since start; 0 none
	stage atomic.Value // string, what to call it when the stage takes too long
	fired atomic.Value // string
}

// Reasons of a timeout.
const (
	lateConnect   = "connect_timeout"
	lateFirstByte = "first_byte_timeout"
	lateHeaders   = "headers_timeout" // the first-byte limit with no headers by then
	lateSilence   = "silence_timeout"
	lateClose     = "close_timeout" // never seen in an outcome: the answer is complete
	lateWhole     = "whole_timeout"
)

func newWatch(stop context.CancelFunc, l Limits) *watch {
	w := &watch{start: time.Now(), whole: l.Whole, stop: stop}
	w.timer = time.AfterFunc(never, w.fire)
	w.enter(lateConnect, l.Connect)
	return w
}

const never = 1 << 62

// enter begins a stage that may last d.
func (w *watch) enter(stage string, d time.Duration) {
	w.stage.Store(stage)
	w.extend(d)
	w.timer.Reset(w.left())
}

// extend gives the running stage another d from now.
func (w *watch) extend(d time.Duration) {
	if d > 0 {
		w.limit.Store(int64(time.Since(w.start) + d))
	} else {
		w.limit.Store(never)
	}
}

func (w *watch) left() time.Duration {
	left := time.Duration(w.limit.Load())
	if w.whole > 0 {
		left = min(left, w.whole)
	}
	return left - time.Since(w.start)
}

func (w *watch) fire() {
	if left := w.left(); left > 0 {
		w.timer.Reset(left)
		return
	}
	stage := w.stage.Load().(string)
	if w.whole > 0 && time.Since(w.start) >= w.whole {
		stage = lateWhole
	}
	w.fired.CompareAndSwap(nil, stage)
	w.stop()
}

// timeout is the reason when the watch ended the call, "" otherwise.
func (w *watch) timeout() string {
	s, _ := w.fired.Load().(string)
	return s
}

func (w *watch) close() { w.timer.Stop() }
