package wire

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// stamps is what a connection notes while it carries one request. The transport reads from a goroutine of its own,
// hence the atomics. Each request has its own, so a connection that goes on to the next cannot overwrite them.
type stamps struct {
	base time.Time    // zero of all instants of a Client
	due  int64        // instant before which nothing is written
	sent atomic.Int64 // instant of the first write, 0 before
	last atomic.Int64 // arrival of the newest bytes
	read atomic.Int64 // number of reads so far
	user atomic.Int64 // reads without a kernel stamp
	late atomic.Int64 // longest age of bytes at their read
	over atomic.Int64 // instant when the answer was complete, 0 before
	gone atomic.Int64 // instant when the other side had closed, 0 before
}

// closesAfter is how soon behind an answer a close belongs to it: idle connections are closed after seconds.
const closesAfter = 100 * time.Millisecond

// closedBehind says whether the server closed the connection right behind a complete answer.
func (s *stamps) closedBehind() bool {
	over, gone := s.over.Load(), s.gone.Load()
	return over > 0 && gone > 0 && max(over-gone, gone-over) < int64(closesAfter)
}

func (s *stamps) now() int64 { return int64(time.Since(s.base)) }

// arrived notes one read of bytes that came at the wall-clock instant stamp (zero: unknown, so now). One reading of both
// clocks turns the stamp into an instant: a preemption between two readings would count as lateness of the server.
func (s *stamps) arrived(stamp time.Time) {
	now, age := time.Now(), time.Duration(0)
	if stamp.IsZero() {
		s.user.Add(1)
	} else if age = max(now.Sub(stamp), 0); age > time.Hour { // the wall clock was set in between
		age = 0
		s.user.Add(1)
	}
	s.last.Store(max(int64(now.Sub(s.base)-age), s.last.Load()))
	s.read.Add(1)
	s.late.Store(max(s.late.Load(), int64(age)))
}

// conn stamps reads and the first write. It hides everything else a TCP connection can do (ReadFrom, WriteTo), which
// would go around the stamps.
type conn struct {
	net.Conn
	recv  receive // nil: the connection cannot tell when bytes arrived
	send  func([]byte) (int, error)
	carry atomic.Pointer[stamps]
	once  *atomic.Bool // Client.once
	gone  func()       // takes it off Client.open
}

// receive reads bytes and says when the newest of them had arrived.
type receive func(p []byte) (n int, stamp time.Time, err error)

// own makes a connection one of the client's.
func (c *Client) own(raw net.Conn) *conn {
	c.open.Add(1)
	own := &conn{Conn: raw, send: raw.Write, once: &c.once, gone: sync.OnceFunc(func() { c.open.Add(-1) })}
	if recv, send := kernelCalls(raw); recv != nil && !c.opt.ClockStamps {
		own.recv, own.send = recv, send
	}
	return own
}

func (c *conn) Close() error {
	c.gone()
	return c.Conn.Close()
}

func (c *conn) Read(p []byte) (n int, err error) {
	var stamp time.Time
	if c.recv != nil {
		n, stamp, err = c.recv(p)
	} else {
		n, err = c.Conn.Read(p)
	}
	switch s := c.carry.Load(); {
	case s == nil:
	case n > 0:
		s.arrived(stamp)
	case err != nil && s.gone.CompareAndSwap(0, s.now()) && s.closedBehind():
		c.once.Store(true)
	}
	return n, err
}

// hold waits for the instant the request is due: what led to its first write was done ahead.
func (s *stamps) hold() {
	if wait := time.Duration(s.due - s.now()); wait > longestSpin {
		time.Sleep(wait - longestSpin)
	}
	for s.now() < s.due {
	}
}

// longestSpin is how much of a wait is spent on the processor: a sleep ends up to a millisecond late.
const longestSpin = time.Millisecond

func (c *conn) Write(p []byte) (int, error) {
	if s := c.carry.Load(); s != nil && s.sent.Load() == 0 {
		s.hold()
		s.sent.CompareAndSwap(0, s.now())
	}
	return c.send(p)
}

// attach makes the connection note its stamps in s from now on.
func attach(c net.Conn, s *stamps) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if own, ok := c.(*conn); ok {
		own.carry.Store(s)
	}
}

// Arrivals wraps a connection so that last says when the newest bytes read from it had arrived: by the kernel where it can tell, else when
// they were read. It is for servers of known timing that must not take their own delay for the client's.
func Arrivals(c net.Conn) (wrapped net.Conn, last func() time.Time) {
	w := &arrivals{Conn: c}
	w.recv, _ = kernelCalls(c)
	return w, func() time.Time { return time.Unix(0, w.last.Load()) }
}

type arrivals struct {
	net.Conn
	recv receive
	last atomic.Int64
}

func (a *arrivals) Read(p []byte) (n int, err error) {
	var stamp time.Time
	if a.recv != nil {
		n, stamp, err = a.recv(p)
	} else {
		n, err = a.Conn.Read(p)
	}
	if stamp.IsZero() {
		stamp = time.Now()
	}
	if n > 0 {
		a.last.Store(stamp.UnixNano())
	}
	return n, err
}

// KeepStamping keeps the kernel stamping until it is closed: it takes some milliseconds to begin.
func KeepStamping() (io.Closer, error) { return keepStamping() }
