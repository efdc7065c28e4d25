package replay

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/fakellm"
	"reprise/replay/wire"
)

// row is a finished, streamed chat request.
func row(id string, arrivalMS, in, out int64) trace.Request {
	return trace.Request{RequestID: id, RootRequestID: id, Attempt: 1, Arrival: trace.Ptr(arrivalMS * 1000), InputTokens: &in, OutputTokens: &out,
		EndUS: trace.Ptr(int64(500_000)), ErrorClass: trace.ClassOK, EndpointKind: "chat", Stream: trace.Ptr(true), Vantage: trace.Gateway,
		ClockDomain: trace.Wall, TimePrecision: 1, ModelRequested: "m", SourceFormat: "test", SourceFile: "a.jsonl", SourceLine: 1}
}

// requests are n rows apart milliseconds from each other.
func requests(n int, apart int64) []trace.Request {
	var rows []trace.Request
	for i := range n {
		rows = append(rows, row(fmt.Sprintf("r%04d", i), int64(i)*apart, 20+int64(i%7), 3+int64(i%5)))
	}
	return rows
}

func seq(rows ...trace.Request) iter.Seq2[trace.Request, error] {
	return func(yield func(trace.Request, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func mustPlan(t *testing.T, o PlanOptions, rows ...trace.Request) *Plan {
	t.Helper()
	p, err := BuildPlan(seq(rows...), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// target starts a model server; its truth is kept.
func target(t *testing.T, cfg fakellm.Config) (*fakellm.Server, string) {
	t.Helper()
	cfg.KeepTruth = true
	if cfg.Slots == 0 {
		cfg.Slots = 1000
	}
	if cfg.Models == nil {
		cfg.Models = []string{"m"}
	}
	s, url, err := fakellm.Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, url
}

// shortLimits make every failure come within a second.
var shortLimits = wire.Limits{Connect: 2 * time.Second, FirstByte: time.Second, Silence: time.Second, Whole: 10 * time.Second}

// replayed runs a plan and keeps the rows.
func replayed(t *testing.T, p *Plan, o Options) (*Report, []trace.Request) {
	t.Helper()
	var rows []trace.Request
	o.Sink = func(r *trace.Request) error { rows = append(rows, *r); return nil }
	if o.Wire.Limits == (wire.Limits{}) {
		o.Wire.Limits = shortLimits
	}
	rep, err := Run(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return rep, rows
}

func truthByID(s *fakellm.Server) map[string]fakellm.RequestTruth {
	m := map[string]fakellm.RequestTruth{}
	for _, r := range s.Truth().Requests {
		m[r.ID] = r
	}
	return m
}

// eventually waits until ok, at most ten seconds: a server learns of a hang-up after the client is through with it.
func eventually(ok func() bool) {
	for deadline := time.Now().Add(10 * time.Second); !ok() && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
}
