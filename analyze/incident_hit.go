package analyze

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"reprise/analyze/stats"
)

// hit is one value of one dimension inside a window, as incident_bad has it.
type hit struct {
	dimension, name string
	judged, bad     int64
	share           float64  // of the excess of its dimension
	lift            *float64 // nil: no other value had a bad call
	p               float64  // that so many are bad by chance at the rate of the other values; adjusted for all values looked at
}

// hits runs incident_bad for the window and adds p_adjusted: one-sided binomial against the rate of the dimension's other
// values, Benjamini-Hochberg over all values (metrics.md 2.4). It is NULL where a dimension has one value only.
func (e *Engine) hits(ctx context.Context, r *Run, sc Scope, in *Incident) ([]hit, error) {
	res, err := e.Query(ctx, r, "incident_bad", sc, map[string]string{
		"window_from_us": strconv.FormatInt(in.From, 10), "window_to_us": strconv.FormatInt(in.To, 10)})
	if err != nil {
		return nil, fmt.Errorf("who was hit: %w", err)
	}
	judged, bad := map[string]int64{}, map[string]int64{}
	for _, row := range res.Rows {
		d := row[0].(string)
		judged[d], bad[d] = judged[d]+row[2].(int64), bad[d]+row[3].(int64)
	}
	var list []hit
	var ps []float64
	var places []int
	for i, row := range res.Rows {
		h := hit{dimension: row[0].(string), name: row[1].(string), judged: row[2].(int64), bad: row[3].(int64), p: math.NaN()}
		h.share, _ = row[10].(float64)
		if v, ok := row[11].(float64); ok {
			h.lift = &v
		}
		if others := judged[h.dimension] - h.judged; others > 0 {
			rate := float64(bad[h.dimension]-h.bad) / float64(others)
			ps, places = append(ps, stats.BinomialSF(int(h.bad), int(h.judged), rate)), append(places, i)
		}
		list = append(list, h)
	}
	for i, p := range stats.BH(ps) {
		list[places[i]].p = p
	}
	res.Columns = append(res.Columns, Column{Name: "p_adjusted", Unit: "p", Better: "none"})
	for i := range res.Rows {
		var p any
		if !math.IsNaN(list[i].p) {
			p = list[i].p
		}
		res.Rows[i] = append(res.Rows[i], p)
	}
	in.Hit = res
	return list, nil
}

// closest to the engine first: a value that is hit alone is named by where one would look.
var hitOrder = []string{"replica", "deployment", "model", "route", "system prompt", "tenant", "app", "prompt"}

// hitAlone is the value that holds nearly all of the excess without being most of the traffic, so that the rest was well; nil
// when the trouble was everywhere.
func hitAlone(hits []hit) *hit {
	all := map[string]int64{}
	for _, h := range hits {
		all[h.dimension] += h.judged
	}
	var best *hit
	for _, dimension := range hitOrder {
		for i, h := range hits {
			if h.dimension != dimension || !(h.p <= .01) || h.share < .8 || 10*h.judged > 7*all[dimension] || h.lift != nil && *h.lift < 3 {
				continue
			}
			if best == nil || more(h.lift, best.lift) {
				best = &hits[i]
			}
		}
	}
	return best
}

// more compares lifts; nil is without end.
func more(a, b *float64) bool { return b != nil && (a == nil || *a > *b*1.0000001) }

// blame names the value that was hit alone. It is the cause when nothing else was found.
func (in *Incident) blame(hits []hit) {
	h := hitAlone(hits)
	if h == nil {
		return
	}
	i := slices.IndexFunc(hits, func(o hit) bool { return o.dimension == "all" })
	text := fmt.Sprintf("%s %s was hit alone: %d of %d bad calls with %.0f %% of the calls", h.dimension, h.name, h.bad, hits[i].bad,
		100*float64(h.judged)/float64(hits[i].judged))
	if in.Cause == "unexplained" {
		in.Cause, in.Text = "one_"+h.dimension, text+"; "+in.Text
		return
	}
	in.Text += "; " + text
}
