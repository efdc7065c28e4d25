package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"reprise/ingest/trace"
	"reprise/replay"
	"reprise/replay/fakellm"
)

// load is one experiment.
type load struct {
	Name   string
	Rate   int             // requests a second, evenly spaced; 0 when Due is drawn or streams are opened
	Due    []time.Duration // from the start
	Tokens int
	Server fakellm.Timeline
	Peers  bool // Python tools run it, too
}

// inputTokens make a body of about 400 bytes.
const inputTokens = 48

const ms = time.Millisecond

// even is evenly spaced requests at a known first token and gap.
func even(name string, rate, tokens int, over time.Duration) load {
	l := load{Name: name, Rate: rate, Tokens: tokens, Server: fakellm.Timeline{First: 100 * ms, Gap: 20 * ms}}
	for i := range int(over.Seconds() * float64(rate)) {
		l.Due = append(l.Due, time.Duration(i)*time.Second/time.Duration(rate))
	}
	return l
}

// streams are so many at once of 50 chunks a second, opened over the first fifth of the time.
func streams(n int, over time.Duration) load {
	l := load{Name: fmt.Sprintf("%d streams of 50 chunks/s", n), Tokens: int(over * 4 / 5 / (20 * ms)), Server: fakellm.Timeline{First: 100 * ms, Gap: 20 * ms}}
	for i := range n {
		l.Due = append(l.Due, over/5*time.Duration(i)/time.Duration(n))
	}
	return l
}

// bursty is groups of up to 16 requests within 100 ms, at random times, 50 requests a second on average.
func bursty(over time.Duration) load {
	l, rng := load{Name: "50 req/s in bursts", Tokens: 16, Server: fakellm.Timeline{First: 100 * ms, Gap: 20 * ms}}, rand.New(rand.NewPCG(1, 0))
	for want := int(over.Seconds() * 50); len(l.Due) < want; {
		at := time.Duration(rng.Int64N(int64(over)))
		for range min(1+rng.IntN(16), want-len(l.Due)) {
			l.Due = append(l.Due, at+time.Duration(rng.Int64N(int64(100*ms))))
		}
	}
	slices.Sort(l.Due)
	return l
}

// loads are those of issue 6. scale 1 takes about two and a half minutes of sending for a tool that runs all of them.
func loads(scale float64) []load {
	d := func(seconds float64) time.Duration { return time.Duration(seconds * scale * float64(time.Second)) }
	plain, stalls := even("20 req/s, 64 tokens", 20, 64, d(20)), even("20 req/s, each 16th gap 200 ms", 20, 64, d(20))
	stalls.Server.Every, stalls.Server.Stall = 16, 200*ms
	list := []load{plain, stalls, bursty(d(16)), even("100 req/s, 16 tokens", 100, 16, d(8)), even("200 req/s, 16 tokens", 200, 16, d(8)),
		even("400 req/s, 16 tokens", 400, 16, d(8)), even("1000 req/s, 16 tokens", 1000, 16, d(8)), streams(100, d(10)), streams(300, d(10)), streams(500, d(10))}
	for _, i := range []int{0, 1, 4} {
		list[i].Peers = true
	}
	return list
}

func (l *load) id(i int) string { return fmt.Sprintf("bench-%06d", i) }

// plan is the load as reprise sends it.
func (l *load) plan() (*replay.Plan, error) {
	return replay.BuildPlan(func(yield func(trace.Request, error) bool) {
		for i, due := range l.Due {
			in, out := int64(inputTokens), int64(l.Tokens)
			r := trace.Request{RequestID: l.id(i), RootRequestID: l.id(i), Attempt: 1, Arrival: trace.Ptr(due.Microseconds()), InputTokens: &in, OutputTokens: &out, EndUS: trace.Ptr(int64(1e6)),
				ErrorClass: trace.ClassOK, EndpointKind: "chat", Stream: trace.Ptr(true), ModelRequested: model, Vantage: trace.Replay, ClockDomain: trace.Wall, TimePrecision: 1, SourceFormat: "bench"}
			if !yield(r, nil) {
				return
			}
		}
	}, replay.PlanOptions{})
}

const model = "fake"
