package reports

import (
	"fmt"
	"slices"
	"strings"

	"reprise/analyze"
)

// FactsOf say what a report was made from and with: each run with its identity, sources and window, then zone and version.
func FactsOf(runs []analyze.Identity, version string) (out []Fact) {
	for _, r := range runs {
		what := plural(r.Rows, "request")
		if r.Parts > 0 { // a table of a cluster has none that are known
			what = fmt.Sprintf("%s, %s in %s", r.ID, what, plural(r.Parts, "part"))
		}
		out = append(out, Fact{strings.TrimSpace("run " + r.Role), r.Path + " (" + what + ")"})
		out = append(out, Fact{"from", sourcesText(r)})
		if r.FirstUS != nil {
			const layout = "2006-01-02 15:04:05"
			out = append(out, Fact{"arrived", utc(*r.FirstUS, layout) + " to " + utc(*r.LastUS, layout)})
		}
	}
	return append(out, Fact{"zone", "UTC"}, Fact{"made by", "reprise " + version})
}

func sourcesText(r analyze.Identity) string {
	var parts []string
	for _, s := range slices.SortedFunc(slices.Values(r.Sources), func(a, b analyze.Source) int { return int(b.Rows - a.Rows) }) {
		parts = append(parts, fmt.Sprintf("%s as seen by the %s (%s)", s.Format, s.Vantage, count(s.Rows)))
	}
	if len(parts) == 0 {
		return "no source"
	}
	return strings.Join(parts, ", ")
}
