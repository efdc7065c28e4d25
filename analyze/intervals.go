package analyze

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"reprise/analyze/stats"
	"reprise/queries"
)

// intervalPercentiles are the percentiles of latency_ci, by the names of its columns.
var intervalPercentiles = []struct {
	name string
	p    float64
}{{"p50", .5}, {"p90", .9}, {"p95", .95}, {"p99", .99}, {"p99_9", .999}}

// withRanks adds what the view quantile_ranks holds: for each number of samples that the query latency counts with these
// parameters, the order statistics of each percentile's 95 % interval.
func (e *Engine) withRanks(ctx context.Context, r *Run, sc Scope, params map[string]string) (map[string]string, error) {
	own := maps.Clone(params)
	delete(own, "method")
	res, err := e.Query(ctx, r, "latency", sc, own)
	if err != nil {
		return nil, err
	}
	type rank struct {
		N          int64  `json:"n"`
		Percentile string `json:"percentile"`
		Lower      int    `json:"lower_rank"`
		Upper      int    `json:"upper_rank"`
	}
	ranks, seen := []rank{}, map[int64]bool{}
	for _, row := range res.Rows {
		n, _ := row[res.at("n")].(int64)
		if n == 0 || seen[n] {
			continue
		}
		seen[n] = true
		for _, q := range intervalPercentiles {
			lower, upper, _ := stats.QuantileRanks(int(n), q.p, .95)
			ranks = append(ranks, rank{n, q.name, lower, upper})
		}
	}
	text, err := json.Marshal(ranks)
	if err != nil {
		return nil, err
	}
	all := map[string]string{"ranks": string(text)}
	maps.Copy(all, params)
	return all, nil
}

// Moving blocks (metrics.md 2.2): time is cut into cells, a block is blockCells neighbours.
const (
	blockUS    = 60_000_000 // shortest block
	blockCells = 10
	minBlocks  = 5 // of the time that the samples span; fewer cannot tell how blocks differ
)

// timedSample is a row of the view latency_samples whose time and value are known.
type timedSample struct {
	atUS    int64
	valueUS float64
}

// blockIntervals replaces the intervals of latency_ci by those of the moving block bootstrap, 2,000 resamples of a fixed seed.
func (e *Engine) blockIntervals(ctx context.Context, r *Run, sc Scope, res *Result) error {
	samples, err := e.timedSamples(ctx, r, sc, res.Params)
	if err != nil {
		return err
	}
	start, end, e2e := int64(math.MaxInt64), int64(math.MinInt64), []float64(nil)
	for key, group := range samples {
		for _, s := range group {
			start, end = min(start, s.atUS), max(end, s.atUS)
			if key[0] == "e2e" {
				e2e = append(e2e, s.valueUS)
			}
		}
	}
	block := float64(blockUS)
	if slices.Sort(e2e); len(e2e) > 0 {
		block = max(block, min(10*stats.Quantile(e2e, .5), math.MaxInt32*1e3))
	}
	if len(samples) > 0 && float64(end-start) < minBlocks*block {
		res.Warnings = append(res.Warnings, Warning{"few_blocks", fmt.Sprintf("the samples span %.0f s, less than %d blocks of %.0f s: no interval by blocks",
			float64(end-start)/1e6, minBlocks, block/1e6)})
		samples = nil
	}
	cell := int64(block / blockCells)
	untimed := int64(0)
	for _, row := range res.Rows {
		group := samples[[2]string{row[res.at("metric")].(string), row[res.at("grp")].(string)}]
		n, _ := row[res.at("n")].(int64)
		untimed += n - int64(len(group))
		res.setIntervals(row, blockEstimates(group, start, end, cell))
	}
	if untimed > 0 && samples != nil {
		res.Warnings = append(res.Warnings, Warning{"no_arrival", fmt.Sprintf("%d samples have no time and are in no block", untimed)})
	}
	return nil
}

// setIntervals fills the cells lo and hi of a row; without estimates, or with an infinite end, they are unknown. An end that
// ranks do not have stays unknown: resamples cannot go beyond the largest value.
func (res *Result) setIntervals(row []any, found []stats.Estimate) {
	for i, q := range intervalPercentiles {
		e := stats.Estimate{Lo: never, Hi: never}
		if found != nil {
			e = found[i]
		}
		for _, end := range []struct {
			column string
			us     float64
		}{{q.name + "_lo", e.Lo}, {q.name + "_hi", e.Hi}} {
			at := res.at(end.column)
			if end.us >= never {
				row[at] = nil
			} else if row[at] != nil {
				row[at] = end.us / 1e3
			}
		}
	}
}

// forever stands for an infinite wait, with which the bootstrap could not calculate; a percentile between a value and forever is beyond never.
const (
	forever = 1e300
	never   = 1e30
)

func blockEstimates(group []timedSample, start, end, cell int64) []stats.Estimate {
	if len(group) == 0 {
		return nil
	}
	values := make([]stats.Value, len(group))
	for i, s := range group {
		values[i] = stats.Value{V: min(s.valueUS, forever), Cluster: int32((s.atUS - start) / cell)}
	}
	var ps []float64
	for _, q := range intervalPercentiles {
		ps = append(ps, q.p)
	}
	return stats.Bootstrap{Clusters: int((end-start)/cell) + 1, Block: blockCells, Seed: 1}.Intervals(values, ps...)
}

// maxTimedSamples bounds what a bootstrap holds in memory: half a gigabyte.
const maxTimedSamples = 20_000_000

// timedSamples reads the samples of latency_ci by metric and group.
func (e *Engine) timedSamples(ctx context.Context, r *Run, sc Scope, params map[string]string) (map[[2]string][]timedSample, error) {
	src, err := e.mount(ctx, r)
	if err != nil {
		return nil, err
	}
	text, err := queries.ComposeText(`SELECT metric, grp, at_us, value_us FROM latency_samples WHERE at_us IS NOT NULL AND value_us IS NOT NULL`,
		src, queries.Scope{From: sc.From, To: sc.To, By: sc.By}, map[string]string{"failures": params["failures"], "view": params["view"]})
	if err != nil {
		return nil, err
	}
	rows, err := e.query(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out, n := map[[2]string][]timedSample{}, 0
	for rows.Next() {
		var key [2]string
		var s timedSample
		if err := rows.Scan(&key[0], &key[1], &s.atUS, &s.valueUS); err != nil {
			return nil, err
		}
		if n++; n > maxTimedSamples {
			return nil, fmt.Errorf("more than %d samples: cut the time range, or take method ranks", maxTimedSamples)
		}
		out[key] = append(out[key], s)
	}
	return out, rows.Err()
}

// at is the place of a column; a column of a catalogue query is always there.
func (res *Result) at(column string) int {
	return slices.IndexFunc(res.Columns, func(c Column) bool { return c.Name == column })
}
