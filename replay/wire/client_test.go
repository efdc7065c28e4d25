package wire

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

const body = `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}`

// short limits make every failure come within a second, and are ten times what a busy machine needs.
func short() Options {
	return Options{Limits: Limits{Connect: 2 * time.Second, FirstByte: 600 * time.Millisecond, Silence: 600 * time.Millisecond, Whole: 5 * time.Second}}
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
		for range 14 { // longer than the silence limit in all
			write(a)
			time.Sleep(60 * time.Millisecond)
		}
		write(done(0).text)
	})
	wantOK(t, do(t, short(), healthy))
	alive := serve(t, func(_ http.ResponseWriter, _ *http.Request, write func(string)) {
		for range 14 {
			write(":\n\n")
			time.Sleep(60 * time.Millisecond)
		}
		write(a + done(0).text)
	})
	wantOK(t, do(t, short(), alive))
	silent := serve(t, func(_ http.ResponseWriter, r *http.Request, write func(string)) { write(a); <-r.Context().Done() })
	o := do(t, short(), silent)
	wantFail(t, o, ClassTimeout, "silence_timeout")
	if len(o.Chunks) != 1 || *o.End < 600*time.Millisecond {
		t.Errorf("%d chunks, end %v", len(o.Chunks), *o.End)
	}
	headersOnly := serve(t, func(_ http.ResponseWriter, r *http.Request, write func(string)) { write(""); <-r.Context().Done() })
	wantFail(t, do(t, short(), headersOnly), ClassTimeout, "first_byte_timeout")
	nothing := raw(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	wantFail(t, do(t, short(), nothing), ClassTimeout, "headers_timeout")
	endless := serve(t, func(_ http.ResponseWriter, r *http.Request, write func(string)) {
		for r.Context().Err() == nil {
			write(":\n")
			time.Sleep(20 * time.Millisecond)
		}
	})
	opt := short()
	opt.Limits.Whole = 300 * time.Millisecond
	wantFail(t, do(t, opt, endless), ClassTimeout, "whole_timeout")
	c := NewClient(short())
	defer c.Close()
	wantFail(t, c.Do(t.Context(), &Call{URL: endless, Body: []byte(body), Stream: true, Limit: 300 * time.Millisecond}), ClassTimeout, "whole_timeout")
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
