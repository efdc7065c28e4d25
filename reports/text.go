package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"reprise/analyze"
)

// TextOptions says what a terminal takes.
type TextOptions struct {
	Colour bool
	Width  int // columns; a wider table is cut into blocks that repeat the keys; 0: no limit
	Rows   int // rows shown of a table; 0: all
}

// cellRunes is the longest name a terminal table shows; JSON and CSV hold it whole.
const cellRunes = 60

// TableText writes one result: title, definition, table, what its marks mean, coverage and warnings.
func TableText(w io.Writer, r *analyze.Result, o TextOptions) error {
	t := &textWriter{w: bufio.NewWriter(w), o: o}
	t.heading(r.Title, r.Level)
	t.wrap(r.About, "")
	switch {
	case len(r.Rows) == 0 && len(r.Warnings) == 0:
		t.line(noRows(r))
	case len(r.Rows) > 0:
		t.grid(upright(gridOf(r, o.Rows)))
	}
	t.footer(r)
	return t.w.Flush()
}

// WriteText writes a whole report for a terminal: the answer, its figures, then one table a section.
func WriteText(w io.Writer, r Report, o TextOptions) error {
	t := &textWriter{w: bufio.NewWriter(w), o: o}
	t.line(t.bold(plain(r.Title)))
	if r.Subtitle != "" {
		t.prose(r.Subtitle, "", "")
	}
	t.line("")
	for i, s := range r.Answer {
		t.prose(s, "", map[bool]string{true: verdictColour[r.Verdict]}[i == 0])
	}
	t.figures(r.Figures)
	for _, n := range r.Notes {
		t.prose("note: "+n, "      ", "")
	}
	for _, s := range r.Sections {
		if s.PageOnly {
			t.sparks(s)
		} else {
			t.section(s)
		}
	}
	if len(r.Next) > 0 {
		t.line("")
	}
	for _, n := range r.Next {
		t.line("next: " + plain(n))
	}
	return t.w.Flush()
}

// textWriter keeps the first write error in its buffer, so the callers above look once, at Flush.
type textWriter struct {
	w       *bufio.Writer
	o       TextOptions
	covered string // the coverage printed last: the same is not said twice in a row
}

func (t *textWriter) line(s string) {
	t.w.WriteString(strings.TrimRight(s, " "))
	t.w.WriteByte('\n')
}

var verdictColour = map[string]string{"good": "32", "bad": "31", "unsure": "33"}

// paint colours s with an ANSI colour; widths are counted before painting.
func (t *textWriter) paint(colour, s string) string {
	if !t.o.Colour || colour == "" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

func (t *textWriter) bold(s string) string { return t.paint("1", s) }
func (t *textWriter) dim(s string) string  { return t.paint("2", s) }

func (t *textWriter) heading(title, level string) {
	s := t.bold(plain(title))
	if level != "" {
		s += t.dim("  (needs log level " + plain(level) + ")")
	}
	t.line(s)
}

func (t *textWriter) section(s Section) {
	t.line("")
	t.heading(s.Title, "")
	if s.Missing != "" {
		t.wrap("no figures: "+s.Missing, "  ")
		return
	}
	t.grid(upright(gridOf(s.Result, t.o.Rows)))
	t.footer(s.Result)
}

// figures prints the first screen in three columns.
func (t *textWriter) figures(fs []Figure) {
	name, value := 0, 0
	for _, f := range fs {
		name, value = max(name, width(plain(f.Name))), max(value, width(plain(f.Value)))
	}
	if len(fs) > 0 {
		t.line("")
	}
	for _, f := range fs {
		line, note := left(plain(f.Name), name)+"  "+left(plain(f.Value), value), plain(f.Note)
		if t.o.Width > 0 && width(line)+2+width(note) > t.o.Width { // the note below the value, where there is no room beside it
			t.prose(strings.TrimRight(line, " "), strings.Repeat(" ", name+2), "")
			t.prose(strings.Repeat(" ", min(name+2, t.o.Width/2))+note, strings.Repeat(" ", min(name+2, t.o.Width/2)), "2")
			continue
		}
		t.line(line + "  " + t.dim(note))
	}
}

// prose prints a text in one line, or in as many as the terminal needs, the further ones indented.
func (t *textWriter) prose(s, indent, colour string) {
	if 2*len(indent) > t.o.Width {
		indent = "" // there would be no room left
	}
	for rest, first := plain(s), true; rest != "" || first; first = false {
		line := rest
		if limit := t.o.Width; limit > 0 && width(rest) > limit {
			line = string([]rune(rest)[:limit])
			if i := strings.LastIndexByte(line, ' '); i > len(indent) {
				line = line[:i]
			}
		}
		rest = strings.TrimLeft(rest[len(line):], " ")
		if t.line(t.paint(colour, line)); rest != "" {
			rest = indent + rest
		}
		if rest == indent {
			return
		}
	}
}

func (t *textWriter) footer(r *analyze.Result) {
	if c := coverageText(r.Coverage); c != "" && c != t.covered {
		t.line(t.dim(c))
		t.covered = c
	}
	for _, w := range r.Warnings {
		t.wrap(fmt.Sprintf("warning (%s): %s", w.Code, w.Message), "")
	}
}

// wrap prints prose in lines of at most 110 runes, or of the terminal's width.
func (t *textWriter) wrap(s, indent string) {
	limit := 110
	if t.o.Width > 0 {
		limit = min(limit, t.o.Width)
	}
	cur := ""
	for _, word := range strings.Fields(plain(s)) {
		if cur != "" && width(indent+cur)+1+width(word) > limit {
			t.line(indent + cur)
			cur = ""
		}
		if cur != "" {
			cur += " "
		}
		cur += word
	}
	if cur != "" {
		t.line(indent + cur)
	}
}

func width(s string) int { return utf8.RuneCountInString(s) }

func left(s string, n int) string { return s + strings.Repeat(" ", max(0, n-width(s))) }

func right(s string, n int) string { return strings.Repeat(" ", max(0, n-width(s))) + s }
