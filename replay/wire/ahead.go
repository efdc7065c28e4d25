package wire

import (
	"context"
	"net"
	"net/url"
	"sync"
	"time"
)

// aheadAge is how long a connection made ahead is kept. Servers and balancers give a new connection a minute or so to send
// its first request.
const aheadAge = 20 * time.Second

// spares keeps connections to one address that are dialled and, for TLS, shaken hands with ahead of need, so that a call that
// needs a new one does not wait for round trips: in a replay they would count as the server's latency, though the recorded
// gateway had its connections open (RPL-27). The transport asks for one only when no used connection is idle.
type spares struct {
	dial func(context.Context) (net.Conn, error)
	want int

	mu      sync.Mutex
	idle    []net.Conn
	dialing int
	closed  bool
	changed chan struct{} // closed and replaced when a dial has ended
	err     error         // of the newest dial
}

// take returns a spare that is still open, nil when there is none, and sees to new ones.
func (s *spares) take() net.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.fill()
	for len(s.idle) > 0 {
		c := s.idle[len(s.idle)-1]
		s.idle = s.idle[:len(s.idle)-1]
		if open(c) {
			return c
		}
		c.Close()
	}
	return nil
}

// fill dials what is missing. The lock is held.
func (s *spares) fill() {
	for ; !s.closed && len(s.idle)+s.dialing < s.want; s.dialing++ {
		go s.add()
	}
}

func (s *spares) add() {
	ctx, stop := context.WithTimeout(context.Background(), aheadAge)
	defer stop()
	c, err := s.dial(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dialing--
	s.err = err
	close(s.changed)
	s.changed = make(chan struct{})
	switch {
	case err != nil: // the next call tries by itself and reports what is wrong
	case s.closed:
		c.Close()
	default:
		s.idle = append(s.idle, c)
		time.AfterFunc(aheadAge, func() { s.expire(c) })
	}
}

// expire replaces a spare that nobody took.
func (s *spares) expire(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.idle {
		if s.idle[i] == c {
			s.idle = append(s.idle[:i], s.idle[i+1:]...)
			c.Close()
			s.fill()
			return
		}
	}
}

func (s *spares) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, c := range s.idle {
		c.Close()
	}
	s.idle = nil
}

// ready waits until all spares are there, a dial fails or ctx ends.
func (s *spares) ready(ctx context.Context) {
	for {
		s.mu.Lock()
		s.err = nil
		s.fill()
		done, changed := len(s.idle) >= s.want, s.changed
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		failed := s.err != nil
		s.mu.Unlock()
		if failed {
			return
		}
	}
}

// Warm makes Options.Ahead connections to the host of a URL and keeps that many from now on. It waits until they are there,
// and gives up without an error when one fails or ctx ends.
//
// Use it for TLS targets. A plain connection costs one round trip, while a server with a thread a connection (llama.cpp)
// would lose a thread to each that waits.
func (c *Client) Warm(ctx context.Context, rawURL string) {
	u, err := url.Parse(rawURL)
	if err != nil || c.opt.Ahead <= 0 {
		return
	}
	addr, dial := u.Host, c.connect
	port := "80"
	if u.Scheme == "https" {
		port, dial = "443", c.handshake
	}
	if u.Port() == "" {
		addr = net.JoinHostPort(u.Hostname(), port)
	}
	s := &spares{want: c.opt.Ahead, changed: make(chan struct{}), dial: func(ctx context.Context) (net.Conn, error) { return dial(ctx, "tcp", addr) }}
	if old, loaded := c.ahead.LoadOrStore(u.Scheme+" "+addr, s); loaded {
		s = old.(*spares)
	}
	s.ready(ctx)
}

// spare returns a connection made ahead, nil without.
func (c *Client) spare(scheme, addr string) net.Conn {
	if s, ok := c.ahead.Load(scheme + " " + addr); ok {
		return s.(*spares).take()
	}
	return nil
}
