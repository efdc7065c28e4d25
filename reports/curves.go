package reports

import (
	"reprise/analyze"
)

// distributions shows both runs' cumulative distributions side by side, one chart a metric.
func distributions(c *analyze.Comparison) Section {
	var rows [][]any
	var charts []Chart
	for _, v := range c.Curves {
		for i, p := range v.P {
			rows = append(rows, []any{v.Metric, p, v.Base[i], v.Cand[i]})
		}
		charts = append(charts, curveChart(v, valuesOf(c, v.Metric)))
	}
	r := table("distributions", "Distributions", "Share of values at or below a time, over the same requests: where a line lies further left, that run was faster.",
		columnsOf(2, "metric text", "share share", "base ms", "candidate ms"), rows)
	s := section("distributions", r, withheld(c))
	s.PageOnly = true
	if s.Missing == "" {
		s.Charts = charts
	}
	return s
}

// valuesOf is the number of values behind the figures of a metric.
func valuesOf(c *analyze.Comparison, metric string) int64 {
	for _, d := range c.Metrics {
		if d.Metric == metric {
			return int64(d.N)
		}
	}
	return 0
}

func curveChart(v analyze.Curve, n int64) Chart {
	c := Chart{Kind: "line", Title: v.Metric + ": share of values at or below a time", X: Axis{Name: v.Metric, Unit: "ms"}, Y: Axis{Name: "share", Unit: "%"},
		Series: []Series{{Name: "base"}, {Name: "candidate"}}}
	if n > 0 {
		c.Title += "; n = " + count(n) + " in each run"
	}
	for i, p := range v.P {
		c.Series[0].Points = append(c.Series[0].Points, Point{X: v.Base[i], Y: 100 * p})
		c.Series[1].Points = append(c.Series[1].Points, Point{X: v.Cand[i], Y: 100 * p})
	}
	c.X.Log = wide(c.Series)
	return c
}
