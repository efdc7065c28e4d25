package analyze

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/ingest/trace"
	"reprise/queries"
)

// TestExtremes: no value that a log may leave in a run stops a query. Rows are as a hostile log could have them, at the bounds of
// trace.Check, among usual ones; sums and products of them must stay in range.
func TestExtremes(t *testing.T) {
	const year, first, last = 366 * 86_400_000_000, -30610224000000000, 253402300799999999
	const monday1970 = -3 * 86_400_000_000 // of the week that the usual rows are in
	rng := rand.New(rand.NewPCG(4, 2))
	rows := randomRequests(rng, 200)
	pick := func(old *int64, values ...int64) *int64 {
		if rng.IntN(3) > 0 {
			return old
		}
		return &values[rng.IntN(len(values))]
	}
	for i := range rows {
		r := &rows[i]
		if i%4 > 0 {
			continue
		}
		r.Arrival = pick(r.Arrival, first, last, 0, -1)
		for _, d := range []**int64{&r.FirstUS, &r.FirstVisibleUS, &r.HeadersUS, &r.LastUS, &r.EndUS, &r.QueueUS, &r.PrefillUS, &r.DecodeUS} {
			*d = pick(*d, year, year-1, 0, 1)
		}
		for _, n := range []**int64{&r.InputTokens, &r.CachedInputTokens, &r.CacheWriteTokens, &r.OutputTokens, &r.ReasoningTokens, &r.MaxTokens, &r.SystemPromptTokens} {
			*n = pick(*n, math.MaxInt32, math.MaxInt64, math.MinInt64, 0, 1)
		}
		switch rng.IntN(4) {
		case 0:
			r.GapsUS, r.ChunkTokens = []int32{math.MaxInt32, 0, math.MaxInt32, 1}, []int32{1, math.MaxInt32, 0, math.MaxInt32}
		case 1:
			r.GapsUS, r.ChunkTokens = []int32{0}, []int32{1 << 12}
		case 2:
			r.Turn, r.Attempt, r.SourceLine = trace.Ptr[int32](math.MaxInt32), math.MaxInt32, math.MaxInt64
			r.PrefixHashIDs, r.PrefixBlockTokens = []int64{math.MinInt64, -1, 0, math.MaxInt64}, trace.Ptr[int32](math.MaxInt32)
		}
		trace.Check(r)
	}
	run, e, sc := writeRun(t, rows), newEngine(t), Scope{SLO: anySLO(t), By: []string{"tenant", "model"}}
	for _, name := range queries.Names() {
		if _, err := e.Query(context.Background(), run, name, sc, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := e.Picture(context.Background(), run, sc); err != nil {
		t.Errorf("picture: %v", err)
	}
	if _, err := e.Weekly(context.Background(), run, WeeklyOptions{From: monday1970, SLO: sc.SLO}); err != nil {
		t.Errorf("weekly: %v", err)
	}
	if _, err := Compare(context.Background(), e, run, run, CompareOptions{Scope: Scope{SLO: sc.SLO}}); err != nil {
		t.Errorf("compare: %v", err)
	}
}
