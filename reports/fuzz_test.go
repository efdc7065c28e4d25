package reports

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"reprise/analyze"
)

// Whatever a name holds: the page has the elements it has with a harmless name, no line separator or control character
// gets into it, and a terminal gets nothing to obey.
func FuzzNames(f *testing.F) {
	for _, s := range []string{hostile, "a", "\x1b]0;x\a", "<!--", "]]>", "{{", "\xff\xfe", "'\"`", "\u2029</style>", "javascript:x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if got, want := elements(t, named(name)), elements(t, named("a")); got != want {
			t.Errorf("name %q: %d elements, want %d", name, got, want)
		}
		var b bytes.Buffer
		if err := WriteText(&b, named(name), TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("name %q: unseen character in %q", name, b.String()[i:])
		}
	})
}

// named puts the name where names can stand, in a table and a chart.
func named(name string) Report {
	r := barResult()
	r.Rows = [][]any{{name, int64(5), .5}, {"other" + name, int64(3), .3}}
	r.SQL, r.Params = "SELECT "+name, map[string]string{"p" + name: name}
	r.Warnings = []analyze.Warning{{Code: name, Message: name}}
	return Report{Title: name, Subtitle: "x" + name, Answer: []string{name}, Figures: []Figure{{name, name, name}}, Notes: []string{name},
		Sections: []Section{section(r.Query, r, ""), section("prefix_cache", nil, "x"+name)}, Next: []string{name}}
}

func elements(t *testing.T, r Report) int {
	own := strings.Replace(string(page1(t, r)), asset("echarts.min.js"), "", 1)
	if strings.ContainsFunc(own, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }) {
		t.Error("unseen character in the page")
	}
	return strings.Count(own, "<")
}

// FuzzChartHeader: a header draws or says why not; it never panics.
func FuzzChartHeader(f *testing.F) {
	for _, s := range []string{"line x=start_us y=p50,p99", "heat x=grp y=start_us v=n", "bar x=grp y=n", "cdf x=n y=p50", "line x= y=", "line x=grp y=grp", " "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		r := timeResult()
		r.Rows, r.Chart = r.Rows[:8], header
		cs, why := chartsOf(r)
		if len(cs) == 0 && why == "" && len(strings.Fields(header)) > 0 && !strings.Contains(header, "x=grp") && !strings.Contains(header, "x=p99") {
			t.Errorf("header %q: no chart and no reason", header)
		}
		for _, c := range cs {
			if _, err := option(c); err != nil {
				t.Errorf("header %q: %v", header, err)
			}
		}
	})
}
