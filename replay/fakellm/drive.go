package fakellm

import (
	"runtime"
	"time"
)

const (
	// coarse is what the runtime's timers, which can be a millisecond late, leave to the precise sleep.
	coarse = 2 * time.Millisecond
	// spin is how early the precise sleep wakes; the rest is a loop on the clock.
	spin = 60 * time.Microsecond
)

// drive sleeps from one transition of the model to the next. It has a thread of its own: the timer slack is set for it
// alone, and it ends with the goroutine because it is never unlocked.
func (s *Server) drive() {
	defer close(s.stopped)
	runtime.LockOSThread()
	sharpen()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var sooner <-chan struct{} // of a Timeline: an arrival may be due before what is waited for
	if s.cfg.Timeline != nil {
		sooner = s.arrival
	}
	for {
		at, busy := s.tick()
		if !busy {
			select {
			case <-s.arrival:
				continue
			case <-s.done:
				return
			}
		}
		if left := at - s.now(); left > coarse+time.Millisecond {
			timer.Reset(left - coarse)
			select {
			case <-timer.C:
			case <-sooner:
				continue
			case <-s.done:
				return
			}
		}
		s.sleepUntil(at)
	}
}

// tick brings the model up to now and gives the time of its next transition.
func (s *Server) tick() (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engine.advance(s.now())
	return s.engine.next()
}

// sleepUntil returns at t or a few microseconds later. A machine that has no processor to spare is later still; the
// model does not care, and the truth shows it.
func (s *Server) sleepUntil(t time.Duration) {
	if left := t - s.now() - spin; left > 0 {
		nap(left)
	}
	for s.now() < t {
	}
}
