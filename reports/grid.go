package reports

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"reprise/analyze"
)

// grid is a result as text, the same for terminal and page: every cell is formatted, safe to show and marked.
type grid struct {
	Head    []head
	Rows    [][]cell
	Upright bool     // columns and rows have changed places
	Omitted int      // rows that are not shown
	Notes   []string // what the marks mean, and how many rows are left out
}

type head struct {
	Name, Unit string
	Right      bool // numbers stand right
	Key        bool
}

// cell is one value. Mark is "" or one of the marks below; Tone is good, bad, unsure, equal or "" for no verdict.
type cell struct{ Text, Mark, Tone string }

// tones colour the words of columns named verdict and met.
var tones = map[string]string{"better": "good", "pass": "good", "good": "good", "worse": "bad", "fail": "bad", "bad": "bad",
	"inconclusive": "unsure", "unevaluable": "unsure", "non-inferior": "equal"}

// The marks of percentiles that few values carry (metrics.md 2.1, pitfalls ANA-03).
const (
	markLow  = "~" // fewer than 10 values above the percentile
	markNone = "!" // fewer than 1/(1-q) values: it is the maximum or nearly so
)

var markNotes = map[string]string{
	markLow:  "~ low n: fewer than 10 values lie above this percentile",
	markNone: "! not supported by the sample: too few values for this percentile, read it as the maximum",
}

// gridOf formats the first maxRows rows of r; 0 means all.
func gridOf(r *analyze.Result, maxRows int) grid {
	rows := r.Rows
	if maxRows > 0 && len(rows) > maxRows {
		rows = rows[:maxRows]
	}
	g := grid{Omitted: len(r.Rows) - len(rows), Rows: make([][]cell, len(rows))}
	used := map[string]bool{}
	for c, col := range r.Columns {
		vals := column(rows, c)
		if idle(col, vals) {
			continue
		}
		h, format := formatOf(col, vals)
		g.Head = append(g.Head, h)
		mark := marker(r.Columns, c)
		for i, row := range rows {
			m := mark(row)
			used[m] = true
			g.Rows[i] = append(g.Rows[i], cell{format(row[c]), m, toneOf(col, row[c])})
		}
	}
	for _, m := range []string{markLow, markNone} {
		if used[m] {
			g.Notes = append(g.Notes, markNotes[m])
		}
	}
	if g.Omitted > 0 {
		g.Notes = append(g.Notes, fmt.Sprintf("%s more rows are not shown (%s in all)", count(int64(g.Omitted)), count(int64(len(r.Rows)))))
	}
	return g
}

// idle says that a key tells nothing here: all rows are of the group of everything, or it is unknown in all.
func idle(col analyze.Column, vals []any) bool {
	return col.Key && len(vals) > 0 && !slices.ContainsFunc(vals, func(v any) bool { return v != nil && v != "all" })
}

func toneOf(col analyze.Column, v any) string {
	word, ok := v.(string)
	if !ok || col.Name != "verdict" && col.Name != "met" {
		return ""
	}
	word, _, _ = strings.Cut(word, " ")
	return tones[word]
}

func column(rows [][]any, c int) []any {
	out := make([]any, len(rows))
	for i, row := range rows {
		out[i] = row[c]
	}
	return out
}

// formatOf chooses the heading of a column and how its values print.
func formatOf(col analyze.Column, vals []any) (head, func(any) string) {
	h := head{Name: label(col), Unit: plain(col.Unit), Key: col.Key}
	nums, times := numbers(vals)
	h.Right = len(nums) > 0 || col.Unit != "text" && col.Unit != ""
	switch {
	case col.Unit == "time":
		layout := clock(times)
		h.Unit = "UTC"
		return h, func(v any) string { return timeText(v, layout) }
	case col.Unit == "share":
		for i := range nums {
			nums[i] *= 100
		}
		h.Unit = "%"
		d := percentDecimals(nums)
		return h, func(v any) string {
			if f := value(col, v); !math.IsNaN(f) {
				return perCent(f, d)
			}
			return text(v)
		}
	case col.Unit == "text":
		h.Unit = ""
	}
	return h, numeric(decimals(nums))
}

// numbers returns the numeric values of a column, as numbers and (whole ones) as times.
func numbers(vals []any) (nums []float64, times []int64) {
	for _, v := range vals {
		switch v := v.(type) {
		case int64:
			nums, times = append(nums, float64(v)), append(times, v)
		case float64:
			nums = append(nums, v)
		}
	}
	return nums, times
}

func timeText(v any, layout string) string {
	if us, ok := v.(int64); ok {
		return utc(us, layout)
	}
	return text(v)
}

// numeric formats numbers with d decimals; whole numbers stay exact.
func numeric(d int) func(any) string {
	return func(v any) string {
		switch v := v.(type) {
		case int64:
			return pad(count(v), d)
		case float64:
			return number(v, d)
		}
		return text(v)
	}
}

// pad keeps the point aligned where a column mixes whole numbers with others.
func pad(s string, d int) string {
	if d == 0 {
		return s
	}
	return s + "." + strings.Repeat("0", d)
}

// text formats what is not a measured number.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return unknown
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case string:
		return plain(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return one(v)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = text(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return plain(fmt.Sprint(v))
}

var (
	unitEnd  = map[string]string{"ms": "_ms", "time": "_us", "us": "_us", "s": "_s", "tokens": "_tokens", "share": "_share"}
	quantile = regexp.MustCompile(`^(?:(.+)_)?p(\d+)(?:_(\d+))?(?:_[a-z]+)?$`)
	fraction = regexp.MustCompile(`\bp(\d+)_(\d+)`)
)

// label turns a column name into words: the unit stands apart, p99_9 is p99.9.
func label(col analyze.Column) string {
	name := plain(col.Name)
	if end := unitEnd[col.Unit]; end != "" && strings.TrimSuffix(name, end) != "" {
		name = strings.TrimSuffix(name, end)
	}
	name = fraction.ReplaceAllString(name, "p$1.$2")
	return strings.ReplaceAll(name, "_", " ")
}

// marker returns the mark of column c for a row: only percentiles that stand beside their n have one.
func marker(cols []analyze.Column, c int) func(row []any) string {
	m := quantile.FindStringSubmatch(cols[c].Name)
	if m == nil {
		return func([]any) string { return "" }
	}
	n := indexOf(cols, m[1]+"_n")
	if n < 0 {
		n = indexOf(cols, "n")
	}
	q, _ := strconv.ParseFloat("0."+m[2]+m[3], 64)
	return func(row []any) string {
		if n < 0 || row[c] == nil {
			return ""
		}
		have, ok := row[n].(int64)
		return supportMark(have, q, ok)
	}
}

// supportMark judges a percentile q (0 to 1) taken over n values.
func supportMark(n int64, q float64, known bool) string {
	// The small number keeps 100 values enough for p99 although 1-0.99 is a little above 0.01 in floating point.
	switch above := float64(n)*(1-q) + 1e-9; {
	case !known:
		return ""
	case above < 1:
		return markNone
	case above < 10:
		return markLow
	}
	return ""
}

func indexOf(cols []analyze.Column, name string) int {
	for i, c := range cols {
		if c.Name == name {
			return i
		}
	}
	return -1
}
