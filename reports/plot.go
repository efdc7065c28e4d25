package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/analyze"
)

// Chart is a drawing as data; chart.go turns it into what the page's library wants.
type Chart struct {
	Kind   string // line, step (a line that holds its value), bar, heat or dots (a value with its interval)
	Title  string
	Facet  string // the metric, where a result has several and each has its chart
	X, Y   Axis
	Series []Series
	Marks  []Mark
	Spans  []Span
	Notes  []string // what is not drawn
}

// Axis is an axis with its unit. Names are the places of an axis of names; then a point's coordinate is an index.
type Axis struct {
	Name  string
	Unit  string // "time": microseconds since 1970, UTC
	Log   bool
	Names []string
}

// Series is a line, a set of bars or the cells of a heat map.
type Series struct {
	Name   string
	Tone   string // dots: good, bad, unsure or equal
	Points []Point
}

// Point is one value. Y NaN is a break: nothing is drawn there, and no line crosses it.
type Point struct {
	X, Y   float64
	Z      float64 // heat: the value
	Lo, Hi float64 // dots: the interval
}

// Mark is a labelled line across the chart at Y, or at X when Upright.
type Mark struct {
	Name    string
	At      float64
	Upright bool
}

// Span is a shaded stretch of the x axis.
type Span struct {
	Name     string
	From, To float64
}

// spec is the chart header of a query: "line x=start_us y=p50_ms,p99_ms".
type spec struct {
	kind    string
	x, v    int
	y       []int
	left    []int // y columns that several groups leave no room for
	columns []analyze.Column
}

// chartsOf draws a result the way its query header asks, one chart for each unit on the y axis and each value of a key
// named metric: what has another scale gets another chart. The second value says why there is none.
func chartsOf(r *analyze.Result) (out []Chart, why string) {
	if strings.TrimSpace(r.Chart) == "" {
		return nil, ""
	}
	s, err := parseSpec(r)
	if err != nil {
		return nil, err.Error()
	}
	for _, facet := range facets(r, s) {
		if s.kind == "heat" {
			out = append(out, heatChart(facet.rows, s))
			continue
		}
		for _, ys := range byUnit(s) {
			one := s
			one.y = ys
			out = append(out, titled(drawn(facet.rows, one.readable(facet.rows)), facet.name))
		}
	}
	return nonEmpty(out)
}

// readable keeps, where there are several groups, the last y column alone, which by habit is the tail: three lines a group
// can not be told apart.
func (s spec) readable(rows [][]any) spec {
	groups := s.groupColumns()
	for _, row := range rows {
		if groupName(row, groups) != groupName(rows[0], groups) {
			s.left, s.y = s.y[:len(s.y)-1], s.y[len(s.y)-1:]
			break
		}
	}
	return s
}

func drawn(rows [][]any, s spec) Chart {
	c := lineChart
	if s.kind == "bar" {
		c = barChart
	}
	out := c(rows, s)
	if len(s.left) > 0 {
		out.Notes = append(out.Notes, "only the table has "+s.names(s.left)+": there are several groups")
	}
	return out
}

func titled(c Chart, facet string) Chart {
	if facet != "" {
		c.Facet, c.Title = facet, facet+": "+c.Title
	}
	return c
}

// facet is the part of a result that one chart draws.
type facet struct {
	name string
	rows [][]any
}

// facets splits a result by its key named metric, in order of appearance; without one there is one facet.
func facets(r *analyze.Result, s spec) []facet {
	m := indexOf(r.Columns, "metric")
	if m < 0 || !r.Columns[m].Key || m == s.x {
		return []facet{{rows: r.Rows}}
	}
	var out []facet
	for _, row := range r.Rows {
		name := text(row[m])
		i := slices.IndexFunc(out, func(f facet) bool { return f.name == name })
		if i < 0 {
			i, out = len(out), append(out, facet{name: name})
		}
		out[i].rows = append(out[i].rows, row)
	}
	return out
}

// nonEmpty keeps the charts that have something to draw.
func nonEmpty(in []Chart) (out []Chart, why string) {
	for _, c := range in {
		if slices.ContainsFunc(c.Series, Series.drawable) {
			out = append(out, c)
		}
	}
	if len(out) == 0 && !slices.ContainsFunc(in, func(c Chart) bool { return len(c.Series) > 0 }) {
		return nil, "" // no row has a place on the x axis, as over time without steps
	}
	if len(out) == 0 {
		return nil, "No chart: not enough data, every value is unknown (n/a)."
	}
	if out = slices.DeleteFunc(out, onePoint); len(out) == 0 {
		return nil, "No chart: not enough data, there is one point in time."
	}
	return out, ""
}

// onePoint says that a line over time has no length.
func onePoint(c Chart) bool {
	from, to := rangeOf(c.Series)
	return c.Kind == "line" && c.X.Unit == "time" && from == to
}

func (s Series) drawable() bool {
	return slices.ContainsFunc(s.Points, func(p Point) bool { return !math.IsNaN(p.Y) })
}

func parseSpec(r *analyze.Result) (spec, error) {
	words := strings.Fields(r.Chart)
	s := spec{kind: words[0], x: -1, v: -1, columns: r.Columns}
	if !slices.Contains([]string{"line", "bar", "cdf", "heat"}, s.kind) {
		return s, fmt.Errorf("chart header %q: no way to draw a chart of kind %q", r.Chart, s.kind)
	}
	for _, w := range words[1:] {
		name, list, _ := strings.Cut(w, "=")
		for _, col := range strings.Split(list, ",") {
			c := indexOf(r.Columns, col)
			if c < 0 {
				return s, fmt.Errorf("chart header %q: no column %q in the result", r.Chart, col)
			}
			switch name {
			case "x":
				s.x = c
			case "y":
				s.y = append(s.y, c)
			case "v":
				s.v = c
			default:
				return s, fmt.Errorf("chart header %q: unknown word %q, expected x, y or v", r.Chart, name)
			}
		}
	}
	if s.x < 0 || len(s.y) == 0 || (s.kind == "heat" && s.v < 0) {
		return s, fmt.Errorf("chart header %q: expected x= and y=, for heat also v=", r.Chart)
	}
	return s, nil
}

// byUnit groups the y columns by unit, in the order of the header.
func byUnit(s spec) (out [][]int) {
	at := map[string]int{}
	for _, c := range s.y {
		u := s.columns[c].Unit
		i, ok := at[u]
		if !ok {
			i, at[u] = len(out), len(out)
			out = append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

// axis names a column as an axis. Shares are drawn as per cent.
func axis(col analyze.Column) Axis {
	a := Axis{Name: label(col), Unit: plain(col.Unit)}
	if col.Unit == "share" {
		a.Unit = "%"
	}
	return a
}

// value is the number to draw for a cell of col; NaN when it is unknown.
func value(col analyze.Column, v any) float64 {
	f := math.NaN()
	switch v := v.(type) {
	case int64:
		f = float64(v)
	case float64:
		f = v
	}
	if col.Unit == "share" {
		f *= 100
	}
	if math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// names joins the labels of columns: the title of an axis that carries them all.
func (s spec) names(cols []int) string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = label(s.columns[c])
	}
	return strings.Join(out, ", ")
}
