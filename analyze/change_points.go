package analyze

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"reprise/analyze/stats"
	"reprise/queries"
)

// levelChange is a row of the view level_changes.
type levelChange struct {
	Metric      string  `json:"metric"`
	Group       string  `json:"grp"`
	At          int64   `json:"at_us"`
	Before      float64 `json:"before_ms"`
	After       float64 `json:"after_ms"`
	StepsBefore int     `json:"steps_before"`
	StepsAfter  int     `json:"steps_after"`
	P           float64 `json:"p"`
}

// Bounds of the search for changes: the shortest level, the share of permutations that may reach a split, and the
// longest series, since time grows with its square.
const (
	minLevelSteps = 3
	changeAlpha   = .01
	maxLevelSteps = 2000
)

// withChanges gives a query that reads the view level_changes its rows, unless params have some.
func (e *Engine) withChanges(ctx context.Context, r *Run, q queries.Query, sc Scope, params map[string]string) (map[string]string, error) {
	if _, given := params["changes"]; given || !hasParam(q, "changes") {
		return params, nil
	}
	all := map[string]string{}
	maps.Copy(all, params)
	least := int64(20)
	if text, given := params["min_n"]; given {
		var err error
		if least, err = strconv.ParseInt(text, 10, 64); err != nil || least < 1 {
			return nil, fmt.Errorf("parameter min_n: expected a whole number from 1 on, got %q", text)
		}
	}
	if all["bin_us"] == "" {
		bin, err := e.changeBin(ctx, r, sc, least)
		if err != nil || bin == 0 {
			return params, err
		}
		all["bin_us"] = strconv.FormatInt(bin, 10)
	}
	steps, err := e.Query(ctx, r, "latency_over_time", sc, map[string]string{"bin_us": all["bin_us"]})
	if err != nil {
		return nil, fmt.Errorf("level changes: %w", err)
	}
	changes, err := levelChanges(steps, least)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(changes)
	all["changes"] = string(text)
	return all, err
}

// changeBin is the step of charts, or a longer one in which a quarter more calls than the least come on average; 0 without calls.
func (e *Engine) changeBin(ctx context.Context, r *Run, sc Scope, least int64) (int64, error) {
	res, err := e.look(ctx, r, sc, "SELECT max(arrival_us) - min(arrival_us) AS span, count(arrival_us) AS n FROM requests WHERE latency")
	if err != nil {
		return 0, err
	}
	span, ok := res.Rows[0][0].(int64)
	if !ok {
		return 0, nil
	}
	return niceBin(span, max(1, min(incidentBins, res.Rows[0][1].(int64)*4/(5*least))), minIncidentBin), nil
}

// level is the median of one step.
type level struct {
	start int64
	ms    float64
}

// levelChanges finds the changes of each metric and group of latency_over_time, whose rows stand in order of time.
func levelChanges(steps *Result, least int64) ([]levelChange, error) {
	at, err := columnIndex(steps, "metric", "grp", "start_us", "n", "p50")
	if err != nil {
		return nil, err
	}
	type key struct{ metric, grp string }
	series, order := map[key][]level{}, []key{}
	for _, row := range steps.Rows {
		ms, ok := row[at["p50"]].(float64)
		if n := integer(row[at["n"]]); n == nil || *n < least || !ok || ms <= 0 {
			continue
		}
		k := key{row[at["metric"]].(string), row[at["grp"]].(string)}
		if series[k] == nil {
			order = append(order, k)
		}
		series[k] = append(series[k], level{row[at["start_us"]].(int64), ms})
	}
	out := []levelChange{}
	for _, k := range order {
		s := series[k]
		if len(s) > maxLevelSteps {
			return nil, fmt.Errorf("level changes: expected at most %d steps with calls, got %d: a larger bin_us gives fewer", maxLevelSteps, len(s))
		}
		for _, c := range divide(s) {
			c.Metric, c.Group = k.metric, k.grp
			out = append(out, c)
		}
	}
	return out, nil
}

func divide(s []level) []levelChange {
	logs := make([]float64, len(s))
	for i, l := range s {
		logs[i] = math.Log(l.ms)
	}
	points := stats.Divide(logs, minLevelSteps, changeAlpha)
	var out []levelChange
	for i, p := range points {
		from, to := 0, len(s)
		if i > 0 {
			from = points[i-1].At
		}
		if i+1 < len(points) {
			to = points[i+1].At
		}
		out = append(out, levelChange{At: s[p.At].start, Before: medianLevel(s[from:p.At]), After: medianLevel(s[p.At:to]),
			StepsBefore: p.At - from, StepsAfter: to - p.At, P: p.P})
	}
	return out
}

func medianLevel(s []level) float64 {
	ms := make([]float64, len(s))
	for i, l := range s {
		ms[i] = l.ms
	}
	slices.Sort(ms)
	return stats.Quantile(ms, .5)
}
