package analyze

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// Picture is everything `reprise analyze` shows of a run.
type Picture struct {
	Results   map[string]*Result // by query name
	Missing   map[string]string  // query name: why the log cannot answer it
	Incidents []Incident
	Replays   []Replayed // that made the run; none for a log
}

// pictured are the queries of the whole picture, with the log level that each needs (metrics.md 0.4).
var pictured = []string{"overview", "coverage", "latency", "latency_over_time", "token_gaps", "goodput", "goodput_over_time", "errors",
	"phases", "decode_stalls", "stall_culprits", "stall_blame", "concurrency", "load", "system_prompt", "prefix_cache", "prefix_curve", targetMetrics}

// targetMetrics is the one query that reads what the target said of itself; only a replay can have asked it.
const (
	targetMetrics   = "target_metrics"
	noTargetMetrics = "the run holds no metrics of its target: reprise replay --metrics-url URL"
)

// Picture runs the queries of the whole picture. The scope must hold an SLO. A query for which the log lacks a level of
// detail is in Missing with the reason; it never guesses.
func (e *Engine) Picture(ctx context.Context, r *Run, sc Scope) (*Picture, error) {
	p := &Picture{Results: map[string]*Result{}, Missing: map[string]string{}}
	has, err := e.levels(ctx, r, sc)
	if err != nil {
		return nil, err
	}
	bin, err := e.bin(ctx, r, sc)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(pictured, sc.Hardware.pictured()) {
		if name == targetMetrics && len(r.metrics) == 0 {
			if has.replayed > 0 {
				p.Missing[name] = noTargetMetrics
			}
			continue
		}
		if why := has.lacks(name); why != "" {
			p.Missing[name] = why
			continue
		}
		if p.Results[name], err = e.Query(ctx, r, name, sc, timeBin(name, bin)); err != nil {
			return nil, err
		}
	}
	if has.turns > 0 {
		if p.Results["ttft_by_turn"], err = e.Query(ctx, r, "ttft_by_turn", sc, nil); err != nil {
			return nil, err
		}
	}
	if has.probes > 0 {
		if p.Results["probe_effect"], err = e.Query(ctx, r, "probe_effect", sc, nil); err != nil {
			return nil, err
		}
	}
	changes, err := e.Query(ctx, r, "change_points", sc, nil)
	if err != nil {
		return nil, err
	}
	if len(changes.Rows) > 0 {
		p.Results["change_points"] = changes
	}
	if err := e.details(ctx, r, sc, bin, p); err != nil {
		return nil, err
	}
	if p.Replays, err = e.Replays(ctx, r); err != nil {
		return nil, err
	}
	p.Incidents, err = e.Incidents(ctx, r, sc)
	return p, err
}

// details are second looks at queries of the picture: stalls over time, and prompts by whose they are.
func (e *Engine) details(ctx context.Context, r *Run, sc Scope, bin int64, p *Picture) (err error) {
	if p.Results["decode_stalls"] != nil && bin > 0 {
		if err := e.detail(ctx, r, sc, p, detail{"decode_stalls", "over time", map[string]string{"bin_us": strconv.FormatInt(bin, 10)}}); err != nil {
			return err
		}
	}
	if err := e.controls(ctx, r, sc, p); err != nil {
		return err
	}
	if len(sc.By) > 0 {
		return nil
	}
	sc.By = []string{"app", "tenant"}
	for _, name := range []string{"system_prompt", "prefix_cache"} {
		if p.Results[name] != nil {
			if err := e.detail(ctx, r, sc, p, detail{name, "by app and tenant", nil}); err != nil {
				return err
			}
		}
	}
	return nil
}

// controls checks stalls that were told from chunk times, before anybody calls them caused by prefills.
func (e *Engine) controls(ctx context.Context, r *Run, sc Scope, p *Picture) error {
	stalls := p.Results["decode_stalls"]
	if stalls == nil || !slices.ContainsFunc(stalls.Rows, func(row []any) bool { return row[1] == "chunks" }) {
		return nil
	}
	c, err := e.StallControls(ctx, r, sc)
	if err != nil || c.Stalled == 0 {
		return err
	}
	t := c.table()
	t.Coverage = stalls.Coverage
	stalls.Warnings = append(stalls.Warnings, t.Warnings...)
	p.Results["stall_controls"] = t
	return nil
}

type detail struct {
	query, suffix string
	params        map[string]string
}

func (e *Engine) detail(ctx context.Context, r *Run, sc Scope, p *Picture, d detail) error {
	res, err := e.Query(ctx, r, d.query, sc, d.params)
	if err != nil {
		return err
	}
	if len(res.Rows) < 2 { // what the whole section says
		return nil
	}
	res.Title += " " + d.suffix
	p.Results[d.query+"_"+strings.ReplaceAll(d.suffix, " ", "_")] = res
	return nil
}

// timeBin gives the parameter of queries over time.
func timeBin(name string, bin int64) map[string]string {
	switch name {
	case "latency_over_time", "goodput_over_time":
		return map[string]string{"bin_us": strconv.FormatInt(bin, 10)}
	}
	return nil
}

// maxPictureBlocks is how many prefix blocks the picture may cost some seconds for.
const maxPictureBlocks = 1_000_000

// levels counts the rows that hold what a level of detail needs.
type levels struct{ requests, timed, first, chunks, prompts, prefixes, cached, staged, blocks, replayed, turns, probes int64 }

func (e *Engine) levels(ctx context.Context, r *Run, sc Scope) (l levels, err error) {
	res, err := e.look(ctx, r, sc, `SELECT count(*), count(arrival_us), count(ttft_us), count(CASE WHEN chunks >= 2 THEN 1 END), count(system_tokens), count(prefix_ids), count(cached_tokens),
		count(CASE WHEN prefill_us IS NOT NULL THEN queue_us END), coalesce(sum(len(prefix_ids)), 0), count(CASE WHEN vantage = 'replay' THEN 1 END), count(session_id) - count(DISTINCT session_id), count(CASE WHEN contains(quality, 'probe') THEN 1 END) FROM requests`)
	if err != nil {
		return l, err
	}
	for i, n := range []*int64{&l.requests, &l.timed, &l.first, &l.chunks, &l.prompts, &l.prefixes, &l.cached, &l.staged, &l.blocks, &l.replayed, &l.turns, &l.probes} {
		*n, _ = res.Rows[0][i].(int64)
	}
	return l, nil
}

// lacks says why a query has nothing to work on; "" when it has.
func (l levels) lacks(query string) string {
	switch {
	case l.requests == 0:
		return "no requests in this time range"
	case l.timed == 0 && (timeBin(query, 0) != nil || query == "concurrency" || query == "load"):
		return "this log has no arrival times"
	case query == "token_gaps" && l.chunks == 0:
		return "this log has no chunk times"
	case query == "phases" && l.staged == 0:
		return "this log has no engine stages; the query phases estimates them where some requests met an idle replica"
	case query == "system_prompt" && l.prompts == 0:
		return "this log has no prompt text and no system prompt tokens"
	case query == "prefix_curve" && l.prefixes == 0:
		return "this log has no prompts"
	case query == "prefix_curve" && l.blocks > maxPictureBlocks:
		return "this log has many prompts; the query prefix_curve takes its time for them"
	case query == "prefix_cache" && l.prefixes == 0 && l.cached == 0:
		return "this log has neither prompts nor cached tokens"
	}
	return ""
}
