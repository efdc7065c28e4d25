package selfcheck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"reprise/ingest/trace"
	"reprise/replay"
	"reprise/replay/fakellm"
	"reprise/replay/wire"
)

// inputTokens make a body of about 1.5 KB, as a chat has.
const inputTokens = 200

// trial is one load: requests evenly spaced over a time, each answered by a stream.
type trial struct {
	requests int
	over     time.Duration
	tokens   int           // chunks of each answer
	gap      time.Duration // between them
	clock    bool          // every other stream goes through a client without kernel stamps
}

// observed is what came of a trial; microseconds.
type observed struct {
	lag, arrived          []float64 // sends after due; reads by the server after due
	kernel, user          []float64 // distance of chunk stamps from the server's write call
	late, write           []float64 // server: writes after the model's time, length of write calls
	reports               []*replay.Report
	chunks, failed, wrong int // wrong: streams whose chunks are not the server's
	shared                int
}

// run sends the trial to a server of its own.
func (t trial) run(ctx context.Context) (*observed, error) {
	s, url, err := fakellm.Listen(fakellm.Config{Slots: t.requests, DecodeBase: t.gap, KeepTruth: true})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	clients := 1
	if t.clock {
		clients = 2
	}
	type done struct {
		report *replay.Report
		rows   []*trace.Request
		err    error
	}
	results := make(chan done, clients)
	for c := range clients {
		plan, err := t.plan(c, clients)
		if err != nil {
			return nil, err
		}
		go func() {
			var d done
			o := replay.Options{Target: url, NoPreflight: true, StopShare: -1,
				Wire: wire.Options{Ahead: min(t.requests, maxAhead), ClockStamps: c == 1},
				Sink: func(r *trace.Request) error { d.rows = append(d.rows, r); return nil }}
			d.report, d.err = replay.Run(ctx, plan, o)
			results <- d
		}()
	}
	var o observed
	var rows []*trace.Request
	for range clients {
		d := <-results
		if err == nil {
			err = d.err
		}
		rows, o.reports = append(rows, d.rows...), append(o.reports, d.report)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	o.join(rows, s.Truth())
	return &o, nil
}

// maxAhead bounds the connections made before they are needed.
const maxAhead = 64

// plan is the part of client c of so many.
func (t trial) plan(c, clients int) (*replay.Plan, error) {
	rows := func(yield func(trace.Request, error) bool) {
		for i := c; i < t.requests; i += clients {
			in, out, end := int64(inputTokens), int64(t.tokens), (time.Duration(t.tokens) * t.gap).Microseconds()
			r := trace.Request{RequestID: fmt.Sprintf("%d-%06d", c, i), Attempt: 1, Arrival: trace.Ptr((t.over * time.Duration(i) / time.Duration(t.requests)).Microseconds()),
				InputTokens: &in, OutputTokens: &out, EndUS: &end, ErrorClass: trace.ClassOK, EndpointKind: "chat", Stream: trace.Ptr(true),
				ModelRequested: "fake", Vantage: trace.Replay, ClockDomain: trace.Wall, TimePrecision: 1, SourceFormat: "selfcheck"}
			r.RootRequestID = r.RequestID
			if !yield(r, nil) {
				return
			}
		}
	}
	return replay.BuildPlan(rows, replay.PlanOptions{})
}

// join sets what the client recorded beside what the server knows.
func (o *observed) join(rows []*trace.Request, truth fakellm.Truth) {
	start, known := truth.Server.StartUnixUS, map[string]*fakellm.RequestTruth{}
	for i := range truth.Requests {
		known[truth.Requests[i].ID] = &truth.Requests[i]
	}
	for _, r := range rows {
		t := known[r.RequestID]
		if r.ErrorClass != trace.ClassOK || t == nil {
			o.failed++
			continue
		}
		o.arrived = append(o.arrived, float64(t.ArrivalUnixUS-*r.Arrival))
		if len(r.GapsUS) != len(t.WritingUS) {
			o.wrong++
			continue
		}
		at, errs := *r.Arrival-start, &o.kernel
		if r.RequestID[0] == '1' {
			errs = &o.user
		}
		for i, gap := range r.GapsUS {
			at += int64(gap)
			*errs = append(*errs, outside(at, t.WritingUS[i], t.WrittenUS[i]))
			o.late = append(o.late, float64(t.WrittenUS[i]-t.ChunkUS[i]))
			o.write = append(o.write, float64(t.WrittenUS[i]-t.WritingUS[i]))
		}
		o.chunks += len(r.GapsUS)
	}
}

// outside is how far an instant is from a closed interval. Bytes reach the other end of a loopback connection during the
// write call, and no stamp of the server is finer than that. Both clocks count whole microseconds: one is forgiven.
func outside(at, from, to int64) float64 { return float64(max(from-1-at, at-to-1, 0)) }

// spread sorts the sample.
func spread(v []float64) replay.Spread {
	slices.Sort(v)
	if len(v) == 0 {
		return replay.Spread{}
	}
	return replay.Spread{N: len(v), P50: quantile(v, .5), P99: quantile(v, .99), Max: v[len(v)-1]}
}

// quantile is type 1 of a sorted sample that is not empty: an error that was seen, not one between two.
func quantile(sorted []float64, p float64) float64 {
	return sorted[max(int(p*float64(len(sorted))+.999999)-1, 0)]
}
