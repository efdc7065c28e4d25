package reports

import (
	"slices"
	"strings"
)

// grid prints a table: names, units, rows; in blocks when it is wider than the terminal.
func (t *textWriter) grid(g grid) {
	lines := lay(g)
	widths := make([]int, len(g.Head))
	for _, line := range lines {
		for c, s := range line {
			widths[c] = max(widths[c], width(s))
		}
	}
	for i, block := range blocks(g.Head, widths, t.o.Width) {
		if i > 0 {
			t.line("")
		}
		for l, line := range lines {
			if l == 1 && strings.TrimSpace(strings.Join(line, "")) == "" {
				continue // no column has a unit
			}
			t.line(t.tone(l, row(g.Head, widths, block, line)))
		}
	}
	for _, n := range g.Notes {
		t.line(t.dim(n))
	}
}

// lay returns the lines of a table: names, units, rows. A column with marks keeps a place for one in every line.
func lay(g grid) [][]string {
	lines := make([][]string, 2+len(g.Rows))
	for c, h := range g.Head {
		marked := slices.ContainsFunc(g.Rows, func(row []cell) bool { return row[c].Mark != "" })
		add := func(l int, s, mark string) {
			if marked && mark == "" {
				mark = " "
			}
			if h.Right || c < len(g.Head)-1 { // a text in the last column pushes no other aside
				s = shorten(s, cellRunes)
			}
			lines[l] = append(lines[l], s+mark)
		}
		add(0, h.Name, "")
		add(1, h.Unit, "")
		for i, row := range g.Rows {
			add(2+i, row[c].Text, row[c].Mark)
		}
	}
	return lines
}

func row(heads []head, widths, cols []int, line []string) string {
	out := make([]string, len(cols))
	for i, c := range cols {
		if heads[c].Right {
			out[i] = right(line[c], widths[c])
		} else {
			out[i] = left(line[c], widths[c])
		}
	}
	return strings.TrimRight(strings.Join(out, "  "), " ")
}

func (t *textWriter) tone(line int, s string) string {
	switch line {
	case 0:
		return t.bold(s)
	case 1:
		return t.dim(s)
	}
	return s
}

// blocks splits the columns so that each block fits into limit, keys first in each.
func blocks(heads []head, widths []int, limit int) [][]int {
	var keys, rest []int
	used := 0
	for c, h := range heads {
		if h.Key {
			keys, used = append(keys, c), used+widths[c]+2
		} else {
			rest = append(rest, c)
		}
	}
	var out [][]int
	cur, room := slices.Clone(keys), used
	for _, c := range rest {
		if limit > 0 && len(cur) > len(keys) && room+widths[c] > limit {
			out, cur, room = append(out, cur), slices.Clone(keys), used
		}
		cur, room = append(cur, c), room+widths[c]+2
	}
	return append(out, cur)
}
