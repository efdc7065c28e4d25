package analyze

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

// TestPrefixCurveOracle sets the curve against caches of each size that are filled and emptied one request at a time, on
// random prefix trees: whose cache it is, and when blocks are there, differ.
func TestPrefixCurveOracle(t *testing.T) {
	e := newEngine(t)
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 55))
		rows := randomPrompts(rng, 150)
		for i := range rows {
			if rng.IntN(2) == 0 {
				rows[i].EndUS = trace.Ptr(rng.Int64N(12))
			}
		}
		run := writeRun(t, rows)
		for _, shared := range []string{"fleet", "replica", "tenant"} {
			visible := pick(rng, "arrival", "first_token")
			res, err := e.Query(t.Context(), run, "prefix_curve", Scope{By: []string{"tenant"}},
				map[string]string{"shared": shared, "visible": visible, "sizes": "1,2,3,5,8,13,200"})
			if err != nil {
				t.Fatal(err)
			}
			got, want := map[string]int64{}, map[string]int64{}
			for _, row := range cells(t, res, []string{"grp", "cache_blocks", "hit_tokens"}) {
				if row[2] != nil {
					got[fmt.Sprint(row[0], row[1])] = row[2].(int64)
				}
			}
			for _, size := range []any{int64(1), int64(2), int64(3), int64(5), int64(8), int64(13), int64(200), nil} {
				simulated(rows, size, shared, visible, want)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, %s, from %s on: the curve differs from caches that are run (-run +curve):\n%s", seed, shared, visible, diff)
			}
		}
	}
}

// lru is a cache of a number of blocks, the newest first.
type lru []int64

func (c *lru) store(blocks []int64, size int) {
	for _, b := range slices.Backward(blocks) {
		*c = slices.Insert(slices.DeleteFunc(*c, func(k int64) bool { return k == b }), 0, b)
		*c = (*c)[:min(len(*c), size)]
	}
}

// simulated adds the hits of each tenant with caches of one size; nil is endless.
func simulated(rows []trace.Request, size any, shared, visible string, hits map[string]int64) {
	limit := math.MaxInt
	if n, ok := size.(int64); ok {
		limit = int(n)
	}
	prompts := slices.DeleteFunc(slices.Clone(rows), func(r trace.Request) bool { return !reached(&r) || r.PrefixHashIDs == nil })
	slices.SortFunc(prompts, func(a, b trace.Request) int {
		return cmp.Or(cmp.Compare(*a.Arrival, *b.Arrival), cmp.Compare(a.RequestID, b.RequestID))
	})
	caches, stored := map[string]*lru{}, make([]bool, len(prompts))
	for now := int64(0); now < 100; now++ {
		for i := range prompts {
			if r := &prompts[i]; *r.Arrival < now && !stored[i] && whenSeen(r, visible) <= now && owner(r, shared) != "" {
				caches[owner(r, shared)].store(wholeBlocks(r), limit)
				stored[i] = true
			}
		}
		for i := range prompts {
			r := &prompts[i]
			name := owner(r, shared)
			if *r.Arrival != now || name == "" {
				continue
			}
			if caches[name] == nil {
				caches[name] = &lru{}
			}
			held := slices.IndexFunc(wholeBlocks(r), func(b int64) bool { return !slices.Contains(*caches[name], b) })
			if held < 0 {
				held = len(wholeBlocks(r))
			}
			tenant := cmp.Or(r.Tenant, "(unknown)")
			hits[fmt.Sprint(tenant, size)] += tokensOf(r, held)
			if whenSeen(r, visible) <= now {
				caches[name].store(wholeBlocks(r), limit)
				stored[i] = true
			}
		}
	}
}

func owner(r *trace.Request, shared string) string {
	who := map[string]string{"fleet": "all", "replica": r.Replica, "tenant": r.Tenant}[shared]
	if who == "" {
		return ""
	}
	return cmp.Or(r.ModelServed, r.ModelRequested) + "/" + who
}

func whenSeen(r *trace.Request, visible string) int64 {
	switch {
	case visible == "arrival":
		return *r.Arrival
	case r.FirstUS != nil:
		return *r.Arrival + *r.FirstUS
	case r.EndUS != nil:
		return *r.Arrival + *r.EndUS
	}
	return *r.Arrival
}

func wholeBlocks(r *trace.Request) []int64 {
	if r.PrefixBlockTokens == nil {
		return r.PrefixHashIDs
	}
	return r.PrefixHashIDs[:min(int64(len(r.PrefixHashIDs)), *r.InputTokens/16)]
}

func tokensOf(r *trace.Request, blocks int) int64 {
	if r.PrefixBlockTokens == nil {
		return min(int64(math.Round(float64(*r.InputTokens)/float64(len(r.PrefixHashIDs))*float64(blocks))), *r.InputTokens-1)
	}
	return 16 * min(int64(blocks), (*r.InputTokens-1)/16)
}

// TestPrefixCurveBounds: a larger cache never holds less, an endless one what prefix_cache calls ideal, and none more than all but the last token
// (metrics.md 9).
func TestPrefixCurveBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	rows := randomPrompts(rng, 400)
	most := int64(0)
	for i := range rows {
		rows[i].PrefixBlockTokens, rows[i].Tenant = nil, ""
		if r := &rows[i]; reached(r) && r.PrefixHashIDs != nil {
			most += *r.InputTokens - 1
		}
	}
	e := newEngine(t)
	run := writeRun(t, rows)
	res, err := e.Query(t.Context(), run, "prefix_curve", Scope{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := int64(0)
	hits := cells(t, res, []string{"cache_blocks", "hit_tokens"})
	for _, row := range hits {
		if row[1].(int64) < before || row[1].(int64) > most {
			t.Errorf("%v blocks hold %v tokens, less %v, at most %v", row[0], row[1], before, most)
		}
		before = row[1].(int64)
	}
	if ideal := numbers(t, e, run, "prefix_cache", nil)["(unknown)"]["ideal_fleet_tokens"]; len(hits) < 5 || before != ideal {
		t.Errorf("%d sizes; an endless cache holds %d, prefix_cache says %v", len(hits), before, ideal)
	}
}

func TestPrefixCurveParams(t *testing.T) {
	e := newEngine(t)
	run := writeRun(t, fullRequests(2))
	for param, want := range map[string]string{
		"sizes=0":       `query prefix_curve: parameter sizes: expected numbers of blocks such as 1000,2000, got "0"`,
		"shared=pod":    `query prefix_curve: parameter shared: expected fleet or replica or tenant, got "pod"`,
		"visible=never": `query prefix_curve: parameter visible: expected arrival or first_token, got "never"`,
	} {
		_, params := readParams(t, param)
		if _, err := e.Query(t.Context(), run, "prefix_curve", Scope{}, params); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", param, err, want)
		}
	}
}
