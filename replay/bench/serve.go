package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"reprise/replay/fakellm"
	"reprise/replay/wire"
)

// truth is what the server knows, as it is written to a file.
type truth struct {
	fakellm.Truth
	ArrivedNS map[string]int64 // by request: arrival of its last byte in the kernel, nanoseconds since 1970
}

// served is the server under way.
type served struct {
	http.Handler
	mu      sync.Mutex
	arrived map[string]int64
}

type arrivalKey struct{}

// serve answers until in ends, then writes the truth to out. The first line is its address.
func serve(timeline fakellm.Timeline, in io.Reader, out io.Writer) error {
	s, err := fakellm.New(fakellm.Config{Models: []string{model}, Slots: 1 << 20, Timeline: &timeline, KeepTruth: true})
	if err != nil {
		return err
	}
	stamping, err := wire.KeepStamping()
	if err != nil {
		return err
	}
	defer stamping.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	front := &served{Handler: s.Handler(), arrived: map[string]int64{}}
	h := &http.Server{Handler: front, ConnContext: func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, arrivalKey{}, c.(stamped).last)
	}}
	go h.Serve(stampedListener{l})
	fmt.Fprintf(out, "http://%s\n", l.Addr())
	io.Copy(io.Discard, in)
	h.Close()
	s.Close()
	return json.NewEncoder(out).Encode(truth{s.Truth(), front.arrived})
}

// stamped is a connection that knows when bytes came.
type stamped struct {
	net.Conn
	last func() time.Time
}

type stampedListener struct{ net.Listener }

func (l stampedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	wrapped, last := wire.Arrivals(c)
	return stamped{wrapped, last}, nil
}

// ServeHTTP notes the arrival of a whole request, and names those that have no name.
func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		at := r.Context().Value(arrivalKey{}).(func() time.Time)().UnixNano()
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.mu.Lock()
		if r.Header.Get("X-Request-Id") == "" {
			r.Header.Set("X-Request-Id", "unnamed-"+strconv.Itoa(len(s.arrived)))
		}
		s.arrived[r.Header.Get("X-Request-Id")] = at
		s.mu.Unlock()
	}
	s.Handler.ServeHTTP(w, r)
}
