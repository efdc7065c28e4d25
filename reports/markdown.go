package reports

import (
	"bufio"
	"io"
	"strings"

	"reprise/analyze"
)

// markdownRows is how many rows of a table a mail or a ticket can take; the page has more, JSON all.
const markdownRows = 20

// markdownText keeps a text from becoming markup.
var markdownText = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "`", "'", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`)

// WriteMarkdown writes a whole report as Markdown with tables (GitHub's form): the answer, its figures, then one table a section.
func WriteMarkdown(w io.Writer, r Report) error {
	b := bufio.NewWriter(w)
	say, text := sayer(b), markdownName
	say("# ", text(r.Title), "\n")
	if r.Subtitle != "" {
		say(text(r.Subtitle), "\n")
	}
	for i, a := range r.Answer {
		if i == 0 {
			say("**", text(a), "**\n")
		} else {
			say(text(a), "\n")
		}
	}
	if len(r.Figures) > 0 {
		say("| | | |\n|---|---|---|")
		for _, f := range r.Figures {
			say("| ", text(f.Name), " | ", text(f.Value), " | ", text(f.Note), " |")
		}
		say()
	}
	for _, n := range r.Notes {
		say("- ", text(n))
	}
	for _, s := range r.Sections {
		if !s.PageOnly {
			say("\n## ", text(s.Title), "\n")
			sectionMarkdown(say, s, markdownRows)
		}
	}
	for i, n := range r.Next {
		if i == 0 {
			say("\nNext:\n")
		}
		say("    ", plain(n))
	}
	for i, f := range r.Facts {
		if i == 0 {
			say()
		}
		say("- ", text(f.Name), ": ", text(f.Value))
	}
	return b.Flush()
}

// ResultMarkdown writes one result with every row.
func ResultMarkdown(w io.Writer, r *analyze.Result) error {
	b := bufio.NewWriter(w)
	say := sayer(b)
	say("## ", markdownName(r.Title), "\n")
	if r.About != "" {
		say(markdownName(r.About), "\n")
	}
	s := Section{Result: r}
	if len(r.Rows) == 0 {
		s.Missing = noRows(r)
	}
	sectionMarkdown(say, s, 0)
	return b.Flush()
}

func markdownName(s string) string { return markdownText.Replace(plain(s)) }

// sayer writes a line of parts.
func sayer(b *bufio.Writer) func(...string) {
	return func(parts ...string) {
		for _, p := range parts {
			b.WriteString(p)
		}
		b.WriteByte('\n')
	}
}

func sectionMarkdown(say func(...string), s Section, rows int) {
	text := markdownName
	if s.Missing != "" || s.Result == nil {
		say("No figures: ", text(s.Missing))
		return
	}
	g := upright(gridOf(s.Result, rows))
	head, line := "|", "|"
	for _, h := range g.Head {
		name := text(h.Name)
		if h.Unit != "" {
			name += " (" + text(h.Unit) + ")"
		}
		head += " " + name + " |"
		line += map[bool]string{true: "---:|", false: "---|"}[h.Right]
	}
	say(head, "\n", line)
	for _, row := range g.Rows {
		cells := "|"
		for _, c := range row {
			cells += " " + text(c.Text+c.Mark) + " |"
		}
		say(cells)
	}
	for _, n := range g.Notes {
		say("\n", text(n))
	}
	if c := coverageText(s.Result.Coverage); c != "" {
		say("\n", text(c))
	}
	for _, w := range s.Result.Warnings {
		say("\nwarning (", text(w.Code), "): ", text(w.Message))
	}
}
