package reports

import (
	"encoding/json"
)

// extras are the options that go-echarts has no field for: times in UTC, tooltips that draw text instead of HTML (a name
// can not become an element), names at line ends, room for labels.
func extras(c Chart) map[string]any {
	// The first name on top, long ones cut; the tooltip has them whole.
	namesDown := []any{map[string]any{"inverse": true, "nameLocation": "start", "nameTextStyle": map[string]any{"align": "left"},
		"axisLabel": map[string]any{"width": 110, "overflow": "truncate"}}}
	out := map[string]any{
		"useUTC":  true,
		"tooltip": map[string]any{"renderMode": "richText", "confine": true},
		"grid":    map[string]any{"left": 8, "right": rightRoom(c), "top": topRoom(c), "bottom": 36, "containLabel": true},
		"xAxis":   []any{map[string]any{"axisLabel": map[string]any{"hideOverlap": true}}},
		"yAxis":   []any{map[string]any{"nameTextStyle": map[string]any{"align": "left"}}},
	}
	if c.Kind == "dots" || lying(c) { // names of places come out a little wider than the room that is made for them
		out["grid"].(map[string]any)["left"] = 14
	}
	switch {
	case c.Kind == "heat":
		heatExtras(out, c)
	case c.Kind == "dots":
		out["yAxis"], out["xAxis"] = namesDown, []any{map[string]any{"scale": true}}
		if c.Series[0].Tone != "" {
			ratioExtras(out, c)
		}
	case c.Kind == "bar" && len(c.Series) > 1: // colour alone must not tell the bars of a place apart
		out["aria"] = map[string]any{"enabled": true, "label": map[string]any{"enabled": false}, "decal": map[string]any{"show": true}}
		if lying(c) {
			out["yAxis"] = namesDown
		}
	case lying(c):
		out["yAxis"] = namesDown
	case c.Kind != "bar" && !needsLegend(c) && len(c.Series) > 1:
		out["series"] = endLabels(c)
	}
	if c.Y.Unit == "%" && c.Kind == "step" {
		out["yAxis"].([]any)[0].(map[string]any)["max"] = 100
	}
	if c.Kind == "line" && c.X.Unit == "time" && longest(c) > 100 {
		out["dataZoom"] = []any{map[string]any{"type": "slider", "height": 18, "bottom": 4}}
		out["grid"].(map[string]any)["bottom"] = 64
	}
	return out
}

func topRoom(c Chart) int {
	if needsLegend(c) {
		return 60
	}
	return 32
}

const labelRunes = 15

// rightRoom keeps place for the names at line ends, or for half of a time that stands under the very end of the axis.
func rightRoom(c Chart) int {
	if needsLegend(c) || len(c.Series) < 2 {
		return 32
	}
	longest := 0
	for _, s := range c.Series {
		longest = max(longest, min(width(s.Name), labelRunes))
	}
	return max(32, 16+7*longest)
}

func longest(c Chart) int {
	n := 0
	for _, s := range c.Series {
		n = max(n, len(s.Points))
	}
	return n
}

func endLabels(c Chart) []any {
	out := make([]any, len(c.Series))
	for i := range out {
		out[i] = map[string]any{
			"endLabel":    map[string]any{"show": true, "formatter": "{a}", "width": 7 * labelRunes, "overflow": "truncate", "color": "inherit"},
			"labelLayout": map[string]any{"moveOverlap": "shiftY"},
		}
	}
	return out
}

// heatExtras spans the colours over the values drawn, from 0 when all are above it, and writes the values into the cells
// while there is room.
func heatExtras(out map[string]any, c Chart) {
	lo, hi := 0.0, 0.0
	for _, p := range c.Series[0].Points {
		lo, hi = min(lo, p.Z), max(hi, p.Z)
	}
	out["visualMap"] = map[string]any{"type": "continuous", "min": lo, "max": hi, "calculable": false, "orient": "horizontal",
		"right": 0, "top": 0, "itemWidth": 12, "text": []string{one(hi), one(lo)}}
	out["grid"].(map[string]any)["top"] = 56
	names := map[string]any{"width": 90, "overflow": "truncate"}
	out["xAxis"] = []any{map[string]any{"axisLabel": map[string]any{"width": 90, "overflow": "truncate", "hideOverlap": true}}}
	out["yAxis"] = []any{map[string]any{"axisLabel": names, "nameTextStyle": map[string]any{"align": "left"}}}
	if len(c.X.Names) <= 10 {
		out["xAxis"].([]any)[0].(map[string]any)["axisLabel"] = map[string]any{"width": 90, "overflow": "truncate", "interval": 0, "hideOverlap": false}
		out["series"] = []any{map[string]any{"label": map[string]any{"show": true}}}
	}
}

// ratioExtras gives dot and interval of one series one colour (--TONE stands for a colour of the page's style sheet),
// writes the names of two close marks on either side of them, and steps a logarithmic axis of ratios by twos.
func ratioExtras(out map[string]any, c Chart) {
	series := make([]any, 2*len(c.Series))
	for i, s := range c.Series {
		colour := map[string]any{"color": "--" + s.Tone}
		series[i] = map[string]any{"itemStyle": colour}
		series[len(c.Series)+i] = map[string]any{"itemStyle": colour, "lineStyle": map[string]any{"color": "--" + s.Tone, "width": 3}, "tooltip": map[string]any{"show": false}}
	}
	var sides []any
	for i := range c.Marks {
		sides = append(sides, map[string]any{"label": map[string]any{"align": []string{"right", "left"}[i%2]}})
	}
	series[0].(map[string]any)["markLine"] = map[string]any{"data": sides}
	out["series"] = series
	if c.X.Log {
		out["xAxis"].([]any)[0].(map[string]any)["logBase"] = 2
	}
}

// generic turns the option structs into plain maps, so that merge can reach into them.
func generic(v any) (map[string]any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(raw, &out)
}

// merge writes src over dst: maps key by key, lists element by element.
func merge(dst, src map[string]any) {
	for k, v := range src {
		dst[k] = merged(dst[k], v)
	}
}

func merged(dst, src any) any {
	switch s := src.(type) {
	case map[string]any:
		if d, ok := dst.(map[string]any); ok {
			merge(d, s)
			return d
		}
	case []any:
		if d, ok := dst.([]any); ok {
			for i := range min(len(d), len(s)) {
				d[i] = merged(d[i], s[i])
			}
			return append(d, s[min(len(d), len(s)):]...)
		}
	}
	return src
}
