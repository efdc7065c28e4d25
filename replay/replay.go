package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/wire"
)

// Report is what a replay did. It is stored with the run as JSON.
type Report struct {
	Target      string         `json:"target"`
	StartUS     int64          `json:"start_us"` // microseconds since 1970
	TookUS      int64          `json:"took_us"`
	Planned     int            `json:"planned"`
	Sent        int            `json:"sent"`
	Classes     map[string]int `json:"classes"` // finished requests by outcome
	Examples    []Example      `json:"examples"`
	Incomplete  string         `json:"incomplete,omitempty"` // why not everything was sent, one of the Stopped words; "" when it was
	Attempts    int            `json:"attempts"`             // finished, the first ones and retries
	Retried     int            `json:"retried"`              // requests tried more than once
	Recovered   int            `json:"recovered"`            // of them, those that ended well
	Pacing      string         `json:"pacing"`
	Threaded    int            `json:"threaded,omitempty"`   // turns that held the target's own answer to the turn before
	Unthreaded  int            `json:"unthreaded,omitempty"` // turns that should have, but held what was recorded, or nothing of the talk
	Lengths     string         `json:"lengths"`
	Cancel      string         `json:"cancel"`
	Salt        string         `json:"salt,omitempty"`
	Calibration Calibration    `json:"calibration"`
	Fidelity    Fidelity       `json:"fidelity"`
	Notices     []Notice       `json:"notices"`
	Metrics     []Scraped      `json:"target_metrics,omitempty"` // how reading the target's own metrics went
	Shard       *Sharded       `json:"shard,omitempty"`          // when several clients shared the plan
	SelfCheck   *SelfCheck     `json:"selfcheck"`                // what this client was measured to be able to do; nil when it was not
}

// Example is a kind of failure: how many attempts ended so, and the first of them.
type Example struct {
	RequestID   string   `json:"request_id"`
	Class       string   `json:"class"`
	Status      int      `json:"status,omitempty"`
	Reason      string   `json:"reason"`
	Code        string   `json:"code,omitempty"`
	RetryAfterS int64    `json:"retry_after_s,omitempty"` // what the target asked for
	Count       int      `json:"count"`
	Others      []string `json:"others,omitempty"` // request ids of some more
}

// Why a replay ended early.
const (
	StoppedInterrupt = "interrupted" // ctx ended
	StoppedFailures  = "failures"    // too many of the first requests failed
	StoppedSink      = "sink"        // a result could not be stored
	StoppedBody      = "body"        // a recorded body could not be read
)

// run is a replay under way.
type run struct {
	plan   *Plan
	opt    *Options
	client *wire.Client
	urls   map[string]string // by endpoint
	bodies *bodyMaker
	d      *dispatcher
	stop   context.CancelCauseFunc
	tally  *tally
	turns  []turn  // of each item
	follow [][]int // items that wait for each item; nil in open pacing

	mu    sync.Mutex
	meter *shareMeter
	err   error // a body that could not be built
}

// Run sends the plan and reports how it went. An error means that nothing of use was sent (bad options, a target that
// refuses the preflight, see [PreflightError]) or, together with a report, that a result could not be stored. When ctx ends, sending stops,
// open requests are hung up and recorded as in_flight, and the report says interrupted.
func Run(ctx context.Context, plan *Plan, o Options) (*Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Wire.Ahead == 0 && strings.HasPrefix(o.Target, "https:") {
		o.Wire.Ahead = min(2+plan.Summary.PeakRate/5, maxAhead)
	}
	r := &run{plan: plan, opt: &o, client: wire.NewClient(o.Wire), urls: map[string]string{}}
	defer r.client.Close()
	for endpoint, path := range map[string]string{"chat": "chat/completions", "completions": "completions", "responses": "responses",
		"messages": "messages", "embeddings": "embeddings", "models": "models"} {
		address, err := wire.Endpoint(o.Target, path)
		if err != nil {
			return nil, err
		}
		r.urls[endpoint] = address
	}
	cal := Calibration{TokensPerWord: 1}
	if !o.NoPreflight {
		var err error
		if cal, err = r.preflight(ctx); err != nil {
			return nil, err
		}
	}
	r.warm(ctx)
	r.bodies = &bodyMaker{prompter: newPrompter(cal, o.Salt), opt: &o, lengths: plan.Options.Lengths}
	return r.send(ctx)
}

// maxAhead bounds the TLS connections kept ready; a fifth of the busiest second's sends is one dial of 200 ms ahead.
const maxAhead = 64

// warm makes TLS connections ahead, so that handshakes are not in the latencies.
func (r *run) warm(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	r.client.Warm(ctx, r.urls["chat"])
}

var (
	errFailures = errors.New("too many of the first requests failed")
	errSink     = errors.New("a result could not be stored")
	errBody     = errors.New("a request could not be built")
)

// headStart is the time between the start of the clock and the first due send.
const headStart = 5 * time.Millisecond

// ballast is memory that is never touched, so next to none is taken, but that the collector counts: a small heap is collected every other
// second, and what is due meanwhile leaves late. With it the 99th percentile of the lag at 200 and 400 a second was half to two thirds.
const ballast = 12 << 20

func (r *run) send(ctx context.Context) (*Report, error) {
	defer runtime.KeepAlive(make([]byte, ballast))
	sending, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.stop = stop
	r.turns, r.meter = r.plan.turns(), newShareMeter(r.bodies.cal)
	r.d = &dispatcher{items: r.plan.Items, pace: r.opt.pace, open: r.client.Open, limit: r.opt.MaxInFlight, free: make(chan struct{}, 1)}
	if r.opt.Pacing == PacingSessions {
		r.follow, r.d.turns = followers(r.turns), newTurnQueue()
	}
	ready, full, built := make(chan prepared, r.plan.ahead()), make(chan struct{}), make(chan struct{})
	go func() { defer close(built); r.build(sending, ready, full) }()
	<-full // bodies are ahead before the clock starts
	if r.d.limit <= 0 {
		r.d.limit = descriptorLimit()
	}
	part := r.opt.sharded(r.plan)
	var err error
	if r.d.start, err = r.opt.anchor(ctx); err != nil {
		stop(err)
		<-built
		return nil, err
	}
	results := make(chan result, 1024)
	health := startHealth()
	r.tally = newTally(r)
	collected := make(chan struct{})
	go func() { defer close(collected); r.tally.collect(results) }()
	r.d.run(sending, ready, r.tally.sent, func(p prepared) { r.one(sending, p, results) })
	close(results)
	<-collected
	cause := context.Cause(sending)
	stop(nil)
	<-built
	if r.err != nil {
		cause = errBody
	}
	rep := r.tally.report(cause, health.stop(r.d.late))
	rep.Shard = part.end(r.opt, r.d.start)
	rep.Notices = append(rep.Notices, rep.Shard.notices()...)
	return rep, errors.Join(r.err, r.tally.err)
}

// fail keeps the first body that cannot be built, which ends the replay.
func (r *run) fail(err error) {
	r.mu.Lock()
	r.err = cmp.Or(r.err, err)
	r.mu.Unlock()
	r.stop(errBody)
}

// attemptID names an attempt: the recorded id, and for a retry its number behind it.
func attemptID(id string, attempt int) string {
	if attempt <= 1 {
		return id
	}
	return fmt.Sprintf("%s-try%d", id, attempt)
}

// header is the caller's, with the recorded id so that logs of the target can be joined.
func (r *run) header(it *Item, attempt int) http.Header {
	h := r.opt.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	if h.Get("X-Request-Id") == "" && it.RequestID != "" && strings.Trim(it.RequestID, idBytes) == "" {
		h.Set("X-Request-Id", attemptID(it.RequestID, attempt))
	}
	if it.Endpoint == "messages" { // Anthropic asks for both
		setDefault(h, "Anthropic-Version", "2023-06-01")
		if key, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer "); ok {
			setDefault(h, "X-Api-Key", key)
		}
	}
	return h
}

func setDefault(h http.Header, name, value string) {
	if h.Get(name) == "" {
		h.Set(name, value)
	}
}

const idBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/"

// replica names the target when its answers do not.
func (o *Options) replica() string {
	u, err := url.Parse(o.Target)
	if err != nil {
		return ""
	}
	return u.Host
}

// sink hands a row on.
func (o *Options) sink(r *trace.Request) error {
	if o.Sink == nil {
		return nil
	}
	return o.Sink(r)
}
