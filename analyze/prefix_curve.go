package analyze

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/analyze/stats"
	"reprise/queries"
)

// prefixPrompt is a prompt that may find its beginning in a cache.
type prefixPrompt struct {
	grp, model    string // model as the fits call it
	cache         string // which cache it goes to
	input, usable int64
	cached        *int64
	blocks        []int64 // those that fill up
	blockTokens   float64
	arrival, seen int64 // when it looks, and when its blocks are there; equal: at once
}

// hit is how many tokens the first n blocks give.
func (p *prefixPrompt) hit(n int) int64 {
	return min(int64(math.Round(p.blockTokens*float64(n))), p.usable)
}

// whole is how many tokens the prompt's full blocks hold.
func (p *prefixPrompt) whole() int64 {
	return min(int64(math.Round(p.blockTokens*float64(len(p.blocks)))), p.input)
}

// curvePoint is a row of the view prefix_curves.
type curvePoint struct {
	Group       string `json:"grp"`
	Model       string `json:"model"`
	Blocks      *int64 `json:"cache_blocks"`
	Total       int64  `json:"n_total"`
	N           int64  `json:"n"`
	Input       int64  `json:"input"`
	Hit         int64  `json:"hit"`
	Written     int64  `json:"written"`
	Reported    int64  `json:"reported"`
	ReportedHit int64  `json:"reported_hit"`
	Cached      int64  `json:"cached"`
	Missed      int64  `json:"missed"`
}

// withCurves gives a query that reads the view prefix_curves its rows, unless params have some.
func (e *Engine) withCurves(ctx context.Context, r *Run, q queries.Query, sc Scope, params map[string]string) (map[string]string, error) {
	if _, given := params["curves"]; given || !hasParam(q, "curves") {
		return params, nil
	}
	sizes, err := cacheSizes(params["sizes"])
	if err != nil {
		return nil, err
	}
	prompts, others, err := e.prefixPrompts(ctx, r, sc, params)
	if err != nil {
		return nil, fmt.Errorf("prefix cache by size: %w", err)
	}
	text, err := json.Marshal(curves(prompts, others, sizes))
	if err != nil {
		return nil, err
	}
	all := map[string]string{"curves": string(text)}
	maps.Copy(all, params)
	return all, nil
}

// cacheSizes reads numbers of blocks separated by commas; nil without.
func cacheSizes(text string) ([]int64, error) {
	if text == "" || text == "NULL" {
		return nil, nil
	}
	var sizes []int64
	for s := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("parameter sizes: expected numbers of blocks such as 1000,2000, got %q", text)
		}
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), nil
}

// Prompts without blocks, or without a cache to go to, are counted alone: most of a log may be such.
const (
	prefixPromptSQL = `SELECT grp, asked_model, model, %[1]s, input_tokens, usable_tokens, cached_tokens, prefix_ids, whole_blocks, prefix_block_tokens, arrival_us, %[2]s
FROM prompts WHERE blocks > 0 AND %[1]s IS NOT NULL ORDER BY place`
	otherPromptSQL = `SELECT grp, asked_model, count(*) FROM prompts WHERE blocks IS NULL OR %s IS NULL GROUP BY grp, asked_model`
)

// prefixGroup is what prompts are counted by.
type prefixGroup struct{ grp, model string }

// prefixPrompts reads the prompts of the scope that look into a cache, in order of arrival, and counts the others.
func (e *Engine) prefixPrompts(ctx context.Context, r *Run, sc Scope, params map[string]string) ([]prefixPrompt, map[prefixGroup]int64, error) {
	owner, ok := map[string]string{"": "'fleet'", "fleet": "'fleet'", "replica": "replica", "tenant": "tenant"}[params["shared"]]
	seen, known := map[string]string{"": "arrival_us", "arrival": "arrival_us", "first_token": "seen_us"}[params["visible"]]
	if !ok || !known {
		return nil, nil, nil // composing the statement says what is wrong
	}
	others := map[prefixGroup]int64{}
	if err := e.readView(ctx, reading{run: r, scope: sc}, fmt.Sprintf(otherPromptSQL, owner), func(scan scanner) error {
		var k prefixGroup
		var n int64
		err := scan(&k.grp, &k.model, &n)
		others[k] = n
		return err
	}); err != nil {
		return nil, nil, err
	}
	var out []prefixPrompt
	return out, others, e.readView(ctx, reading{run: r, scope: sc}, fmt.Sprintf(prefixPromptSQL, owner, seen), func(scan scanner) error {
		var p prefixPrompt
		var model, cache string
		var ids any
		var arrival, seen *int64
		var whole int64
		if err := scan(&p.grp, &p.model, &model, &cache, &p.input, &p.usable, &p.cached, &ids, &whole, &p.blockTokens, &arrival, &seen); err != nil {
			return err
		}
		p.arrival = math.MaxInt64 // without a time it comes last, as in the order of prompts
		if arrival != nil {
			p.arrival = *arrival
		}
		p.seen = p.arrival
		if seen != nil {
			p.seen = *seen
		}
		p.cache = model + "\x00" + cache
		var c converter
		for _, id := range ids.([]any)[:whole] {
			p.blocks = append(p.blocks, c.value("prefix_ids", id).(int64))
		}
		out = append(out, p)
		return nil
	})
}

// prefixEvent is a prompt that looks into its cache, or puts its blocks there.
type prefixEvent struct {
	at     int64
	stores bool // sorts before those who look at the same time
	place  int
}

// curves sends the prompts through one stack a cache: depths[i] says how large the cache must be for each block of prompt i.
func curves(prompts []prefixPrompt, others map[prefixGroup]int64, sizes []int64) []curvePoint {
	depths := make([][]int, len(prompts))
	caches := map[string]*stats.Stack{}
	store := func(p *prefixPrompt) {
		// the last block first, so that no block outlives the ones before it: the order in which an engine frees them
		for _, b := range slices.Backward(p.blocks) {
			caches[p.cache].Touch(b)
		}
	}
	for _, ev := range prefixEvents(prompts) {
		p := &prompts[ev.place]
		if ev.stores {
			store(p)
			continue
		}
		if caches[p.cache] == nil {
			caches[p.cache] = &stats.Stack{}
		}
		depths[ev.place] = leading(caches[p.cache], p.blocks)
		if p.seen <= p.arrival {
			store(p)
		}
	}
	if sizes == nil {
		sizes = doubling(caches)
	}
	return sum(prompts, depths, others, sizes)
}

// doubling are powers of two up to one that holds all blocks of any cache.
func doubling(caches map[string]*stats.Stack) []int64 {
	most, size := int64(0), int64(1)
	for _, c := range caches {
		most = max(most, int64(c.Len()))
	}
	var sizes []int64
	for ; size < 2*most; size *= 2 {
		sizes = append(sizes, size)
	}
	return sizes
}

// leading are the depths of the leading blocks that the cache has ever had, each at least that of the block before.
func leading(cache *stats.Stack, blocks []int64) []int {
	var out []int
	deepest := 0
	for _, b := range blocks {
		depth := cache.Depth(b)
		if depth == 0 {
			break
		}
		deepest = max(deepest, depth)
		out = append(out, deepest)
	}
	return out
}

func prefixEvents(prompts []prefixPrompt) []prefixEvent {
	var events []prefixEvent
	for i := range prompts {
		p := &prompts[i]
		events = append(events, prefixEvent{p.arrival, false, i})
		if p.seen > p.arrival {
			events = append(events, prefixEvent{p.seen, true, i})
		}
	}
	slices.SortFunc(events, func(a, b prefixEvent) int {
		if a.at != b.at || a.stores == b.stores {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.place, b.place))
		}
		if a.stores {
			return -1
		}
		return 1
	})
	return events
}

// sum adds the prompts up by group, model and size, an endless cache last.
func sum(prompts []prefixPrompt, depths [][]int, others map[prefixGroup]int64, sizes []int64) []curvePoint {
	points := map[prefixGroup][]curvePoint{}
	of := func(k prefixGroup) []curvePoint {
		if points[k] == nil {
			points[k] = make([]curvePoint, len(sizes)+1)
			for j := range sizes {
				points[k][j].Blocks = &sizes[j]
			}
		}
		return points[k]
	}
	for i := range prompts {
		p := &prompts[i]
		row := of(prefixGroup{p.grp, p.model})
		for j := range row {
			held := len(depths[i])
			if j < len(sizes) {
				held, _ = slices.BinarySearch(depths[i], int(min(sizes[j], math.MaxInt-1))+1)
			}
			row[j].add(p, p.hit(held))
		}
	}
	for k, n := range others {
		row := of(k)
		for j := range row {
			row[j].Total += n
		}
	}
	out := []curvePoint{}
	for k, row := range points {
		for _, c := range row {
			c.Group, c.Model = k.grp, k.model
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b curvePoint) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Hit, b.Hit))
	})
	return out
}

func (c *curvePoint) add(p *prefixPrompt, hit int64) {
	c.Total++
	c.N, c.Input, c.Hit, c.Written = c.N+1, c.Input+p.input, c.Hit+hit, c.Written+max(0, p.whole()-hit)
	if p.cached != nil {
		c.Reported, c.ReportedHit, c.Cached, c.Missed = c.Reported+1, c.ReportedHit+hit, c.Cached+*p.cached, c.Missed+max(0, hit-*p.cached)
	}
}
