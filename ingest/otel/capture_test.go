package otel

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// server and client are the two truths of a capture.
type server struct {
	ID         string
	Stream     bool
	Recv       time.Time
	BodyMS     float64   `json:"body_ms"`
	Prompt     int64     `json:"prompt_tokens"`
	Cached     int64     `json:"cached_tokens"`
	Sent       int64     `json:"sent"`
	ChunkMS    []float64 `json:"chunk_ms"`
	ResponseID string    `json:"resp_id"`
}

type client struct {
	ID      string
	Sent    time.Time
	FirstMS *float64 `json:"first_ms"`
	EndMS   float64  `json:"end_ms"`
}

// capture is one producer's account of the 14 requests, and what its authors' README says it loses.
type capture struct {
	name   string
	lost   []string // requests without a span
	tokens []string // the requests whose counts it writes; nil: all that were answered
	cached bool     // it writes cached tokens
	first  bool     // it writes a first token of every answered stream
	reason map[string]int
}

var answered = []string{"n1", "s1", "s2", "s3", "s4", "m1", "t1", "l1"}

var captures = []capture{
	{name: "js-otel", lost: []string{"cut1", "can1"}, tokens: []string{"n1", "s1", "s2", "s3", "m1", "t1", "l1"}},
	{name: "js-otel-nocontent", lost: []string{"cut1", "can1"}, tokens: []string{"n1", "s1", "s2", "s3", "m1", "t1", "l1"}},
	{name: "js-traceloop", lost: []string{"e429", "e400", "e500", "cut1", "can1"}, tokens: []string{"n1"}},
	{name: "js-traceloop-nocontent", lost: []string{"e429", "e400", "e500", "cut1", "can1"}, tokens: []string{"n1"}},
	{name: "js-openinference", lost: []string{"e429", "e400", "e500", "cut1"}, tokens: []string{"n1"}},
	{name: "js-langfuse", lost: []string{"cut1", "can1"}, tokens: []string{"n1", "s1", "s2", "s3", "m1", "t1", "l1"}, cached: true, first: true},
	{name: "js-vercel6", lost: []string{"cut1"}, cached: true, first: true, reason: map[string]int{duplicateView: 11}},
	{name: "js-vercel7", cached: true, first: true, reason: map[string]int{agentSpan: 28}},
}

// outcomes are what the client met, in the record's words.
var outcomes = map[string]string{"e429": trace.ClassRateLimited, "e400": trace.ClassContextLength, "e500": trace.ClassUpstream,
	"cut1": trace.ClassUpstream, "can1": trace.ClassCancel, "can0": trace.ClassCancel}

var directive = regexp.MustCompile(`\[\[id=(\w+)`)

// identify finds the request of a row: by the prompt's directive in a kept body, by the response id, else as the one
// sent last before it.
func identify(r *trace.Request, body string, servers map[string]server, clients map[string]client) (id string) {
	if m := directive.FindAllStringSubmatch(body, -1); m != nil {
		return m[len(m)-1][1]
	}
	for id, s := range servers {
		if r.ResponseID != "" && r.ResponseID == s.ResponseID {
			return id
		}
	}
	var last time.Time
	for name, c := range clients {
		if c.Sent.UnixMicro() <= *r.Arrival+2000 && c.Sent.After(last) {
			id, last = name, c.Sent
		}
	}
	return id
}

func TestCaptures(t *testing.T) {
	for _, c := range captures {
		t.Run(c.name, func(t *testing.T) {
			servers := truths(t, c.name+"/server.jsonl.gz", func(s server) string { return s.ID })
			clients := truths(t, c.name+"/client.jsonl.gz", func(c client) string { return c.ID })
			got := decodeJSON(t, JSON(), decode.Options{KeepBodies: true}, lines(t, c.name+"/traces.jsonl.gz")...)
			seen := map[string]bool{}
			for i, r := range got.rows {
				id := identify(r, got.bodies[i], servers, clients)
				if id == "" || seen[id] {
					t.Fatalf("row %d (%s, response %q) is request %q, seen before: %v", i, r.SpanID, r.ResponseID, id, seen[id])
				}
				seen[id] = true
				c.check(t, r, servers[id], clients[id])
			}
			for id := range clients {
				if seen[id] == slices.Contains(c.lost, id) {
					t.Errorf("%s: has a row: %v", id, seen[id])
				}
			}
			for _, reason := range []string{duplicateView, agentSpan, notLLM, toolSpan} {
				if got.skipped[reason] != c.reason[reason] {
					t.Errorf("skipped %d as %s, want %d", got.skipped[reason], reason, c.reason[reason])
				}
			}
		})
	}
}

func (c capture) check(t *testing.T, r *trace.Request, s server, cl client) {
	t.Helper()
	id := cl.ID
	want := outcomes[id]
	if want == "" {
		want = trace.ClassOK
	}
	if r.ErrorClass != want {
		t.Errorf("%s: error class %q, want %q", id, r.ErrorClass, want)
	}
	late := *r.Arrival - cl.Sent.UnixMicro()
	if late < -2000 || late > 90000 { // two clocks of one machine, the first call of a process is slow
		t.Errorf("%s: arrival %d us after the client's send", id, late)
	}
	if end, truth := late+*r.EndUS, int64(cl.EndMS*1000); end > truth+6000 || end < truth-30000 {
		t.Errorf("%s: ends %d us after the send, the client saw %d", id, end, truth)
	}
	if r.Vantage != trace.Client || r.ModelRequested != "fake-8b" || r.TimePrecision != 1000 { // JavaScript's clock
		t.Errorf("%s: vantage %q, model %q, precision %d", id, r.Vantage, r.ModelRequested, r.TimePrecision)
	}
	if r.Stream != nil && *r.Stream != s.Stream {
		t.Errorf("%s: stream %v, want %v", id, *r.Stream, s.Stream)
	}
	c.checkTokens(t, r, s)
	c.checkFirst(t, r, s, cl, late)
}

func (c capture) checkTokens(t *testing.T, r *trace.Request, s server) {
	t.Helper()
	counted := slices.Contains(answered, s.ID) && (c.tokens == nil || slices.Contains(c.tokens, s.ID))
	switch {
	case !counted:
		if r.InputTokens != nil || r.OutputTokens != nil || r.TokensSource != "" {
			t.Errorf("%s: tokens %v and %v (%q), want none", s.ID, show(r.InputTokens), show(r.OutputTokens), r.TokensSource)
		}
	case show(r.InputTokens) != s.Prompt || show(r.OutputTokens) != s.Sent || r.TokensSource != "usage":
		t.Errorf("%s: tokens %v and %v (%q), want %d and %d", s.ID, show(r.InputTokens), show(r.OutputTokens), r.TokensSource, s.Prompt, s.Sent)
	case c.cached && show(r.CachedInputTokens) != s.Cached:
		t.Errorf("%s: cached %v, want %d", s.ID, show(r.CachedInputTokens), s.Cached)
	}
}

// checkFirst wants the first token between the server's write and the moment the client held it.
func (c capture) checkFirst(t *testing.T, r *trace.Request, s server, cl client, late int64) {
	t.Helper()
	if !c.first || !slices.Contains(answered, s.ID) || !s.Stream {
		if r.FirstUS != nil || r.TTFTKind != "" {
			t.Errorf("%s: first token %v (%q), want none", s.ID, show(r.FirstUS), r.TTFTKind)
		}
		return
	}
	wrote := s.Recv.UnixMicro() + int64((s.BodyMS+s.ChunkMS[0])*1000) - *r.Arrival
	held := int64(*cl.FirstMS*1000) - late
	if r.FirstUS == nil || *r.FirstUS < wrote-2000 || *r.FirstUS > held+2000 || r.TTFTKind != trace.TTFTAny {
		t.Errorf("%s: first token %v (%q), want %d to %d", s.ID, show(r.FirstUS), r.TTFTKind, wrote, held)
	}
}
