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

// Every chart that the browser drew has the values of its table: each value it draws stands in the table, and each value of a column that
// is drawn whole is drawn. Names on an axis are places, and left out.
func TestChartsShowTheirTables(t *testing.T) {
	b, r := newBrowser(t), everything()
	page := bytes.Replace(page1(t, r), []byte("script-src "), []byte("script-src 'unsafe-inline' "), 1)
	page = hashes.ReplaceAll(page, nil) // a hash would forbid the script below
	end := bytes.LastIndex(page, []byte("</body>"))
	page = append(page[:end:end], `<script>var all = {}; document.querySelectorAll(".chart").forEach(function (e) {
		all[e.id] = echarts.getInstanceByDom(e).getOption().series.map(function (s) { return s.data.map(function (d) { return d && d.value || d }) }) });
		parent.report(name, all)</script></body>`...)
	var drawn map[string][][][]*float64
	if err := json.Unmarshal(b.framed(map[string][]byte{"page": page}, "")["page"], &drawn); err != nil {
		t.Fatal(err)
	}
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
