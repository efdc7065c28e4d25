package reports

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"reprise/analyze"
)

// EChartsVersion is the version of the embedded chart library (assets/README.md).
const EChartsVersion = "6.1.0"

//go:embed assets/echarts.min.js assets/boot.js assets/page.css page.html.tmpl
var assets embed.FS

// Bounds of the page's tables: the files written by --format csv have every row.
const (
	pageRows = 500 // rows of a table
	openRows = 20  // a longer table starts folded
)

// WriteHTML writes r as one page that needs nothing else: no network, no other file. Its policy lets the page load
// nothing and run only the two scripts it carries, by their hashes.
func WriteHTML(w io.Writer, r Report) error {
	p, err := newPage(r)
	if err != nil {
		return err
	}
	t, err := template.New("page.html.tmpl").ParseFS(assets, "page.html.tmpl")
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// page is what the template reads. Everything from outside is a plain string, which html/template escapes; the typed
// values are our own files and JSON that encoding/json made safe for a script element.
type page struct {
	Report
	Sections []pageSection // shadows the report's
	Policy   string
	Style    template.CSS
	Options  template.JS // chart options by element id; empty: no charts
	Library  template.JS
	Boot     template.JS
	ECharts  string
}

type pageSection struct {
	Section
	Charts   []pageChart // shadows the section's
	Table    *pageTable
	Warnings []analyze.Warning
	Coverage string
	Params   string
	SQL      string
}

type pageChart struct {
	Chart
	ID      string
	Caption string
	Height  int // pixels; 0: as the style sheet says
}

type pageTable struct {
	Grid grid
	Rows string
	Long bool
}

func newPage(r Report) (page, error) {
	p := page{Report: cleaned(r), ECharts: EChartsVersion, Style: template.CSS(asset("page.css"))}
	options, statements := map[string]json.RawMessage{}, sqlTexts{}
	for _, s := range r.Sections {
		ps, err := newPageSection(s, options)
		if err != nil {
			return p, err
		}
		ps.SQL = statements.shorten(ps.Title, ps.SQL)
		p.Sections = append(p.Sections, ps)
	}
	script := "'none'"
	if len(options) > 0 {
		raw, err := json.Marshal(options)
		if err != nil {
			return p, err
		}
		p.Options = template.JS(raw)
		p.Library, p.Boot = template.JS(asset("echarts.min.js")), template.JS(asset("boot.js"))
		script = hash(string(p.Library)) + " " + hash(string(p.Boot))
	}
	p.Policy = "default-src 'none'; script-src " + script + "; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
	return p, nil
}

// asset reads an embedded file; the names are constants, so a failure is a defect of the program.
func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// hash is a source expression that allows exactly this script.
func hash(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func newPageSection(s Section, options map[string]json.RawMessage) (pageSection, error) {
	ps := pageSection{Section: s}
	ps.Title, ps.About, ps.Missing = plain(s.Title), plain(s.About), plain(s.Missing)
	if s.Missing != "" || s.Result == nil {
		return ps, nil
	}
	for i, c := range s.Charts {
		id := fmt.Sprintf("%s-chart-%d", s.ID, i+1)
		raw, err := option(c)
		if err != nil {
			return ps, err
		}
		options[id] = raw
		ps.Charts = append(ps.Charts, pageChart{Chart: c, ID: id, Caption: caption(s), Height: height(c)})
	}
	r := s.Result
	ps.Table = &pageTable{upright(gridOf(r, pageRows)), count(int64(len(r.Rows))), len(r.Rows) > openRows}
	ps.Coverage, ps.Params, ps.SQL = coverageText(r.Coverage), paramText(r.Params), plainLines(r.SQL)
	for _, w := range r.Warnings {
		ps.Warnings = append(ps.Warnings, analyze.Warning{Code: plain(w.Code), Message: plain(w.Message)})
	}
	return ps, nil
}

// height gives names that run down the side a line each, where there are too many for a chart of usual height.
func height(c Chart) int {
	names := len(c.Y.Names)
	if lying(c) {
		names = len(c.X.Names)
	}
	if names <= 10 {
		return 0
	}
	return 120 + 20*names
}

// caption repeats below a chart what its figures rest on, since pictures are copied without their page.
func caption(s Section) string {
	if s.Result.Coverage.Requests == 0 {
		return ""
	}
	return count(s.Result.Coverage.Requests) + " requests, " + count(s.Result.Coverage.Eligible) + " in latency statistics"
}

func paramText(params map[string]string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(params)) {
		out = append(out, plain(k+" = "+params[k]))
	}
	return strings.Join(out, ", ")
}

// cleaned spells out in every text of the first screen what cannot be seen.
func cleaned(r Report) Report {
	r.Title, r.Subtitle = plain(r.Title), plain(r.Subtitle)
	r.Answer, r.Notes, r.Next = plainAll(r.Answer), plainAll(r.Notes), plainAll(r.Next)
	r.Facts = slices.Clone(r.Facts)
	for i, f := range r.Facts {
		r.Facts[i] = Fact{plain(f.Name), plain(f.Value)}
	}
	r.Figures = slices.Clone(r.Figures)
	for i, f := range r.Figures {
		r.Figures[i] = Figure{plain(f.Name), plain(f.Value), plain(f.Note)}
	}
	return r
}

// plainLines is plain for a text of many lines.
func plainLines(s string) string {
	return strings.Join(plainAll(strings.Split(strings.TrimSpace(s), "\n")), "\n")
}

func plainAll(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = plain(s)
	}
	return out
}
