package fakellm

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strconv"
)

// call is one generation request under way.
type call struct {
	api    api
	info   Call
	req    request
	do     Behaviour
	reason string // finish reason
	job    *job
	truth  RequestTruth
	rest   string // of an unary body, written after the truth
}

// api is the shape of requests and answers.
type api string

const (
	apiChat       api = "chat"
	apiText       api = "completions"
	apiResponses  api = "responses"
	apiMessages   api = "messages"
	apiEmbeddings api = "embeddings"
)

// talks says whether an answer is a turn of a talk, with channels for reasoning and tools.
func (a api) talks() bool { return a == apiChat || a == apiResponses || a == apiMessages }

// generation handles the calls of one shape, from reading the body to writing the truth.
func (s *Server) generation(shape api) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.calls.RLock()
		defer s.calls.RUnlock()
		c := &call{api: shape}
		no := s.receive(c, w, r)
		if no == nil {
			no = s.prepare(c)
		}
		switch {
		case no != nil:
			c.truth.HTTPStatus, c.truth.Outcome = no.status, OutcomeRefused
		case c.req.stream:
			c.truth.Outcome = s.stream(w, r, c)
			s.release(c)
		default:
			c.truth.Outcome = s.unary(w, r, c)
			s.release(c)
		}
		// Truth first: it is there before the client sees the end of the body.
		c.truth.EndUS = s.now().Microseconds()
		s.truth.request(c.truth)
		if no != nil {
			no.write(w)
		}
		io.WriteString(w, c.rest)
		switch c.truth.Outcome {
		case string(EndCut), string(EndSilence), OutcomeCancelled, OutcomeClosed:
			panic(http.ErrAbortHandler) // closes the connection without an end of body
		}
	}
}

// receive reads and parses the body and stamps its arrival.
func (s *Server) receive(c *call, w http.ResponseWriter, r *http.Request) *refusal {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.MaxBody))
	arrival := s.now()
	c.identify(r, int(s.ordinal.Add(1)), s.cfg.Seed)
	w.Header().Set("X-Request-Id", c.info.ID)
	c.truth = RequestTruth{
		Kind: "request", ID: c.info.ID, Ordinal: c.info.Ordinal, Path: r.URL.Path, HTTPStatus: http.StatusOK,
		ArrivalUS: arrival.Microseconds(), ArrivalUnixUS: s.start.UnixMicro() + arrival.Microseconds(),
	}
	var tooLarge *http.MaxBytesError
	switch {
	case s.cfg.APIKey != "" && r.Header.Get("Authorization") != "Bearer "+s.cfg.APIKey:
		return &refusal{status: http.StatusUnauthorized, message: "wrong or missing API key"}
	case errors.As(err, &tooLarge):
		return &refusal{status: http.StatusRequestEntityTooLarge, message: fmt.Sprintf("body is larger than %d bytes", tooLarge.Limit)}
	case err != nil:
		return &refusal{status: http.StatusBadRequest, message: "body was not read: " + err.Error()}
	}
	if c.req, err = parseRequest(data, c.api); err != nil {
		return &refusal{status: http.StatusBadRequest, message: err.Error()}
	}
	return nil
}

func (c *call) identify(r *http.Request, ordinal int, seed uint64) {
	c.info = Call{ID: r.Header.Get("X-Request-Id"), Ordinal: ordinal, Path: r.URL.Path, Draw: mix(seed ^ uint64(ordinal))}
	if c.info.ID == "" {
		c.info.ID = "req-" + strconv.Itoa(ordinal)
		return
	}
	h := fnv.New64a()
	io.WriteString(h, c.info.ID)
	c.info.Draw = mix(seed ^ h.Sum64())
}

// prepare decides what the answer will be and hands it to the engine.
func (s *Server) prepare(c *call) *refusal {
	if c.req.model == "" {
		c.req.model = s.cfg.Models[0]
	}
	tokens, blocks := chain(c.req.texts, s.cfg.BlockTokens)
	c.req.texts = nil // the prompt may be large and the answer long
	c.info.Model, c.info.Stream, c.info.PromptTokens = c.req.model, c.req.stream, tokens
	c.truth.Model, c.truth.Stream, c.truth.PromptTokens = c.req.model, c.req.stream, tokens
	if !slices.Contains(s.cfg.Models, c.req.model) {
		return &refusal{status: http.StatusNotFound, message: fmt.Sprintf("the model %q does not exist", c.req.model)}
	}
	if no := s.behave(c); no != nil {
		return no
	}
	c.job = &job{id: c.info.ID, tokens: tokens, blocks: blocks, stride: max(c.do.TokensPerChunk, 1)}
	c.job.signal = make(chan struct{}, 1)
	c.plan(s.cfg)
	if !s.enqueue(c.job) {
		return &refusal{status: http.StatusTooManyRequests, retryAfter: c.do.RetryAfter, message: "the queue is full"}
	}
	return nil
}

// plan sets the length of the answer, how much of it is reasoning, and the finish reason.
func (c *call) plan(cfg Config) {
	if c.api == apiEmbeddings {
		c.job.output = 1 // the step after the prefill, of which nothing is shown
		return
	}
	c.job.output, c.reason = cfg.answerLength(c.req, c.info.Draw)
	if n := c.do.OutputTokens; n > 0 {
		c.job.output, c.reason = n, "stop"
		if n == c.req.maxTokens {
			c.reason = "length"
		}
	}
	if !c.api.talks() {
		return
	}
	c.truth.ReasoningTokens = min(c.do.ReasoningTokens, c.job.output)
	if c.do.ToolCall && c.truth.ReasoningTokens < c.job.output {
		c.reason = "tool_calls"
	}
}

// behave asks the configuration what is special about the call.
func (s *Server) behave(c *call) *refusal {
	if s.cfg.Behave != nil {
		c.do = s.cfg.Behave(c.info)
	}
	if err := c.do.check(); err != nil {
		return &refusal{status: http.StatusInternalServerError, message: "Config.Behave: " + err.Error()}
	}
	if c.do.Status != 0 {
		return &refusal{status: c.do.Status, retryAfter: c.do.RetryAfter, message: "programmed fault"}
	}
	return nil
}
