package reports

import (
	"bytes"
	"encoding/csv"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"reprise/analyze"
)

// hostileNames are what a model, tenant, route, error text or file may be called by somebody who wants to be obeyed.
var hostileNames = []string{hostile, "<script>alert(1)</script>", `"><svg onload=alert(1)>`, "'; DROP TABLE x; --", "{{.}}${1}<!--", "]]>", "&lt;b&gt;",
	`=HYPERLINK("http://elsewhere.test","x")`, "=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", "\n=1",
	"gateway\u202egnp.exe", "\u2066a\u2069", "\x1b[2J\x1b[31mred", "\x1b]8;;http://elsewhere.test\x07x\x1b]8;;\x07", "a\bb\x7f", "\u2028\u2029", "\xff\xfe",
	"one\ntwo\r\n# head", "[click](http://elsewhere.test)", "![x](http://elsewhere.test/x.png)", "`code`", "|a|b|", "*bold* _it_ ~~s~~ <b>", "# head", "- item", strings.Repeat("long", 500)}

// Whatever a name holds, it is text in each of the four forms: no element on the page, nothing for a terminal to obey, no
// formula in CSV, no markup in Markdown.
func TestHostileNamesInEveryForm(t *testing.T) {
	harmless := elements(t, named("a"))
	plainMarks := marksOf(t, "a")
	for _, name := range hostileNames {
		if got := elements(t, named(name)); got != harmless {
			t.Errorf("page: %q makes %d elements, want %d", name, got, harmless)
		}
		checkTerminal(t, name)
		checkCSV(t, name)
		if got := marksOf(t, name); got != plainMarks {
			t.Errorf("Markdown: %q makes the marks\n%s\nwant\n%s", name, got, plainMarks)
		}
	}
}

func checkTerminal(t *testing.T, name string) {
	t.Helper()
	var b bytes.Buffer
	for _, limit := range []int{0, 60} {
		if err := WriteText(&b, named(name), TextOptions{Width: limit}); err != nil {
			t.Fatal(err)
		}
	}
	if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("terminal: %q leaves an unseen character in %q", name, b.String()[i:min(i+30, b.Len())])
	}
}

// A spreadsheet takes no cell for a formula, and a program that takes off the apostrophe has the name again.
func checkCSV(t *testing.T, name string) {
	t.Helper()
	r := &analyze.Result{Columns: cols(1, name, "text", "n", "requests"), Rows: [][]any{{name, int64(-1)}}}
	var b bytes.Buffer
	if err := r.Write(CSVWriter(&b)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatalf("CSV: %q: %v", name, err)
	}
	for _, cell := range []string{rows[0][0], rows[1][0]} {
		if strings.ContainsAny(cell[:1], "=+-@\t\r\n") {
			t.Errorf("CSV: %q is a formula", cell)
		}
		if got := strings.TrimPrefix(cell, "'"); got != strings.ReplaceAll(strings.TrimPrefix(name, "'"), "\r\n", "\n") { // the reader joins line ends
			t.Errorf("CSV: %q became %q", name, cell)
		}
	}
	if rows[1][1] != "-1" {
		t.Errorf("a number became %q", rows[1][1])
	}
}

// marksOf is what of a Markdown report is markup: each line without its text. What is escaped or stands in a code block is text.
func marksOf(t *testing.T, name string) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteMarkdown(&b, named(name)); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "    ") {
			out.WriteString("code\n")
			continue
		}
		line = regexp.MustCompile(`\\.|&[a-z]+;`).ReplaceAllString(line, "")
		out.WriteString(regexp.MustCompile("[^|#*_`<\\[\\]~!\n]").ReplaceAllString(strings.ReplaceAll(line, "!", ""), "") + "\n")
		if regexp.MustCompile(`^(#|- |\d+\. |>)`).MatchString(line) {
			out.WriteString("block\n")
		}
	}
	return out.String()
}

// NaN, nothing, one row: said as what it is, in every form, and never a chart that shows nothing or an invented zero.
func TestThinData(t *testing.T) {
	one := timeResult()
	one.Rows = [][]any{{"chat", int64(1795392000000000), int64(1), 200.0, 200.0}}
	none := timeResult()
	none.Rows = nil
	blind := timeResult()
	for _, row := range blind.Rows {
		row[3], row[4] = math.NaN(), nil
	}
	for name, r := range map[string]*analyze.Result{"one row": one, "no row": none, "NaN": blind} {
		s := section(r.Query, r, "")
		for _, c := range s.Charts {
			if _, err := option(c); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		var all strings.Builder
		for _, write := range []func() error{
			func() error { return WriteHTML(&all, Report{Title: "T", Sections: []Section{s}}) },
			func() error { return WriteText(&all, Report{Title: "T", Sections: []Section{s}}, TextOptions{}) },
			func() error { return WriteMarkdown(&all, Report{Title: "T", Sections: []Section{s}}) },
			func() error { return ResultMarkdown(&all, r) },
		} {
			if err := write(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		text := strings.ReplaceAll(all.String(), asset("echarts.min.js"), "")
		if strings.Contains(text, "NaN") || strings.Contains(text, "Infinity") {
			t.Errorf("%s: NaN is shown", name)
		}
		if len(s.Charts) > 0 {
			t.Errorf("%s: a chart of nothing", name)
		}
		if !strings.Contains(text, "not enough data") {
			t.Errorf("%s: nothing says that there is not enough data: %q", name, s.NoChart)
		}
	}
}
