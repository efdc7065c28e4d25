package wire

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestTLSStamps(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, delta(0, `"content":"a"`).text+done(0).text)
		if r.ProtoMajor != 1 {
			t.Errorf("protocol %s, want HTTP/1.1", r.Proto)
		}
	}))
	s.EnableHTTP2 = true
	defer s.Close()
	conf := s.Client().Transport.(*http.Transport).TLSClientConfig
	o := short()
	o.TLS = &tls.Config{RootCAs: conf.RootCAs}
	c := NewClient(o)
	defer c.Close()
	for i := range 2 {
		out := c.Do(t.Context(), &Call{URL: s.URL, Body: []byte(body), Stream: true})
		wantOK(t, out)
		if runtime.GOOS == "linux" && out.Stamps != StampKernel {
			t.Errorf("call %d: stamps %s below TLS", i, out.Stamps)
		}
		if out.Reused != (i == 1) || i == 0 && out.ConnWait == 0 {
			t.Errorf("call %d: reused %v, waited %v for the connection", i, out.Reused, out.ConnWait)
		}
	}
}

// A call that is made ahead of need is connected at once, written when it is due, and its times count from there.
func TestNotWrittenBeforeDue(t *testing.T) {
	var arrived atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Store(time.Now().UnixNano())
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, delta(0, `"content":"a"`).text+done(0).text)
	}))
	defer s.Close()
	c := NewClient(short())
	for i, ahead := range []time.Duration{30 * time.Millisecond, 30 * time.Millisecond, 0, -time.Second} {
		begun := time.Now()
		due := begun.Add(ahead)
		out := c.Do(t.Context(), &Call{URL: s.URL, Body: []byte(body), Stream: true, At: due})
		wantOK(t, out)
		if early := max(due.Sub(out.Sent), due.Sub(time.Unix(0, arrived.Load()))); early > 0 {
			t.Errorf("call %d: sent %v before it was due", i, early)
		}
		if ahead > 0 && (out.ConnWait >= ahead || *out.End >= time.Since(begun)) {
			t.Errorf("call %d: %v for a connection, which was to be made ahead; took %v from the due time", i, out.ConnWait, *out.End)
		}
		if n := c.Open(); n < 1 || n > 2 { // the second when the first had not been taken back yet
			t.Errorf("call %d: %d connections are open", i, n)
		}
	}
	for wait := time.Now(); c.Open() != 0; time.Sleep(time.Millisecond) { // the transport takes a connection back in its own time
		if c.Close(); time.Since(wait) > 10*time.Second {
			t.Fatalf("%d connections are open behind Close", c.Open())
		}
	}
}

// A body that no buffer of the kernel holds goes out whole to a reader that is slow, and one whose reader goes away is a broken call.
func TestLargeBody(t *testing.T) {
	sent := bytes.Repeat([]byte("0123456789abcde\n"), 1<<20)
	for _, cut := range []bool{false, true} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got, buf := sha256.New(), make([]byte, 1<<20)
			for err := error(nil); err == nil; time.Sleep(time.Millisecond) {
				var n int
				n, err = r.Body.Read(buf)
				if got.Write(buf[:n]); cut {
					panic(http.ErrAbortHandler)
				}
			}
			if want := sha256.Sum256(sent); !bytes.Equal(got.Sum(nil), want[:]) {
				t.Error("the body came otherwise than it was sent")
			}
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, delta(0, `"content":"a"`).text+done(0).text)
		}))
		defer s.Close()
		c := NewClient(Options{})
		defer c.Close()
		if out := c.Do(t.Context(), &Call{URL: s.URL, Body: sent, Stream: true}); cut != (out.Class == ClassNetwork) || !cut && out.Class != ClassOK {
			t.Errorf("cut off %v: %s %s", cut, out.Class, out.Reason)
		}
	}
}

func TestRPL27ConnectionsFollowInFlight(t *testing.T) {
	var opened, inFlight, peak atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := inFlight.Add(1)
		defer inFlight.Add(-1)
		for p := peak.Load(); now > p && !peak.CompareAndSwap(p, now); p = peak.Load() {
		}
		io.Copy(io.Discard, r.Body)
		time.Sleep(2 * time.Millisecond)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, delta(0, `"content":"a"`).text+done(0).text)
	}))
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	c := NewClient(short())
	defer c.Close()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			for range 20 {
				if o := c.Do(t.Context(), &Call{URL: s.URL, Body: []byte(body), Stream: true}); o.Class != ClassOK {
					t.Errorf("%s %s", o.Class, o.Reason)
				}
			}
		})
	}
	wg.Wait()
	// A dial may lose the race against a connection that becomes free: some more than 50, far from 1000.
	if n := opened.Load(); n > 120 {
		t.Errorf("%d connections for 1000 requests, 50 at once", n)
	}
}

// A server that offers HTTP/2 gets one connection a call all the same: 50 calls are answered only when all 50 are there, which
// a limit on streams of one connection would prevent.
func TestRPL28NoStreamLimit(t *testing.T) {
	var here sync.WaitGroup
	here.Add(50)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		here.Done()
		here.Wait()
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, delta(0, `"content":"a"`).text+done(0).text)
	}))
	s.EnableHTTP2 = true
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 10}
	s.StartTLS()
	defer s.Close()
	o := short()
	o.Limits.FirstByte = 4 * time.Second
	o.TLS = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	c := NewClient(o)
	defer c.Close()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if o := c.Do(t.Context(), &Call{URL: s.URL, Body: []byte(body), Stream: true}); o.Class != ClassOK || o.ConnWait == 0 {
				t.Errorf("%s %s after %v for a connection", o.Class, o.Reason, o.ConnWait)
			}
		})
	}
	wg.Wait()
}

// A server that promises to keep connections and closes them behind each answer, as llama.cpp does, is found out by its first
// answer; from then on each call has a connection of its own and none fails. One that keeps them is not taken for such.
func TestServerThatClosesBehindAnswers(t *testing.T) {
	var conns atomic.Int64
	url := raw(t, func(c net.Conn) {
		conns.Add(1)
		io.WriteString(c, head+chunked(delta(0, `"content":"a"`).text)+chunked(done(0).text)+"0\r\n\r\n")
	})
	c := NewClient(short())
	defer c.Close()
	call := &Call{URL: url, Body: []byte(body), Stream: true}
	wantOK(t, c.Do(t.Context(), call))
	time.Sleep(50 * time.Millisecond)
	for range 40 {
		wantOK(t, c.Do(t.Context(), call))
	}
	if conns.Load() != 41 || !c.once.Load() {
		t.Errorf("%d connections for 41 calls", conns.Load())
	}
	kept := NewClient(short())
	defer kept.Close()
	good := serve(t, func(_ http.ResponseWriter, _ *http.Request, write func(string)) {
		write(delta(0, `"content":"a"`).text + done(0).text)
	})
	for range 10 {
		wantOK(t, kept.Do(t.Context(), &Call{URL: good, Body: []byte(body), Stream: true}))
	}
	if kept.once.Load() {
		t.Error("a server that keeps its connections is taken for one that does not")
	}
}

func TestRPL29NoRetry(t *testing.T) {
	var n atomic.Int64
	url := serve(t, func(w http.ResponseWriter, _ *http.Request, _ func(string)) {
		n.Add(1)
		w.Header().Set("Retry-After", "86400")
		w.WriteHeader(429)
	})
	o := do(t, short(), url)
	wantFail(t, o, ClassRateLimited, "status")
	if o.RetryAfter != 24*time.Hour || n.Load() != 1 {
		t.Errorf("retry after %v, %d requests", o.RetryAfter, n.Load())
	}
	// A connection that dies after the request was written must not be tried again, whatever the caller's headers say.
	var conns atomic.Int64
	c := NewClient(short())
	defer c.Close()
	dying := raw(t, func(c net.Conn) {
		if conns.Add(1) == 1 {
			io.WriteString(c, head+chunked(delta(0, `"content":"a"`).text)+chunked(done(0).text)+"0\r\n\r\n")
			http.ReadRequest(bufio.NewReader(c))
		}
	})
	call := &Call{URL: dying, Body: []byte(body), Stream: true, Header: http.Header{"idempotency-key": {"k"}}}
	wantOK(t, c.Do(t.Context(), call))
	if o := c.Do(t.Context(), call); o.Class != ClassNetwork || conns.Load() != 1 {
		t.Errorf("got %s %s on %d connections, want one failure and no second try", o.Class, o.Reason, conns.Load())
	}
}

func TestNoRedirect(t *testing.T) {
	var hit atomic.Bool
	other := serve(t, func(http.ResponseWriter, *http.Request, func(string)) { hit.Store(true) })
	url := serve(t, func(w http.ResponseWriter, r *http.Request, _ func(string)) { http.Redirect(w, r, other, 307) })
	wantFail(t, do(t, short(), url), ClassClientError, "redirect")
	if hit.Load() {
		t.Error("the redirect was followed: the key would go to another host")
	}
}

func TestNoProxyFromEnvironment(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	c := NewClient(Options{})
	if c.transport.Proxy != nil {
		t.Error("proxy settings of the environment are read")
	}
}

func TestCancel(t *testing.T) {
	gone := make(chan struct{})
	url := serve(t, func(_ http.ResponseWriter, r *http.Request, write func(string)) {
		write(delta(0, `"content":"a"`).text)
		<-r.Context().Done()
		close(gone)
	})
	c := NewClient(short())
	defer c.Close()
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	o := c.Do(ctx, &Call{URL: url, Body: []byte(body), Stream: true})
	wantFail(t, o, ClassCancel, "cancelled")
	if len(o.Chunks) != 1 {
		t.Errorf("%d chunks", len(o.Chunks))
	}
	<-gone // the server has seen the client go
}

func TestEndpoint(t *testing.T) {
	for base, want := range map[string]string{
		"http://h:1":                    "http://h:1/v1/chat/completions",
		"http://h:1/":                   "http://h:1/v1/chat/completions",
		"https://h/v1":                  "https://h/v1/chat/completions",
		"https://h/v1/":                 "https://h/v1/chat/completions",
		"https://h/api/v1":              "https://h/api/v1/chat/completions",
		"https://h/v1/chat/completions": "https://h/v1/chat/completions",
		"https://h/v1/completions/":     "https://h/v1/chat/completions",
		"https://h/gw?team=a":           "https://h/gw/v1/chat/completions?team=a",
	} {
		if got, err := Endpoint(base, "chat/completions"); err != nil || got != want {
			t.Errorf("%s: got %s %v, want %s", base, got, err, want)
		}
	}
}
