package reports

import (
	"math"
	"slices"
	"strings"
)

// Bounds of the small pictures of a terminal.
const (
	sparkCells  = 60 // columns of one
	sparkSeries = 3  // lines of one chart; the page has all
)

// sparks draws each chart over time of a section as lines of blocks, with the lowest and the highest value behind them.
func (t *textWriter) sparks(s Section) {
	var lines [][3]string
	for _, c := range s.Charts {
		if c.X.Unit != "time" || c.Kind != "line" {
			continue
		}
		from, to := rangeOf(c.Series)
		for _, line := range c.Series[:min(len(c.Series), sparkSeries)] {
			if text, lo, hi := spark(line.Points, from, to, t.sparkWidth()); text != "" {
				name := shorten(plain(strings.TrimSpace(c.Facet+" "+line.Name)), 24)
				lines = append(lines, [3]string{name, text, valueText(lo, c.Y.Unit) + " to " + valueText(hi, c.Y.Unit)})
			}
		}
	}
	if len(lines) == 0 {
		return
	}
	t.line("")
	t.heading(s.Title+sparkSpan(s), "")
	if from, to := rangeOf(s.Charts[0].Series); len(s.Charts[0].Spans) > 0 && to > from {
		lines = append(lines, [3]string{s.Charts[0].Spans[0].Name, spanCells(s.Charts[0].Spans, from, to, width(lines[0][1])), ""})
	}
	name := 0
	for _, l := range lines {
		name = max(name, width(l[0]))
	}
	for _, l := range lines {
		t.line(left(l[0], name) + "  " + l[1] + "  " + t.dim(l[2]))
	}
}

// sparkWidth leaves room for a name and the values.
func (t *textWriter) sparkWidth() int {
	if t.o.Width > 0 {
		return max(10, min(sparkCells, t.o.Width-52))
	}
	return sparkCells
}

func sparkSpan(s Section) string {
	for _, c := range s.Charts {
		if c.X.Unit == "time" {
			return span(c.Series)
		}
	}
	return ""
}

func rangeOf(ss []Series) (from, to float64) {
	from, to = math.Inf(1), math.Inf(-1)
	for _, s := range ss {
		for _, p := range s.Points {
			from, to = min(from, p.X), max(to, p.X)
		}
	}
	return from, to
}

// spark is points as blocks between their lowest and highest value; a cell holds the value furthest from the median of all, so
// that a short peak or a short drop stays, and is blank where nothing is known. "" with fewer than two values.
func spark(points []Point, from, to float64, cells int) (text string, lo, hi float64) {
	var known []float64
	for _, p := range points {
		if !math.IsNaN(p.Y) {
			known = append(known, p.Y)
		}
	}
	if len(known) < 2 || to <= from {
		return "", 0, 0
	}
	slices.Sort(known)
	lo, hi = known[0], known[len(known)-1]
	mid := known[len(known)/2]
	cells = min(cells, 1+int(math.Round((to-from)/stepOf(points))))
	at := make([]float64, cells)
	for i := range at {
		at[i] = math.NaN()
	}
	for _, p := range points {
		i := min(int((p.X-from)/(to-from)*float64(cells-1)+.5), cells-1)
		if !math.IsNaN(p.Y) && (math.IsNaN(at[i]) || math.Abs(p.Y-mid) > math.Abs(at[i]-mid)) {
			at[i] = p.Y
		}
	}
	var b strings.Builder
	for _, v := range at {
		switch {
		case math.IsNaN(v):
			b.WriteByte(' ')
		case hi == lo:
			b.WriteRune('▄')
		default:
			b.WriteRune([]rune("▁▂▃▄▅▆▇█")[min(int(8*(v-lo)/(hi-lo)), 7)])
		}
	}
	return b.String(), lo, hi
}

// spanCells marks the cells that lie in a span.
func spanCells(spans []Span, from, to float64, cells int) string {
	out := []rune(strings.Repeat(" ", cells))
	for i := range out {
		x := from + (to-from)*float64(i)/float64(max(cells-1, 1))
		for _, s := range spans {
			if x >= s.From && x < s.To {
				out[i] = '▔'
			}
		}
	}
	return string(out)
}

// stepOf is the smallest distance of two points: no cell is narrower.
func stepOf(points []Point) float64 {
	step := math.Inf(1)
	for i := 1; i < len(points); i++ {
		if d := points[i].X - points[i-1].X; d > 0 {
			step = min(step, d)
		}
	}
	return step
}

// valueText is a value with its unit.
func valueText(v float64, unit string) string {
	switch unit {
	case "ms":
		return duration(v)
	case "%":
		return percent(v / 100)
	case "", "text":
		return one(v)
	}
	return one(v) + " " + unit
}
