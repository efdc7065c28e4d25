package reports

import "strings"

// A table of few rows and many columns reads better upright: one line a column.
const (
	uprightRows = 3
	uprightCols = 9
)

// upright turns a table of few rows and many columns: each column becomes a line with its unit, each row a column named
// by its keys. Other tables stay as they are.
func upright(g grid) grid {
	if len(g.Rows) == 0 || len(g.Rows) > uprightRows || len(g.Head) < uprightCols {
		return g
	}
	out := grid{Head: []head{{Name: keyNames(g), Key: true}, {Name: "unit"}}, Upright: true, Omitted: g.Omitted, Notes: g.Notes}
	for _, row := range g.Rows {
		out.Head = append(out.Head, head{Name: keyValues(g, row), Right: true})
	}
	for c, h := range g.Head {
		if h.Key {
			continue
		}
		line := []cell{{Text: h.Name}, {Text: h.Unit}}
		for _, row := range g.Rows {
			line = append(line, row[c])
		}
		out.Rows = append(out.Rows, line)
	}
	return out
}

func keyNames(g grid) string {
	var names []string
	for _, h := range g.Head {
		if h.Key {
			names = append(names, h.Name)
		}
	}
	return strings.Join(names, " / ")
}

func keyValues(g grid, row []cell) string {
	var values []string
	for c, h := range g.Head {
		if h.Key {
			values = append(values, row[c].Text)
		}
	}
	if len(values) == 0 {
		return "value"
	}
	return strings.Join(values, " / ")
}
