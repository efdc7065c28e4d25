package analyze

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/ingest/trace"
)

// TestPrefixCacheOracle compares the query with metrics.md 5.2 done by looking at every earlier prompt, on random
// prompts of which much is unknown; the order in which a log has them does not matter.
func TestPrefixCacheOracle(t *testing.T) {
	e := newEngine(t)
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 5))
		rows := randomPrompts(rng, 150)
		want := oracleHits(rows)
		for range 2 {
			got := numbers(t, e, writeRun(t, rows), "prefix_cache", nil)
			if diff := gocmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
				t.Fatalf("seed %d: query differs from the oracle (-want +got):\n%s", seed, diff)
			}
			rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}
	}
}

// numbers runs a query by tenant and returns its columns by group.
func numbers(t *testing.T, e *Engine, run *Run, query string, params map[string]string) map[string]map[string]any {
	t.Helper()
	res, err := e.Query(context.Background(), run, query, Scope{By: []string{"tenant"}}, params)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]any{}
	for _, row := range res.Rows {
		cells := map[string]any{}
		for i, c := range res.Columns[1:] {
			cells[c.Name] = row[i+1]
		}
		out[row[0].(string)] = cells
	}
	return out
}

// randomPrompts makes prompts from a tree of block ids, so that prefixes are shared as chained hashes are.
func randomPrompts(rng *rand.Rand, n int) []trace.Request {
	classes := []string{trace.ClassOK, trace.ClassOK, trace.ClassOK, trace.ClassCancel, trace.ClassInFlight, trace.ClassUnknown, trace.ClassUpstream, trace.ClassClientError}
	rows := make([]trace.Request, n)
	for i := range rows {
		r := &rows[i]
		*r = trace.Request{RequestID: string([]rune{'q', rune(0x4e00 + i)}), Attempt: 1, SourceFormat: "test", Vantage: trace.Gateway, ClockDomain: trace.Wall,
			ErrorClass: pick(rng, classes...), Arrival: trace.Ptr(rng.Int64N(60)), // many at one time
			Tenant:         pick(rng, "", "x", "y", "z"),
			ModelRequested: pick(rng, "", "m", "m"), ModelServed: pick(rng, "", "", "s"), Replica: pick(rng, "", "g1", "g2")}
		r.RootRequestID = r.RequestID
		if rng.IntN(4) == 0 {
			r.FirstUS = trace.Ptr(int64(5))
		}
		if rng.IntN(12) == 0 {
			r.CachedResponse = trace.Ptr(true)
		}
		if rng.IntN(8) > 0 {
			path := int64(0)
			for range 1 + rng.IntN(5) {
				path = path*3 + 1 + rng.Int64N(2)
				r.PrefixHashIDs = append(r.PrefixHashIDs, path)
			}
		}
		prefixLengths(rng, r)
	}
	return rows
}

// prefixLengths gives a length that fits the blocks, of a known size or not.
func prefixLengths(rng *rand.Rand, r *trace.Request) {
	in := 1 + rng.Int64N(80)
	if n := int64(len(r.PrefixHashIDs)); n > 0 && rng.IntN(2) == 0 {
		in = 16*n - rng.Int64N(16)
		r.PrefixBlockTokens = trace.Ptr(int32(16))
	}
	if rng.IntN(10) > 0 {
		r.InputTokens = &in
	}
	if rng.IntN(3) > 0 {
		r.CachedInputTokens = trace.Ptr(rng.Int64N(in + 1))
	}
}

func pick(rng *rand.Rand, of ...string) string { return of[rng.IntN(len(of))] }

// tally sums one group.
type tally struct {
	all, known, reported                    int64
	input, fleet, replica, placed, placedIn int64
	reportedIn, cached                      int64
	both, bothIdeal, bothCached, missed     int64
}

func oracleHits(rows []trace.Request) map[string]map[string]any {
	prompts := slices.DeleteFunc(slices.Clone(rows), func(r trace.Request) bool { return !reached(&r) })
	slices.SortFunc(prompts, func(a, b trace.Request) int {
		return cmp.Or(cmp.Compare(*a.Arrival, *b.Arrival), cmp.Compare(a.RequestID, b.RequestID))
	})
	sums := map[string]*tally{}
	for i := range prompts {
		r := &prompts[i]
		name := cmp.Or(r.Tenant, "(unknown)")
		if sums[name] == nil {
			sums[name] = &tally{}
		}
		sums[name].add(r, prompts[:i])
	}
	out := map[string]map[string]any{}
	for name, s := range sums {
		out[name] = s.columns()
	}
	return out
}

func reached(r *trace.Request) bool {
	refused := r.ErrorClass == trace.ClassUpstream || r.ErrorClass == trace.ClassClientError
	return r.InputTokens != nil && r.CachedResponse == nil && (!refused || r.FirstUS != nil)
}

func (s *tally) add(r *trace.Request, earlier []trace.Request) {
	s.all++
	if r.CachedInputTokens != nil {
		s.reported, s.reportedIn, s.cached = s.reported+1, s.reportedIn+*r.InputTokens, s.cached+*r.CachedInputTokens
	}
	if r.PrefixHashIDs == nil {
		return
	}
	hit := hitTokens(r, earlier, func(o *trace.Request) bool { return true })
	s.known, s.input, s.fleet = s.known+1, s.input+*r.InputTokens, s.fleet+hit
	if r.Replica != "" {
		s.placed, s.placedIn = s.placed+1, s.placedIn+*r.InputTokens
		s.replica += hitTokens(r, earlier, func(o *trace.Request) bool { return o.Replica == r.Replica })
	}
	if r.CachedInputTokens != nil {
		s.both, s.bothIdeal, s.bothCached = s.both+1, s.bothIdeal+hit, s.bothCached+*r.CachedInputTokens
		s.missed += max(0, hit-*r.CachedInputTokens)
	}
}

// hitTokens is hit_r of metrics.md 5.2.
func hitTokens(r *trace.Request, earlier []trace.Request, shares func(*trace.Request) bool) int64 {
	model := func(r *trace.Request) string { return cmp.Or(r.ModelServed, r.ModelRequested) }
	seen := func(id int64) bool {
		return slices.ContainsFunc(earlier, func(o trace.Request) bool {
			return model(&o) == model(r) && shares(&o) && slices.Contains(o.PrefixHashIDs, id)
		})
	}
	blocks := slices.IndexFunc(r.PrefixHashIDs, func(id int64) bool { return !seen(id) })
	if blocks < 0 {
		blocks = len(r.PrefixHashIDs)
	}
	in := *r.InputTokens
	if r.PrefixBlockTokens == nil {
		return min(int64(math.Round(float64(in)/float64(len(r.PrefixHashIDs))*float64(blocks))), in-1)
	}
	return 16 * min(int64(blocks), (in-1)/16)
}

func (s *tally) columns() map[string]any {
	return map[string]any{"n_total": s.all, "n": s.known,
		"input_tokens": known(s.known, s.input), "ideal_fleet_tokens": known(s.known, s.fleet), "ideal_fleet": ratio(s.fleet, s.input),
		"ideal_replica_tokens": known(s.placed, s.replica), "ideal_replica": ratio(s.replica, s.placedIn),
		"n_reported": s.reported, "realised_tokens": known(s.reported, s.cached), "realised": ratio(s.cached, s.reportedIn),
		"efficiency": ratio(s.bothCached, s.bothIdeal), "missed_tokens": known(s.both, s.missed)}
}

// known is v, unknown when it was summed over nothing.
func known(n, v int64) any {
	if n == 0 {
		return nil
	}
	return v
}

func ratio(a, b int64) any {
	if b == 0 {
		return nil
	}
	return float64(a) / float64(b)
}
