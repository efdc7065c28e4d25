package reports

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"reprise/analyze"
)

// Bounds of one chart, so that a page stays readable and small however many rows a result has (pitfalls RPT-04).
const (
	maxPoints = 4000
	maxSeries = 8
	maxBars   = 30
	maxCells  = 40 // names on an axis of a heat map
)

// lineChart draws y over x, one line for each group and y column. cdf is the same with a stepped line.
func lineChart(rows [][]any, s spec) Chart {
	c := Chart{Kind: "line", X: axis(s.columns[s.x]), Y: axis(s.columns[s.y[0]])}
	c.Y.Name = s.names(s.y)
	c.Title = c.Y.Name + " over " + c.X.Name
	if s.kind == "cdf" {
		c.Kind = "step"
	}
	lines := s.lines(rows)
	c.Series, c.Notes = mostTelling(lines, s.columns[s.y[0]])
	if s.kind == "line" && c.X.Unit == "time" { // loads and sizes may lie as they like
		breakGaps(c.Series)
	}
	if c.X.Unit == "time" {
		c.Title += span(c.Series) // ticks leave the date out
	}
	c.X.Log = s.kind == "cdf" && wide(c.Series)
	thinned := false
	for i := range c.Series {
		before := len(c.Series[i].Points)
		c.Series[i].Points = thin(c.Series[i].Points, maxPoints/len(c.Series))
		thinned = thinned || len(c.Series[i].Points) < before
	}
	if thinned {
		c.Notes = append(c.Notes, fmt.Sprintf("drawn with at most %s points; highest and lowest values are kept, the table is exact", count(maxPoints)))
	}
	return c
}

// line is a candidate to be drawn: a series with the rows behind it.
type line struct {
	Series
	n float64 // sum of n: how much traffic it stands for
}

// lines collects the points of every group and y column, each in order of x. Rows without x have no place.
func (s spec) lines(rows [][]any) []line {
	groups := s.groupColumns()
	n := indexOf(s.columns, "n")
	type key struct {
		group string
		y     int
	}
	at := map[key]int{}
	var out []line
	for _, row := range rows {
		x := value(s.columns[s.x], row[s.x])
		if math.IsNaN(x) {
			continue
		}
		g := groupName(row, groups)
		for _, y := range s.y {
			i, ok := at[key{g, y}]
			if !ok {
				i, at[key{g, y}] = len(out), len(out)
				out = append(out, line{Series: Series{Name: s.seriesName(g, y)}})
			}
			l := &out[i]
			l.Points = append(l.Points, Point{X: x, Y: value(s.columns[y], row[y])})
			if n >= 0 {
				l.n += max(0, value(s.columns[n], row[n]))
			}
		}
	}
	for i := range out {
		p := out[i].Points
		sort.SliceStable(p, func(a, b int) bool { return p[a].X < p[b].X })
	}
	return out
}

// groupColumns are the keys that are not on the x axis.
func (s spec) groupColumns() (out []int) {
	for c, col := range s.columns {
		if col.Key && c != s.x && col.Name != "metric" {
			out = append(out, c)
		}
	}
	return out
}

func groupName(row []any, cols []int) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		parts[i] = text(row[c])
	}
	return strings.Join(parts, " / ")
}

// seriesName leaves out what all series share.
func (s spec) seriesName(group string, y int) string {
	switch {
	case group == "" || group == "all":
		return label(s.columns[y])
	case len(s.y) == 1:
		return group
	}
	return group + " " + label(s.columns[y])
}

// mostTelling keeps at most maxSeries lines: those of most traffic, and the one with the most extreme value, which is
// what a reader of a tail looks for.
func mostTelling(in []line, y analyze.Column) ([]Series, []string) {
	order := make([]int, len(in))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return in[order[a]].n > in[order[b]].n })
	kept := order[:min(len(order), maxSeries)]
	var notes []string
	if len(in) > maxSeries {
		sign := 1.0
		if y.Better == "higher" {
			sign = -1
		}
		worst := slices.MaxFunc(order, func(a, b int) int { return compareWorst(in[a].Series, in[b].Series, sign) })
		if !slices.Contains(kept, worst) {
			kept[maxSeries-1] = worst
		}
		first := "the first of the table"
		if in[order[0]].n > 0 {
			first = "those with the highest n"
		}
		notes = []string{fmt.Sprintf("%d of %s lines are drawn: %s and the one with the most extreme %s; the table has all groups",
			maxSeries, count(int64(len(in))), first, label(y))}
	}
	slices.Sort(kept)
	out := make([]Series, len(kept))
	for i, k := range kept {
		out[i] = in[k].Series
	}
	return out, notes
}

// compareWorst orders two series by their greatest value times sign.
func compareWorst(a, b Series, sign float64) int {
	switch x, y := greatest(a, sign), greatest(b, sign); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func greatest(s Series, sign float64) float64 {
	best := math.Inf(-1)
	for _, p := range s.Points {
		if v := sign * p.Y; v > best { // NaN is never greater
			best = v
		}
	}
	return best
}

func span(ss []Series) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range ss {
		for _, p := range s.Points {
			lo, hi = min(lo, p.X), max(hi, p.X)
		}
	}
	if lo > hi {
		return ""
	}
	layout := clock([]int64{int64(lo), int64(hi)})
	return ", " + utc(int64(lo), layout) + " to " + utc(int64(hi), layout) + " UTC"
}

// wide says whether a logarithmic axis shows more: all x above 0 and over two decades.
func wide(ss []Series) bool {
	lo, hi := math.Inf(1), 0.0
	for _, s := range ss {
		for _, p := range s.Points {
			lo, hi = min(lo, p.X), max(hi, p.X)
		}
	}
	return lo > 0 && hi/lo > 100
}
