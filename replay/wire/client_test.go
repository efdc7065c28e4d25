package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const body = `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}`

// short limits make every failure come within a second.
func short() Options {
	return Options{Limits: Limits{Connect: 2 * time.Second, FirstByte: 300 * time.Millisecond, Silence: 300 * time.Millisecond, Whole: 5 * time.Second}}
}

func do(t *testing.T, o Options, url string) Outcome {
	t.Helper()
	c := NewClient(o)
	defer c.Close()
	return c.Do(t.Context(), &Call{URL: url, Body: []byte(body), Stream: true})
}

// TestMain waits until the kernel stamps packets, which it begins to do some milliseconds after the first socket asks.
func TestMain(m *testing.M) {
	c := NewClient(Options{})
	if runtime.GOOS == "linux" {
		for range 200 {
			if stamped(c) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	code := m.Run()
	c.Close()
	os.Exit(code)
}

func stamped(c *Client) bool {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	mine, err := c.dial(context.Background(), "tcp", l.Addr().String())
	if err != nil {
		panic(err)
	}
	defer mine.Close()
	theirs, err := l.Accept()
	if err != nil {
		panic(err)
	}
	theirs.Write([]byte("x"))
	theirs.Close()
	s := &stamps{base: c.base}
	attach(mine, s)
	mine.Read(make([]byte, 1))
	return s.user.Load() == 0
}

// serve answers each request with h, which may write and flush as it likes.
func serve(t *testing.T, h func(w http.ResponseWriter, r *http.Request, write func(string))) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		h(w, r, func(text string) {
			io.WriteString(w, text)
			http.NewResponseController(w).Flush()
		})
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// raw answers each connection with f after the request was read.
func raw(t *testing.T, f func(c net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					io.Copy(io.Discard, r.Body)
					f(c)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

func chunked(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

func TestStreamOverSocket(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request, write func(string)) {
		w.Header().Set("X-Replica", "r7")
		for range 3 {
			write(delta(0, `"content":"a"`).text)
			time.Sleep(5 * time.Millisecond)
		}
		write(done(0).text)
	})
	o := short()
	o.ReplicaHeader = "X-Replica"
	out := do(t, o, url)
	wantOK(t, out)
	if len(out.Chunks) != 3 || out.Replica != "r7" || out.Sent.Before(out.Begun) || out.Headers == nil || *out.End < *out.Last() || *out.Headers > *out.First() {
		t.Errorf("%+v", out)
	}
	for _, gap := range gaps(out, 0) {
		if gap < 4 {
			t.Errorf("gap of %d ms between frames that were written 5 ms apart", gap)
		}
	}
	if runtime.GOOS == "linux" && out.Stamps != StampKernel {
		t.Errorf("stamps from %s, want the kernel's", out.Stamps)
	}
}

// The kernel's stamp is when the bytes came, however late the program reads them.
func TestRPL13StampIsArrival(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // elsewhere the outcome says "user"
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := NewClient(Options{})
	mine, err := c.dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	theirs, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	s := &stamps{base: c.base}
	attach(mine, s)
	before := s.now()
	theirs.Write([]byte("x"))
	written := s.now()
	time.Sleep(100 * time.Millisecond)
	if n, err := mine.Read(make([]byte, 8)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	slack := int64(2 * time.Millisecond) // wall and monotonic clock are read apart
	if at := s.last.Load(); at < before-slack || at > written+slack || s.user.Load() != 0 {
		t.Errorf("stamp %d, want between %d and %d: the bytes came before the sleep", at, before, written)
	}
	if s.late.Load() < int64(95*time.Millisecond) {
		t.Errorf("lateness %v, want the 100 ms slept", time.Duration(s.late.Load()))
	}
}

func TestRPL15Timeouts(t *testing.T) {
	a := delta(0, `"content":"a"`).text
	healthy := serve(t, func(_ http.ResponseWriter, _ *http.Request, write func(string)) {
		for range 8 { // longer than the silence limit in all
			write(a)
			time.Sleep(60 * time.Millisecond)
		}
		write(done(0).text)
	})
	wantOK(t, do(t, short(), healthy))
	alive := serve(t, func(_ http.ResponseWriter, _ *http.Request, write func(string)) {
		for range 8 {
			write(":\n\n")
			time.Sleep(60 * time.Millisecond)
		}
		write(a + done(0).text)
	})
	wantOK(t, do(t, short(), alive))
	silent := serve(t, func(_ http.ResponseWriter, r *http.Request, write func(string)) { write(a); <-r.Context().Done() })
	o := do(t, short(), silent)
	wantFail(t, o, ClassTimeout, "silence_timeout")
	if len(o.Chunks) != 1 || *o.End < 300*time.Millisecond {
		t.Errorf("%d chunks, end %v", len(o.Chunks), *o.End)
	}
	headersOnly := serve(t, func(_ http.ResponseWriter, r *http.Request, write func(string)) { write(""); <-r.Context().Done() })
	wantFail(t, do(t, short(), headersOnly), ClassTimeout, "first_byte_timeout")
	nothing := raw(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	wantFail(t, do(t, short(), nothing), ClassTimeout, "first_byte_timeout")
	endless := serve(t, func(_ http.ResponseWriter, r *http.Request, write func(string)) {
		for r.Context().Err() == nil {
			write(":\n")
			time.Sleep(20 * time.Millisecond)
		}
	})
	opt := short()
	opt.Limits.Whole = 400 * time.Millisecond
	wantFail(t, do(t, opt, endless), ClassTimeout, "whole_timeout")
	open := raw(t, func(c net.Conn) { io.WriteString(c, head+chunked(a)+chunked(done(0).text)); io.Copy(io.Discard, c) })
	wantOK(t, do(t, Options{Limits: Limits{Silence: time.Hour}}, open)) // the answer is complete although the server never ends it
}

func TestConnectTimeout(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts TCP, never answers the handshake
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := short()
	o.Limits.Connect = 200 * time.Millisecond
	out := do(t, o, "https://"+l.Addr().String())
	if out.Class != ClassTimeout && out.Reason != "tls" || !out.Sent.IsZero() || out.End != nil {
		t.Errorf("got %s %s, want a timeout and nothing sent", out.Class, out.Reason)
	}
}

func TestBrokenTransports(t *testing.T) {
	a := delta(0, `"content":"a"`).text
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	l.Close()
	wantFail(t, do(t, short(), "http://"+l.Addr().String()), ClassNetwork, "refused")
	wantFail(t, do(t, short(), "http://no-such-host.invalid"), ClassNetwork, "name_lookup")
	wantFail(t, do(t, short(), "http://bad url"), ClassNetwork, "bad_url")
	wantFail(t, do(t, short(), raw(t, func(c net.Conn) { io.WriteString(c, head+chunked(a)) })), ClassNetwork, "cut_off")
	wantFail(t, do(t, short(), raw(t, func(net.Conn) {})), ClassNetwork, "no_answer")
	reset := raw(t, func(c net.Conn) {
		io.WriteString(c, head+chunked(a))
		time.Sleep(20 * time.Millisecond)
		c.(*net.TCPConn).SetLinger(0)
	})
	o := do(t, short(), reset)
	wantFail(t, o, ClassNetwork, "reset")
	if len(o.Chunks) != 1 || o.Status != 200 {
		t.Errorf("%d chunks, status %d: what had come must stay", len(o.Chunks), o.Status)
	}
	https := httptest.NewUnstartedServer(http.NotFoundHandler())
	https.Config.ErrorLog = log.New(io.Discard, "", 0)
	https.StartTLS()
	defer https.Close()
	wantFail(t, do(t, short(), https.URL), ClassNetwork, "tls")
	wantFail(t, do(t, short(), "https"+strings.TrimPrefix(raw(t, func(net.Conn) {}), "http")), ClassNetwork, "tls")
	garbage := raw(t, func(c net.Conn) { io.WriteString(c, "SSH-2.0-OpenSSH_9\r\n") })
	if o := do(t, short(), garbage); o.Class != ClassNetwork {
		t.Errorf("not HTTP: got %s %s", o.Class, o.Reason)
	}
}

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
	wantFail(t, do(t, short(), url), ClassClientError, "status")
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
