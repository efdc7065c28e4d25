package analyze

import (
	"fmt"
	"math/rand/v2"

	"reprise/ingest/trace"
)

// randomRequests makes requests of three tenants and two models with every outcome, with much unknown, and with chunk
// times that often lie within a millisecond. No attempt is tried again.
func randomRequests(rng *rand.Rand, n int) []trace.Request {
	classes := []string{"ok", "ok", "ok", "ok", "ok", "ok", "ok", "client_cancel", "timeout", "rate_limited", "client_error", "context_length",
		"content_filter", "upstream_error", "network", "in_flight", "unknown"}
	rows := make([]trace.Request, n)
	for i := range rows {
		r := &rows[i]
		*r = trace.Request{RequestID: fmt.Sprint("q", i), RootRequestID: fmt.Sprint("q", i), Attempt: 1, Vantage: trace.Gateway, ClockDomain: trace.Wall,
			TimePrecision: 1, SourceFormat: "test", SourceFile: "f", SourceLine: int64(i), ErrorClass: classes[rng.IntN(len(classes))],
			Tenant: maybeText(rng, "x", "y", "z"), ModelRequested: maybeText(rng, "m1", "m2"), Replica: maybeText(rng, "r1", "r2"),
			EndpointKind: []string{"", "chat", "chat", "completions", "embeddings"}[rng.IntN(5)], HTTPStatus: maybe(rng, []int32{200, 400}[rng.IntN(2)]),
			Stream: maybe(rng, rng.IntN(4) > 0), CachedResponse: maybe(rng, rng.IntN(20) == 0), Arrival: maybe(rng, rng.Int64N(60_000_000)),
			OutputTokens: maybe(rng, rng.Int64N(9)), InputTokens: maybe(rng, 1+rng.Int64N(5000))}
		if r.OutputTokens != nil && rng.IntN(3) == 0 {
			r.ReasoningTokens = trace.Ptr(rng.Int64N(*r.OutputTokens + 1))
		}
		if rng.IntN(12) == 0 {
			r.Quality = "pseudo_stream,tokens_missing"
		}
		randomTimes(rng, r)
	}
	return rows
}

func randomTimes(rng *rand.Rand, r *trace.Request) {
	first := 1000 + rng.Int64N(600_000)
	at := first
	if rng.IntN(2) == 0 {
		r.GapsUS = []int32{int32(first)}
		for range rng.IntN(12) {
			r.GapsUS = append(r.GapsUS, []int32{0, 90, 400, 900, 30_000, 300_000}[rng.IntN(6)]+int32(rng.IntN(200)))
			at += int64(r.GapsUS[len(r.GapsUS)-1])
		}
		if rng.IntN(2) == 0 {
			for range r.GapsUS {
				r.ChunkTokens = append(r.ChunkTokens, int32(1+rng.IntN(4)))
			}
		}
	} else {
		at += rng.Int64N(400_000)
	}
	if rng.IntN(6) > 0 || r.GapsUS != nil {
		r.FirstUS = &first
		r.FirstVisibleUS = maybe(rng, first+rng.Int64N(2)*rng.Int64N(1000))
	}
	r.LastUS, r.EndUS = maybe(rng, at), maybe(rng, at+rng.Int64N(2000))
}

func maybe[T any](rng *rand.Rand, v T) *T {
	if rng.IntN(5) == 0 {
		return nil
	}
	return &v
}

func maybeText(rng *rand.Rand, of ...string) string {
	if rng.IntN(6) == 0 {
		return ""
	}
	return of[rng.IntN(len(of))]
}
