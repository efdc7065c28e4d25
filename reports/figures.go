package reports

import (
	"fmt"
	"slices"
	"strings"

	"reprise/analyze"
)

// rowView reads a row of a result by column name. A nil view, a column that is not there and NULL are all unknown.
type rowView struct {
	r   *analyze.Result
	row []any
}

func (v rowView) get(name string) any {
	if v.r == nil {
		return nil
	}
	if c := indexOf(v.r.Columns, name); c >= 0 {
		return v.row[c]
	}
	return nil
}

// num is nil when the value is unknown.
func (v rowView) num(name string) *float64 {
	switch n := v.get(name).(type) {
	case int64:
		f := float64(n)
		return &f
	case float64:
		return &n
	}
	return nil
}

func (v rowView) text(name string) string { return text(v.get(name)) }

// counted prints a whole number, n/a when unknown.
func (v rowView) counted(name string) string {
	if n, ok := v.get(name).(int64); ok {
		return count(n)
	}
	return unknown
}

// counts is a counted column and what it counts.
func counts(v rowView, name, what string) string {
	if n, ok := v.get(name).(int64); ok {
		return plural(int(n), what)
	}
	return unknown + " " + what + "s"
}

func views(r *analyze.Result) []rowView {
	if r == nil {
		return nil
	}
	out := make([]rowView, len(r.Rows))
	for i, row := range r.Rows {
		out[i] = rowView{r, row}
	}
	return out
}

// largest are the rows of the groups with most requests, as many as the first screen has room for.
func largest(rows []rowView) []rowView {
	slices.SortStableFunc(rows, func(a, b rowView) int { return int(orZero(b.num("n")) - orZero(a.num("n"))) })
	return rows[:min(len(rows), maxFigureGroups)]
}

// maxFigureGroups keeps the first screen a screen when results are grouped.
const maxFigureGroups = 3

// figures makes the first screen: one line a question, at most three groups each. A query that has no result has no line.
func figures(results map[string]*analyze.Result) []Figure {
	var out []Figure
	add := func(query string, line func(rowView) Figure) {
		for _, v := range largest(views(results[query])) {
			f := line(v)
			if g := v.text("grp"); len(results[query].Rows) > 1 {
				f.Name += " " + shorten(g, 24)
			}
			out = append(out, f)
		}
	}
	add("overview", requestsFigure)
	out = append(out, latencyFigures(results["latency"])...)
	add("goodput", goodputFigure)
	add("token_gaps", gapsFigure)
	add("decode_stalls", stallsFigure)
	add("system_prompt", promptsFigure)
	add("prefix_cache", cacheFigure)
	return out
}

func orZero(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

func requestsFigure(v rowView) Figure {
	var parts []string
	for _, s := range []string{"ok", "failed", "cancelled", "client_errors", "in_flight", "unknown"} {
		if n := v.num(s); n != nil && *n > 0 {
			parts = append(parts, v.counted(s)+" "+strings.ReplaceAll(s, "_", " "))
		}
	}
	value := counts(v, "n", "attempt")
	if v.counted("calls") != v.counted("n") {
		value += " of " + counts(v, "calls", "call")
	}
	return Figure{"requests", value, strings.Join(parts, ", ") + spanText(v)}
}

func spanText(v rowView) string {
	from, ok1 := v.get("first_arrival_us").(int64)
	to, ok2 := v.get("last_arrival_us").(int64)
	if !ok1 || !ok2 {
		return ""
	}
	const layout = "2006-01-02 15:04:05"
	return "; arrived " + utc(from, layout) + " to " + utc(to, layout) + " UTC"
}

// latencyFigures has one line for each of the three metrics people ask for, of the largest groups.
func latencyFigures(r *analyze.Result) (out []Figure) {
	for _, metric := range []string{"ttft", "tpot", "e2e"} {
		rows := slices.DeleteFunc(views(r), func(v rowView) bool { return v.text("metric") != metric })
		many := len(rows) > 1
		for _, v := range largest(rows) {
			f := latencyFigure(v)
			if many {
				f.Name += " " + shorten(v.text("grp"), 24)
			}
			out = append(out, f)
		}
	}
	return out
}

func latencyFigure(v rowView) Figure {
	f := Figure{Name: strings.ToUpper(v.text("metric")), Note: "n " + v.counted("n")}
	n, _ := v.get("n").(int64)
	marks := ""
	var parts []string
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", .5}, {"p95", .95}, {"p99", .99}} {
		p := v.num(q.name)
		if p == nil {
			parts = append(parts, q.name+" "+unknown)
			continue
		}
		m := supportMark(n, q.q, true)
		if !strings.Contains(marks, m) {
			marks += m
		}
		parts = append(parts, q.name+" "+duration(*p)+m)
	}
	f.Value = strings.Join(parts, "   ")
	if total := v.num("n_total"); total != nil && *total > 0 {
		f.Note += " of " + v.counted("n_total") + " answered calls (" + percent(float64(n) / *total) + ")"
	}
	if marks != "" {
		f.Note += "; " + marks + " low n"
	}
	return f
}

func goodputFigure(v rowView) Figure {
	f := Figure{Name: "goodput", Value: "no request can be judged"}
	if a := attainmentOf(v, 1); a != nil {
		f.Value = attained(a) + " of calls good"
	}
	parts := []string{v.counted("good") + " good, " + v.counted("bad") + " bad"}
	if n := v.num("unevaluable"); n != nil && *n > 0 {
		parts = append(parts, v.counted("unevaluable")+" cannot be judged")
	}
	for _, m := range []string{"ttft", "ttfvt", "tpot", "e2e", "max_gap"} {
		if a := v.num(m + "_attainment"); a != nil {
			parts = append(parts, m+" "+percent(*a))
		}
	}
	if g := v.num("goodput_ratio"); g != nil {
		parts = append(parts, percent(*g)+" of tokens in good calls")
	}
	f.Note = strings.Join(parts, ", ")
	return f
}

// attainmentOf judges a row of goodput; nil when no call can be judged.
func attainmentOf(v rowView, objective float64) *analyze.Attainment {
	good, ok1 := v.get("good").(int64)
	bad, ok2 := v.get("bad").(int64)
	if !ok1 || !ok2 {
		return nil
	}
	return analyze.Attain(good, bad, objective)
}

// attained is the share with its interval, all with the same decimals: enough to tell what is missing to 100.
func attained(a *analyze.Attainment) string {
	d := percentDecimals([]float64{100 * a.Share, 100 * a.Low, 100 * a.High, 100 - 100*a.Share, 100 - 100*a.Low, 100 - 100*a.High})
	return perCent(100*a.Share, d) + " % [" + perCent(100*a.Low, d) + ", " + perCent(100*a.High, d) + "]"
}

func gapsFigure(v rowView) Figure {
	f := Figure{Name: "chunk gaps", Value: "p50 " + orUnknown(v.num("p50_ms"), duration) + "   p99 " + orUnknown(v.num("p99_ms"), duration), Note: "n " + v.counted("n")}
	if s := v.num("requests_over_100ms"); s != nil {
		f.Note += "; " + percent(*s) + " of requests have a gap over 100 ms"
	}
	return f
}

// stallsFigure says what the share is of: the decode time whose lost part is known, which may be less than all of it.
func stallsFigure(v rowView) Figure {
	if v.text("form") == "buffered" {
		return Figure{"stalls", unknown, v.counted("streams") + " streams came in bursts, which say nothing of it"}
	}
	share, of := v.num("lost_share"), v.num("decode_s")
	if share == nil {
		return Figure{"stalls", unknown, "the cost of a prefill is not known"}
	}
	how := map[string]string{"chunks": "from chunk gaps", "ends": "estimated from start, first token and end"}[v.text("form")]
	if how == "" {
		how = "form " + v.text("form")
	}
	if lost := v.num("lost_s"); lost != nil && of != nil && *lost < .999**share**of {
		of = new(*lost / *share)
	}
	return Figure{"stalls", percent(*share) + " of decode time lost to other requests' prefills",
		how + "; " + orUnknown(v.num("lost_s"), one) + " s of " + orUnknown(of, one) + " s, " + v.counted("streams") + " streams"}
}

func promptsFigure(v rowView) Figure {
	return Figure{"prompts", orUnknown(v.num("instruction_share"), percent) + " of input tokens are system prompts, " + orUnknown(v.num("repeated_share"), percent) + " repeat one seen before",
		"n " + v.counted("n") + " of " + v.counted("n_total") + ", " + v.counted("prompts") + " different system prompts"}
}

// cacheFigure keeps apart what was reported and what a cache could do: their calls need not be the same.
func cacheFigure(v rowView) Figure {
	return Figure{"cache", orUnknown(v.num("realised"), percent) + " of input tokens came from cache; an endless cache would have had " + orUnknown(v.num("ideal_fleet"), percent),
		fmt.Sprintf("n %s report cached tokens, %s have known prefixes; efficiency %s", v.counted("n_reported"), v.counted("n"), orUnknown(v.num("efficiency"), percent))}
}
