package reports

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"reprise/analyze"
)

// barChart draws one bar for each row at the place of its x, side by side where other keys or several columns ask for it.
func barChart(all [][]any, s spec) Chart {
	c := Chart{Kind: "bar", X: axis(s.columns[s.x]), Y: axis(s.columns[s.y[0]])}
	c.Y.Name = s.names(s.y)
	c.Title = c.Y.Name + " by " + c.X.Name
	rows, note := highestRows(all, s)
	c.Notes = append(c.Notes, note...)
	places := newPlaces(s.columns[s.x], rows, s.x)
	c.X.Names = places.names
	groups := s.groupColumns()
	at := map[string]int{}
	for _, row := range rows {
		for _, y := range s.y {
			name := s.seriesName(groupName(row, groups), y)
			if _, ok := at[name]; !ok {
				at[name] = len(c.Series)
				c.Series = append(c.Series, Series{Name: name})
			}
			bars := &c.Series[at[name]]
			bars.Points = append(bars.Points, Point{X: places.of(row), Y: value(s.columns[y], row[y])})
		}
	}
	if len(c.Series) > maxSeries {
		c.Notes = append(c.Notes, fmt.Sprintf("%d of %d groups are drawn; the table has all", maxSeries, len(c.Series)))
		c.Series = c.Series[:maxSeries]
	}
	return spread(c)
}

// spread turns bars whose lengths differ by more than two decades into dots on a logarithmic axis: next to a long bar
// the short ones would not be seen, and a bar on a logarithmic axis has no honest length.
func spread(c Chart) Chart {
	lo, hi := math.Inf(1), 0.0
	for _, s := range c.Series {
		for _, p := range s.Points {
			if !math.IsNaN(p.Y) {
				lo, hi = min(lo, p.Y), max(hi, p.Y)
			}
		}
	}
	if lo <= 0 || hi/lo <= 100 {
		return c
	}
	c.Kind, c.X, c.Y = "dots", c.Y, c.X
	c.X.Log = true
	for _, s := range c.Series {
		for i, p := range s.Points {
			s.Points[i] = Point{X: p.Y, Y: p.X, Lo: math.NaN(), Hi: math.NaN()}
			if math.IsNaN(p.Y) {
				s.Points[i].Y = math.NaN()
			}
		}
	}
	return c
}

// highestRows keeps the rows of the maxBars places with the highest first y, in the order of the result.
func highestRows(all [][]any, s spec) ([][]any, []string) {
	places := newPlaces(s.columns[s.x], all, s.x)
	if len(places.names) <= maxBars {
		return all, nil
	}
	top := make([]float64, len(places.names))
	for i := range top {
		top[i] = math.Inf(-1)
	}
	for _, row := range all {
		if v := value(s.columns[s.y[0]], row[s.y[0]]); v > top[int(places.of(row))] {
			top[int(places.of(row))] = v
		}
	}
	order := make([]int, len(top))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return top[order[a]] > top[order[b]] })
	kept := order[:maxBars]
	var rows [][]any
	for _, row := range all {
		if slices.Contains(kept, int(places.of(row))) {
			rows = append(rows, row)
		}
	}
	return rows, []string{fmt.Sprintf("the %d with the highest %s of %s are drawn; the table has all",
		maxBars, label(s.columns[s.y[0]]), count(int64(len(top))))}
}

// places numbers the values of a column in order of appearance.
type places struct {
	names []string
	index map[string]int // by exact value: two values may print alike
	col   int
}

func newPlaces(col analyze.Column, rows [][]any, c int) places {
	_, format := formatOf(col, column(rows, c))
	p := places{index: map[string]int{}, col: c}
	for _, row := range rows {
		if key := fmt.Sprint(row[c]); !p.has(key) {
			p.index[key] = len(p.names)
			p.names = append(p.names, format(row[c]))
		}
	}
	return p
}

func (p places) has(key string) bool { _, ok := p.index[key]; return ok }

func (p places) of(row []any) float64 { return float64(p.index[fmt.Sprint(row[p.col])]) }

// heatChart draws v as the colour of the cell at x and y.
func heatChart(rows [][]any, s spec) Chart {
	x, y, v := s.columns[s.x], s.columns[s.y[0]], s.columns[s.v]
	px, py := newPlaces(x, rows, s.x), newPlaces(y, rows, s.y[0])
	c := Chart{Kind: "heat", X: axis(x), Y: axis(y), Title: label(v) + " (" + axis(v).Unit + ") by " + label(y) + " and " + label(x)}
	c.X.Names, c.Y.Names = px.names[:min(len(px.names), maxCells)], py.names[:min(len(py.names), maxCells)]
	cells := Series{Name: label(v)}
	for _, row := range rows {
		p := Point{X: px.of(row), Y: py.of(row), Z: value(v, row[s.v])}
		if p.X < maxCells && p.Y < maxCells && !math.IsNaN(p.Z) {
			cells.Points = append(cells.Points, p)
		}
	}
	c.Series = []Series{cells}
	if len(px.names) > maxCells || len(py.names) > maxCells {
		c.Notes = []string{fmt.Sprintf("the first %d of each axis are drawn (%s by %s in all); the table has all",
			maxCells, count(int64(len(px.names))), count(int64(len(py.names))))}
	}
	return c
}
