package reports

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// drawing is the part of a go-echarts chart that is used: options in, option object out. The library's own rendering is
// not: it writes names unescaped into a script and loads the script from its own host.
type drawing interface {
	Validate()
	JSON() map[string]any
}

// option returns the ECharts option object of c as JSON that is safe inside a script element: encoding/json escapes <, >
// and & and the two line separators.
func option(c Chart) (json.RawMessage, error) {
	d := draw(c)
	d.Validate()
	obj, err := generic(d.JSON())
	if err != nil {
		return nil, fmt.Errorf("chart %q: %w", c.Title, err)
	}
	for _, unused := range []string{"color", "title", "toolbox"} {
		delete(obj, unused)
	}
	merge(obj, extras(c))
	return json.Marshal(obj)
}

func draw(c Chart) drawing {
	switch c.Kind {
	case "bar":
		return drawBars(c)
	case "heat":
		return drawHeat(c)
	case "dots":
		return drawDots(c)
	}
	return drawLines(c)
}

// frame is what every chart has: no animation (a picture taken at once is the final one), tooltips, axes with names.
func frame(c Chart) []charts.GlobalOpts {
	trigger := "axis"
	if c.Kind == "heat" || c.Kind == "dots" {
		trigger = "item"
	}
	x, y := c.X, c.Y
	if lying(c) {
		x, y = y, x
	}
	return []charts.GlobalOpts{
		charts.WithAnimation(false),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: trigger}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(needsLegend(c)), Type: "scroll", Top: "0"}),
		charts.WithXAxisOpts(opts.XAxis{Type: axisType(x), Name: axisName(x), NameLocation: "middle", NameGap: 30, Data: axisData(x)}),
		charts.WithYAxisOpts(opts.YAxis{Type: axisType(y), Name: axisName(y), Data: axisData(y)}),
	}
}

// maxEndLabels is the number of lines that can carry their names at their ends; with more a legend reads better.
const maxEndLabels = 5

func needsLegend(c Chart) bool {
	lines := c.Kind == "line" || c.Kind == "step"
	return len(c.Series) > 1 && !(lines && len(c.Series) <= maxEndLabels)
}

func axisType(a Axis) string {
	switch {
	case a.Names != nil:
		return "category"
	case a.Unit == "time":
		return "time"
	case a.Log:
		return "log"
	}
	return "value"
}

func axisName(a Axis) string {
	switch a.Unit {
	case "time":
		return a.Name + " (UTC)"
	case "", "text":
		return a.Name
	}
	return a.Name + " (" + a.Unit + ")"
}

func axisData(a Axis) any {
	if a.Names == nil {
		return nil
	}
	return a.Names
}

func drawLines(c Chart) drawing {
	d := charts.NewLine()
	d.SetGlobalOptions(frame(c)...)
	for i, s := range c.Series {
		data := make([]opts.LineData, len(s.Points))
		dense := len(s.Points) > 100
		for k, p := range s.Points {
			data[k] = opts.LineData{Value: []any{coordinate(c.X, p.X), coordinate(c.Y, p.Y)}}
			if !dense || alone(s.Points, k) {
				data[k].Symbol, data[k].SymbolSize = "circle", 4
			}
		}
		style := opts.LineChart{Symbol: "none", ShowSymbol: opts.Bool(true)}
		look := []charts.SeriesOpts{marks(c, i)}
		if needsLegend(c) { // no name at its end: colour alone must not tell it
			look = append(look, charts.WithLineStyleOpts(opts.LineStyle{Type: []string{"solid", "dashed", "dotted"}[i%3]}))
		}
		if c.Kind == "step" {
			style.Step = "end"
		}
		d.AddSeries(s.Name, data, append(look, charts.WithLineChartOpts(style))...)
	}
	return d
}

// alone says that no line reaches point k: it must be drawn as a dot or it would not be seen.
func alone(ps []Point, k int) bool {
	unseen := func(i int) bool { return i < 0 || i >= len(ps) || math.IsNaN(ps[i].Y) }
	return unseen(k-1) && unseen(k+1)
}

func drawBars(c Chart) drawing {
	d := charts.NewBar()
	d.SetGlobalOptions(frame(c)...)
	if !lying(c) {
		d.SetXAxis(axisData(c.X))
	}
	for i, s := range c.Series {
		data := make([]opts.BarData, len(s.Points))
		for k, p := range s.Points {
			pair := []any{p.X, coordinate(c.Y, p.Y)}
			if lying(c) {
				slices.Reverse(pair)
			}
			data[k] = opts.BarData{Value: pair}
		}
		d.AddSeries(s.Name, data, marks(c, i))
	}
	return d
}

// lying says that bars lie on their side: names are readable only then.
func lying(c Chart) bool { return c.Kind == "bar" && c.X.Unit == "text" }

func drawHeat(c Chart) drawing {
	d := charts.NewHeatMap()
	d.SetGlobalOptions(frame(c)...)
	d.SetXAxis(axisData(c.X))
	for _, s := range c.Series {
		data := make([]opts.HeatMapData, len(s.Points))
		for k, p := range s.Points {
			data[k] = opts.HeatMapData{Value: []any{p.X, p.Y, round(p.Z, 3)}}
		}
		d.AddSeries(s.Name, data)
	}
	return d
}

// drawDots draws every point with its interval as a bar from Lo to Hi. A series has one name for both, so that the
// legend switches them together.
func drawDots(c Chart) drawing {
	d, bars := charts.NewScatter(), charts.NewLine()
	d.SetGlobalOptions(frame(c)...)
	for i, s := range c.Series {
		dots, spans := make([]opts.ScatterData, len(s.Points)), []opts.LineData{}
		for k, p := range s.Points {
			dots[k] = opts.ScatterData{Value: []any{round(p.X, 6), round(p.Y, 6)}, SymbolSize: 10, Symbol: []string{"circle", "diamond", "triangle", "rect"}[i%4]} // told apart without colour
			if math.IsNaN(p.Lo) || math.IsNaN(p.Hi) {
				continue
			}
			spans = append(spans, opts.LineData{Value: []any{round(p.Lo, 6), p.Y}}, opts.LineData{Value: []any{round(p.Hi, 6), p.Y}}, opts.LineData{Value: []any{nil, nil}})
		}
		d.AddSeries(s.Name, dots, marks(c, i))
		if len(spans) == 0 {
			continue
		}
		bars.AddSeries(s.Name, spans, charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false)}))
	}
	d.Overlap(bars)
	return d
}

// marks puts the marks and spans of a chart on its first series.
func marks(c Chart, series int) charts.SeriesOpts {
	return func(s *charts.SingleSeries) {
		if series > 0 {
			return
		}
		s.MarkLines, s.MarkAreas = markLines(c), markAreas(c)
	}
}

func markLines(c Chart) *opts.MarkLines {
	if len(c.Marks) == 0 {
		return nil
	}
	label := &opts.Label{Show: opts.Bool(true), Formatter: "{b}", Position: "insideEndTop"}
	out := &opts.MarkLines{MarkLineStyle: opts.MarkLineStyle{Symbol: []string{"none", "none"}, Label: label}}
	for _, m := range c.Marks {
		var item any = opts.MarkLineNameYAxisItem{Name: m.Name, YAxis: coordinate(c.Y, m.At)}
		if m.Upright {
			label.Position = "start" // on top: names run downwards in charts with upright marks
			item = opts.MarkLineNameXAxisItem{Name: m.Name, XAxis: coordinate(c.X, m.At)}
		}
		out.Data = append(out.Data, item)
	}
	return out
}

func markAreas(c Chart) *opts.MarkAreas {
	if len(c.Spans) == 0 {
		return nil
	}
	out := &opts.MarkAreas{MarkAreaStyle: opts.MarkAreaStyle{Label: &opts.Label{Show: opts.Bool(true)},
		ItemStyle: &opts.ItemStyle{Color: "--unsure", Opacity: opts.Float(.18)}}}
	for _, s := range c.Spans {
		out.Data = append(out.Data, []any{
			opts.MarkAreaNameXAxisItem{Name: s.Name, XAxis: coordinate(c.X, s.From)}, opts.MarkAreaNameXAxisItem{XAxis: coordinate(c.X, s.To)}})
	}
	return out
}

// coordinate is a number on an axis: milliseconds for time, nil for a break.
func coordinate(a Axis, v float64) any {
	switch {
	case math.IsNaN(v):
		return nil
	case a.Unit == "time":
		return v / 1000
	}
	return round(v, 6)
}

// round keeps some digits: with six, more than a picture can show, and tooltips stay readable. Tables have every digit.
func round(v float64, digits int) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return r
}
