package wire

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// farListener makes each new connection slow to answer at first, as a far server's handshake is.
type farListener struct {
	net.Listener
	delay  time.Duration
	opened atomic.Int64
	mu     sync.Mutex
	conns  []net.Conn
}

type farConn struct {
	net.Conn
	once  sync.Once
	delay time.Duration
}

func (c *farConn) Read(p []byte) (int, error) {
	c.once.Do(func() { time.Sleep(c.delay) })
	return c.Conn.Read(p)
}

func (l *farListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.opened.Add(1)
	l.mu.Lock()
	l.conns = append(l.conns, c)
	l.mu.Unlock()
	return &farConn{Conn: c, delay: l.delay}, nil
}

func TestConnectionsAhead(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, delta(0, `"content":"a"`).text+done(0).text)
	}))
	l := &farListener{Listener: s.Listener, delay: 400 * time.Millisecond}
	s.Listener = l
	s.StartTLS()
	defer s.Close()
	o := short()
	o.TLS = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	call := &Call{URL: s.URL, Body: []byte(body), Stream: true}

	cold := NewClient(o)
	defer cold.Close()
	out := cold.Do(t.Context(), call)
	wantOK(t, out)
	if out.ConnWait < l.delay {
		t.Errorf("waited %v for a new connection, want the %v of the handshake", out.ConnWait, l.delay)
	}

	o.Ahead = 3
	c := NewClient(o)
	defer c.Close()
	before := l.opened.Load()
	c.Warm(t.Context(), s.URL)
	if n := l.opened.Load() - before; n != 3 {
		t.Errorf("%d connections made ahead, want 3", n)
	}
	out = c.Do(t.Context(), call)
	wantOK(t, out)
	if out.ConnWait >= l.delay || out.Reused {
		t.Errorf("waited %v for a connection made ahead", out.ConnWait)
	}
	// What the server has closed is not handed out.
	l.mu.Lock()
	for _, c := range l.conns {
		c.Close()
	}
	l.mu.Unlock()
	time.Sleep(50 * time.Millisecond)
	wantOK(t, c.Do(t.Context(), call))
}

func TestWarmGivesUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	c := NewClient(Options{Ahead: 2})
	defer c.Close()
	c.Warm(t.Context(), "https://"+l.Addr().String()) // nobody there
	c.Warm(t.Context(), "://")
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c.Warm(ctx, "https://"+silent.Addr().String())
}
