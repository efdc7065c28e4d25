package analyze

import (
	"fmt"
	"strings"
)

// table shows the controls as a result: what each measured, what it may be, and whether it holds.
func (c StallControls) table() *Result {
	r := &Result{Query: "stall_controls", Title: "Do the stalls follow the prefills?", Level: "L3", Params: map[string]string{}, Rows: [][]any{},
		About: fmt.Sprintf("Four controls (metrics.md 4.6) on %d stalled gaps, of which %.1f s lie in other requests' prefills. placebo: the same gaps put elsewhere within their hour, "+
			"200 times: how often they lie in prefills as much, and how much more the true places do than the mean of these. other replica: the prefills of another replica. "+
			"later: the prefills one second later. dose: what a token prefilled meanwhile adds to a gap, over its cost on an idle replica. "+
			"Only if all hold are the stalls caused by prefills.", c.Stalled, c.LostS),
		Columns: []Column{{Name: "control", Unit: "text", Key: true}, {Name: "measured", Unit: "ratio"}, {Name: "expected", Unit: "text"}, {Name: "holds", Unit: "text"}}}
	ratio := func(a, b *float64) *float64 {
		if a == nil || b == nil || *b <= 0 {
			return nil
		}
		q := *a / *b
		return &q
	}
	add := func(name string, v *float64, expected string, holds func(float64) bool) {
		row := []any{name, nil, expected, "unknown"}
		if v != nil {
			row[1], row[3] = *v, map[bool]string{true: "yes", false: "no"}[holds(*v)]
		}
		r.Rows = append(r.Rows, row)
	}
	add("placebo: share of moves", c.P, "at most 0.01", func(v float64) bool { return v <= .01 })
	add("placebo: times the mean", c.Enrichment, "at least 1.5", func(v float64) bool { return v >= 1.5 })
	add("other replica, of placebo", ratio(c.OthersS, c.PlaceboS), "at most 1.2", func(v float64) bool { return v <= 1.2 })
	add("later, of now", ratio(&c.LaterS, &c.LostS), "at most 0.8", func(v float64) bool { return v <= .8 })
	add("dose", c.Dose, "0.5 to 2", func(v float64) bool { return v >= .5 && v <= 2 })
	if !c.Holds {
		r.Warnings = append(r.Warnings, Warning{"stall_controls", "not shown to be caused by prefills: " + strings.Join(c.Failed, ", ") +
			" cannot be had or does not hold; the time lies in prefills, which may be chance"})
	}
	return r
}
