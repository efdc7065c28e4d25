package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"testing"
)

var hashes = regexp.MustCompile(`&#39;sha256-[^ ;]*`)

// coordinateOf is a value of a table as it is drawn: times are milliseconds, others have six digits.
func coordinateOf(unit string, v float64) float64 {
	f, _ := coordinate(Axis{Unit: unit}, v).(float64)
	return f
}

func sectionChart(s Section, i int) string { return fmt.Sprintf("%s-chart-%d", s.ID, i+1) }

// asked runs an expression in the browser for each chart e of the page and reads what they give, by the charts' names.
func asked(t *testing.T, r Report, expression string, answers any) {
	t.Helper()
	page := bytes.Replace(page1(t, r), []byte("script-src "), []byte("script-src 'unsafe-inline' "), 1)
	page = hashes.ReplaceAll(page, nil) // a hash would forbid the script below
	end := bytes.LastIndex(page, []byte("</body>"))
	page = append(page[:end:end], `<script>var all = {}; document.querySelectorAll(".chart").forEach(function (e) { all[e.id] = `+expression+` }); parent.report(name, all)</script></body>`...)
	if err := json.Unmarshal(newBrowser(t).framed(map[string][]byte{"page": page}, "")["page"], answers); err != nil {
		t.Fatal(err)
	}
}

// Every chart that the browser drew has the values of its table: each value it draws stands in the table, and each value of a column that
// is drawn whole is drawn. Names on an axis are places, and left out.
func TestChartsShowTheirTables(t *testing.T) {
	r := everything()
	var drawn map[string][][][]*float64
	asked(t, r, `echarts.getInstanceByDom(e).getOption().series.map(function (s) { return s.data.map(function (d) { return d && d.value || d }) })`, &drawn)
	charts := 0
	for _, s := range r.Sections {
		table := map[float64]bool{}
		if s.Result == nil {
			continue
		}
		for _, row := range s.Result.Rows {
			for c, col := range s.Result.Columns {
				if v := value(col, row[c]); !math.IsNaN(v) {
					table[coordinateOf(col.Unit, v)] = true
					if s.Charts != nil && s.Charts[0].Kind == "heat" { // a colour has three digits
						table[round(v, 3).(float64)] = true
					}
				}
			}
		}
		for i, c := range s.Charts {
			charts++
			series := drawn[sectionChart(s, i)]
			if len(series) < len(c.Series) {
				t.Errorf("%s: %d series are drawn of %d", s.ID, len(series), len(c.Series))
				continue
			}
			n := 0
			for _, points := range series {
				for _, p := range points {
					if slices.Contains(p, nil) { // a break in a line
						continue
					}
					for axis, v := range p {
						named := c.Kind == "heat" && axis < 2 || c.Kind == "bar" && axis == 1 && lying(c) || c.Kind == "dots" && axis == 1
						if named {
							continue
						}
						if n++; !table[*v] {
							t.Fatalf("%s: %v is drawn and stands nowhere in the table", s.ID, *v)
						}
					}
				}
			}
			if n < len(s.Result.Rows) {
				t.Errorf("%s: %d values are drawn of a table of %d rows", s.ID, n, len(s.Result.Rows))
			}
		}
	}
	if charts != 4 {
		t.Errorf("%d charts were looked at, want 4", charts)
	}
	all := slices.Collect(func(yield func(float64) bool) {
		for _, p := range drawn["errors-chart-1"][0] {
			if !yield(*p[0]) {
				return
			}
		}
	})
	if !slices.Equal(all, []float64{1204, 311, 12}) {
		t.Errorf("errors are drawn as %v", all)
	}
}

// No text of a chart reaches over its edge, where it would be cut; the last time of a line stands at the very end of its axis.
func TestChartTextIsWhole(t *testing.T) {
	r, line := everything(), timeResult() // one line: no names at its end, which take room
	line.Rows, line.Chart = nil, "line x=start_us y=p50"
	for i := range int64(18) {
		line.Rows = append(line.Rows, []any{"all", 1795392090000000 + i*10e6, int64(20), 200.0, 400.0})
	}
	r.Sections = append(r.Sections, section("short", line, ""))
	var cut map[string][]string
	asked(t, r, `function (zr) { return zr.storage.getDisplayList(true).filter(function (d) {
		if (!d.style || !d.style.text || d.invisible || d.ignore) return false
		var b = d.getBoundingRect().clone()
		if (d.transform) b.applyTransform(d.transform)
		return b.x < -.5 || b.y < -.5 || b.x + b.width > zr.getWidth() + .5 || b.y + b.height > zr.getHeight() + .5
	}).map(function (d) { return d.style.text }) }(echarts.getInstanceByDom(e).getZr())`, &cut)
	if len(cut) != 5 {
		t.Errorf("%d charts were looked at, want 5", len(cut))
	}
	for id, texts := range cut {
		if len(texts) > 0 {
			t.Errorf("%s: %q reach over the edge", id, texts)
		}
	}
}
