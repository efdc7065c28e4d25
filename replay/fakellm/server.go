package fakellm

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a running engine with its HTTP front.
type Server struct {
	cfg   Config
	start time.Time
	http  *http.Server
	truth *recorder

	ordinal atomic.Int64
	calls   sync.RWMutex // held for reading by each generation request, so that Close can wait for them
	closing sync.Once
	done    chan struct{} // closed by Close
	stopped chan struct{} // closed when the loop has ended
	arrival chan struct{} // holds at most one "look again" for an idle loop

	mu     sync.Mutex // guards engine, and the model's fields of its jobs
	engine *engine
}

// New starts the engine; time 0 of its truth and of Config.Pauses is now. Close must be called.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, start: time.Now(), truth: newRecorder(cfg.Truth, cfg.KeepTruth),
		done: make(chan struct{}), stopped: make(chan struct{}), arrival: make(chan struct{}, 1),
	}
	s.engine = newEngine(cfg, s.truth.step)
	s.http = &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
	}
	s.truth.server(serverTruth(cfg, s.start.UnixMicro()))
	go s.drive()
	return s, nil
}

// Listen is New behind a port of its own of the loopback interface, and the address of that: http://127.0.0.1:PORT. Close must be called.
func Listen(cfg Config) (*Server, string, error) {
	s, err := New(cfg)
	if err != nil {
		return nil, "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Close()
		return nil, "", fmt.Errorf("listening: %w", err)
	}
	go s.Serve(l)
	return s, "http://" + l.Addr().String(), nil
}

// Handler is the HTTP front, for a server of the caller's own. Its streams need an http.ResponseWriter that can flush.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.generation(apiChat))
	mux.HandleFunc("POST /v1/completions", s.generation(apiText))
	mux.HandleFunc("POST /v1/responses", s.generation(apiResponses))
	mux.HandleFunc("POST /v1/messages", s.generation(apiMessages))
	mux.HandleFunc("POST /v1/embeddings", s.generation(apiEmbeddings))
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		(&refusal{status: http.StatusNotFound, message: "no such endpoint: " + r.Method + " " + r.URL.Path}).write(w)
	})
	return mux
}

// Serve answers connections of l until Close, which makes it return nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends the engine, every connection of Serve and every request, then flushes the truth. The error is the first one
// met in writing the truth. A server of the caller's own that uses Handler must be closed before, lest Close wait for a
// client that does not read. Close may be called again.
func (s *Server) Close() error {
	s.closing.Do(func() {
		close(s.done)
		s.http.Close()
	})
	<-s.stopped
	s.calls.Lock()
	defer s.calls.Unlock()
	return s.truth.flush()
}

// Truth is what happened so far, when Config.KeepTruth is set: requests that ended and steps that ended.
func (s *Server) Truth() Truth {
	return s.truth.snapshot()
}

// now is the time since the start in whole microseconds, so that truth holds the exact times the model was told.
func (s *Server) now() time.Duration {
	return time.Since(s.start).Truncate(time.Microsecond)
}

// enqueue hands a job to the engine; false when its queue is full.
func (s *Server) enqueue(j *job) bool {
	s.mu.Lock()
	ok := s.engine.arrive(s.now(), j)
	s.mu.Unlock()
	select {
	case s.arrival <- struct{}{}:
	default:
	}
	return ok
}

// release ends a call's stay in the engine and copies what the model knows of it.
func (s *Server) release(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engine.cancel(s.now(), c.job)
	c.truth.fill(c.job)
	if c.api == apiEmbeddings {
		c.truth.OutputTokens = 0
	}
}

// readCached copies the number of cached prompt tokens, which is known once the job was admitted.
func (s *Server) readCached(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.truth.CachedTokens = c.job.cached
}
