package analyze

import (
	"context"
	"fmt"
	"slices"
)

// stallLevel counts what the requests of one model tell that stalls need (metrics.md 0.4, 4.1).
type stallLevel struct {
	model                      string
	requests, placed           int64 // with latency; of them, with a replica and a time
	streams, chunked, measured int64 // of the placed: streamed, with chunk times, with the engine's own prefill time
	cached                     int64 // of the placed: with a known count of cached tokens
}

const stallLevelSQL = `SELECT coalesce(model, ''), count(*), count(spot), count(CASE WHEN ttft_us IS NOT NULL THEN spot END),
       count(CASE WHEN prefill_us IS NOT NULL THEN spot END), count(CASE WHEN uncached_tokens IS NOT NULL THEN spot END)
FROM (SELECT *, CASE WHEN arrival_us IS NOT NULL THEN replica END AS spot FROM requests WHERE latency)
GROUP BY 1 ORDER BY 1`

// chunkedSQL counts those with chunk times: of the view that the fits read too, since to look at a list is to read it.
const chunkedSQL = `SELECT coalesce(model, ''), count(*) FROM stream_shapes
WHERE latency AND replica IS NOT NULL AND arrival_us IS NOT NULL AND ttft_us IS NOT NULL AND chunks IS NOT NULL
GROUP BY 1`

func (e *Engine) stallLevels(ctx context.Context, r *Run) ([]stallLevel, error) {
	res, err := e.look(ctx, r, Scope{}, stallLevelSQL)
	if err != nil {
		return nil, err
	}
	var out []stallLevel
	streams := false
	for _, row := range res.Rows {
		n := func(i int) int64 { v, _ := row[i].(int64); return v }
		model, _ := row[0].(string)
		out = append(out, stallLevel{model: model, requests: n(1), placed: n(2), streams: n(3), measured: n(4), cached: n(5)})
		streams = streams || n(3) > 0
	}
	if !streams {
		return out, nil
	}
	if res, err = e.look(ctx, r, Scope{}, chunkedSQL); err != nil {
		return nil, err
	}
	for _, row := range res.Rows {
		if i := slices.IndexFunc(out, func(l stallLevel) bool { return l.model == row[0] }); i >= 0 {
			out[i].chunked, _ = row[1].(int64)
		}
	}
	return out, nil
}

// stallWarnings say, in order of weight, what the stall figures of the run cannot tell and why.
func stallWarnings(levels []stallLevel, prompts isolatedPrompts, fits []PrefillFit) []Warning {
	byModel := map[string]PrefillFit{}
	for _, f := range fits {
		byModel[f.Model] = f
	}
	var sum stallLevel
	var out []Warning
	for _, l := range levels {
		sum.requests, sum.placed = sum.requests+l.requests, sum.placed+l.placed
		sum.streams, sum.chunked = sum.streams+l.streams, sum.chunked+l.chunked
		if l.placed > 0 {
			f, ok := byModel[l.model]
			out = append(out, modelWarnings(l, prompts, f, ok)...)
		}
	}
	if sum.placed > 0 && sum.streams == 0 {
		return []Warning{{"no_streams", fmt.Sprintf("none of the %d requests on a named replica tells when its first token came: stalls cannot be told", sum.placed)}}
	}
	return append(runWarnings(sum), out...)
}

func runWarnings(sum stallLevel) []Warning {
	var out []Warning
	switch {
	case sum.requests > 0 && sum.placed == 0:
		return []Warning{{"no_replica", "no request names the engine instance (replica) that served it: stalls cannot be attributed, since a " +
			"prefill would be blamed for streams of other engines"}}
	case sum.placed < sum.requests:
		out = append(out, Warning{"replica_missing", fmt.Sprintf("%d of %d requests name no replica and are left out of stalls",
			sum.requests-sum.placed, sum.requests)})
	}
	if ends := sum.streams - sum.chunked; ends > 0 {
		out = append(out, Warning{"ends_only", fmt.Sprintf("%d of %d streams have no chunk times: their stalls are estimated from start/first/end, "+
			"and quantiles of their gaps cannot be recovered", ends, sum.streams)})
	}
	return out
}

func modelWarnings(l stallLevel, prompts isolatedPrompts, f PrefillFit, fitted bool) []Warning {
	name := fmt.Sprintf("model %q", l.model)
	var floor []Warning
	if f.Floor {
		floor = []Warning{{"few_isolated", fmt.Sprintf("%s: %d requests reached their first token alone on a replica, %d are needed: the cost of a prefill is "+
			"that of the quickest tenth of all requests, so stalled seconds are rough", name, prompts.total[l.model], minIsolated)}}
	}
	return append(floor, costWarnings(l, prompts, f, fitted)...)
}

func costWarnings(l stallLevel, prompts isolatedPrompts, f PrefillFit, fitted bool) []Warning {
	name := fmt.Sprintf("model %q", l.model)
	switch {
	case !fitted && l.measured > 0:
		return nil
	case !fitted && l.cached == 0:
		return []Warning{{"cached_unknown", name + ": no request tells its input tokens and how many were cached, so the cost of a prefill " +
			"cannot be fitted and its stalls are not attributed"}}
	case !fitted:
		return []Warning{{"few_isolated", fmt.Sprintf("%s: %d requests reached their first token alone on a replica; the cost of a prefill needs %d, "+
			"with prompts that differ %d times in length, so its stalls are not attributed", name, prompts.total[l.model], minIsolated, minSpread)}}
	case f.PaceUS == nil && l.chunked < l.streams:
		return []Warning{{"few_loaded", fmt.Sprintf("%s: stalls without chunk times are not estimated, since that needs %d streams of 10 tokens or more "+
			"and %d of them beside a prefill", name, minPaced, minLoaded)}}
	case f.PaceUS != nil && !f.plausible():
		return []Warning{{"implausible_cost", fmt.Sprintf("%s: a prompt token costs a decode %.2g times what it costs on an idle replica (0.5 to 2 is "+
			"plausible): doubt the replica ids, or small chunks hide the prefills", name, f.LoadedUS/f.AloneUS)}}
	}
	return nil
}

// plausible bounds the cost under load against that alone (metrics.md 4.5).
func (f PrefillFit) plausible() bool {
	return f.LoadedUS >= .5*f.AloneUS && f.LoadedUS <= 2*f.AloneUS
}
