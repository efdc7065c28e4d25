package reports

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"reprise/analyze"
)

func onlyChart(t *testing.T, r *analyze.Result) Chart {
	t.Helper()
	cs, why := chartsOf(r)
	if len(cs) != 1 || why != "" {
		t.Fatalf("%d charts (%s), want 1", len(cs), why)
	}
	return cs[0]
}

// An hour without rows is a break in the line, not a line across it.
func TestMissingHourIsABreak(t *testing.T) {
	c := onlyChart(t, timeResult())
	s := c.Series[0]
	if s.Name != "chat" {
		t.Fatalf("series %q", s.Name)
	}
	breaks := 0
	for _, p := range s.Points {
		if math.IsNaN(p.Y) {
			breaks++
			if want := float64(1795392000000000 + 600*60e6); p.X != want {
				t.Errorf("break at %v, want %v", p.X, want)
			}
		}
	}
	if breaks != 1 {
		t.Errorf("%d breaks, want 1", breaks)
	}
}

// Series that stand on no common step keep their lines.
func TestIrregularSeriesIsNotBroken(t *testing.T) {
	ss := []Series{{Points: []Point{{X: 0}, {X: 10}, {X: 25}, {X: 31}}}}
	breakGaps(ss)
	if len(ss[0].Points) != 4 {
		t.Errorf("got %v", ss[0].Points)
	}
}

func TestThinKeepsExtremesAndBreaks(t *testing.T) {
	var ps []Point
	for i := range 100000 {
		ps = append(ps, Point{X: float64(i), Y: float64(i % 10)})
	}
	ps[51234].Y, ps[70001].Y, ps[33333].Y = 1e6, -1e6, math.NaN()
	got := thin(ps, 500)
	if len(got) > 500 || got[0] != ps[0] || got[len(got)-1] != ps[len(ps)-1] {
		t.Fatalf("%d points, first %v, last %v", len(got), got[0], got[len(got)-1])
	}
	seen := map[float64]bool{}
	for i, p := range got {
		seen[p.X] = true
		if i > 0 && p.X <= got[i-1].X {
			t.Fatalf("order is lost at %d", i)
		}
	}
	if !seen[51234] || !seen[70001] || !seen[33333] {
		t.Error("highest, lowest or break is lost")
	}
}

// RPT-04: of many groups few are drawn, the extreme one among them, and the reader is told.
func TestManyGroups(t *testing.T) {
	c := onlyChart(t, manyGroups(2500, 40))
	if len(c.Series) != maxSeries {
		t.Errorf("%d series", len(c.Series))
	}
	points, top := 0, 0.0
	for _, s := range c.Series {
		points += len(s.Points)
		for _, p := range s.Points {
			top = max(top, p.Y)
		}
	}
	if points > maxPoints {
		t.Errorf("%d points", points)
	}
	if top != 987654 {
		t.Errorf("highest value drawn is %v", top)
	}
	if len(c.Notes) == 0 || !strings.Contains(c.Notes[0], "8 of 2,500 lines are drawn") {
		t.Errorf("notes %q", c.Notes)
	}
}

func TestManyBars(t *testing.T) {
	r := barResult()
	r.Rows = nil
	for i := range 1000 {
		r.Rows = append(r.Rows, []any{"class-" + count(int64(i)), int64(i % 500), nil})
	}
	c := onlyChart(t, r)
	if n := len(c.X.Names); n != maxBars || len(c.Series[0].Points) != n {
		t.Fatalf("%d bars", n)
	}
	if h := height(c); h != 720 { // a line of 20 pixels for each of 30 names
		t.Errorf("height %d", h)
	}
	for _, p := range c.Series[0].Points {
		if p.Y < 500-maxBars/2 {
			t.Errorf("a bar of %v is drawn", p.Y)
		}
	}
}

// Two units on one axis would lie; two metrics of different size on one chart hide one another.
func TestChartsPerUnitAndMetric(t *testing.T) {
	r := latencyResult()
	r.Chart = "bar x=grp y=p50,p99,n"
	cs, _ := chartsOf(r)
	var got []string
	for _, c := range cs {
		got = append(got, c.Title+"|"+axisName(c.Y))
	}
	want := "ttft: p50, p99 by grp|p50, p99 (ms);ttft: n by grp|n (requests);tpot: p50, p99 by grp|p50, p99 (ms);tpot: n by grp|n (requests)"
	if strings.Join(got, ";") != want {
		t.Errorf("got %q", got)
	}
}

// Several groups times several percentiles are lines that nobody can tell apart: the tail is drawn, and the reader told.
func TestGroupsDrawTheTail(t *testing.T) {
	c := onlyChart(t, timeResult())
	if c.Y.Name != "p99" || len(c.Series) != 2 || c.Notes[len(c.Notes)-1] != "only the table has p50: there are several groups" {
		t.Errorf("%q, %d series, notes %q", c.Y.Name, len(c.Series), c.Notes)
	}
	r := timeResult()
	r.Rows = r.Rows[2:20] // of one group
	if c := onlyChart(t, r); c.Y.Name != "p50, p99" || len(c.Series) != 2 {
		t.Errorf("%q, %d series", c.Y.Name, len(c.Series))
	}
}

func TestNoChart(t *testing.T) {
	for header, want := range map[string]string{
		"":                         "",
		"line x=start_us y=p98":    `no column "p98"`,
		"line x=start_us":          "expected x= and y=",
		"pie x=start_us y=p50":     `kind "pie"`,
		"heat x=start_us y=grp":    "for heat also v=",
		"line x=start_us size=p50": `unknown word "size"`,
	} {
		r := timeResult()
		r.Chart = header
		if cs, why := chartsOf(r); len(cs) > 0 || !strings.Contains(why, want) {
			t.Errorf("%q: %d charts, %q, want %q", header, len(cs), why, want)
		}
	}
	r := timeResult()
	for _, row := range r.Rows {
		row[3], row[4] = nil, nil
	}
	if cs, why := chartsOf(r); len(cs) > 0 || why != "No chart: not enough data, every value is unknown (n/a)." {
		t.Errorf("%d charts, %q", len(cs), why)
	}
}

// Every option object has what a page depends on: no animation, times in UTC, tooltips without HTML, named axes.
func TestOptions(t *testing.T) {
	for _, r := range []*analyze.Result{timeResult(), cdfResult(), barResult(), heatResult()} {
		raw, err := option(onlyChart(t, r))
		if err != nil {
			t.Fatal(err)
		}
		var o struct {
			Animation *bool
			UseUTC    bool
			Tooltip   struct{ RenderMode string }
			XAxis     []struct{ Name, Type string }
			YAxis     []struct{ Name, Type string }
			Color     any
			Series    []struct{ Data []any }
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			t.Fatal(err)
		}
		if o.Animation == nil || *o.Animation || !o.UseUTC || o.Tooltip.RenderMode != "richText" || o.Color != nil {
			t.Errorf("%s: %+v", r.Query, o)
		}
		if o.XAxis[0].Name == "" || o.YAxis[0].Name == "" || len(o.Series[0].Data) == 0 {
			t.Errorf("%s: axes without names or no data: %s", r.Query, raw)
		}
		if strings.ContainsAny(string(raw), "<>&\u2028\u2029") {
			t.Errorf("%s: markup in a script: %s", r.Query, raw)
		}
	}
}

// A value that is not finite must neither break the JSON nor become a zero.
func TestOptionWithNaN(t *testing.T) {
	r := timeResult()
	r.Rows = [][]any{{"chat", int64(0), int64(1), math.NaN(), 1.0}, {"chat", int64(60e6), int64(1), math.Inf(1), 2.0}}
	raw, err := option(onlyChart(t, r))
	if err != nil || !strings.Contains(string(raw), `"value":[0,null]`) {
		t.Errorf("error %v, %s", err, raw)
	}
}
