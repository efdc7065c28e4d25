package analyze

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reprise/analyze/stats"
)

// WeekPart is a value of a dimension whose calls missed the objective more often than in the week before, by more than chance.
type WeekPart struct {
	Dimension, Name string
	N, Bad          int64 // judged calls of the week
	Share, Last     float64
	Extra           float64 // bad calls beyond what the share of the week before would have given
	OfBad           float64 // this part's bad calls as a share of all bad calls of the week
	PAdj            float64
}

// parts looks in every dimension for values that got worse.
func (w *weekly) parts(ctx context.Context) error {
	res, err := w.query(ctx, "weekly_shares", w.both(), nil)
	if err != nil {
		return err
	}
	w.out.Results["weekly_shares"] = res
	at, err := columnIndex(res, "dimension", "name", "week_us", "n", "bad")
	if err != nil {
		return err
	}
	var judged, bad int64
	for _, g := range w.out.Groups {
		judged, bad = judged+g.This.Good+g.This.Bad, bad+g.This.Bad
	}
	var found []WeekPart
	var p []float64
	for i := 1; i < len(res.Rows); i++ { // rows of a part stand together, the week before first
		last, this := res.Rows[i-1], res.Rows[i]
		if last[at["dimension"]] != this[at["dimension"]] || last[at["name"]] != this[at["name"]] {
			continue
		}
		n := func(row []any, name string) int64 { return *integer(row[at[name]]) }
		part := WeekPart{Dimension: this[at["dimension"]].(string), Name: this[at["name"]].(string), N: n(this, "n"), Bad: n(this, "bad")}
		part.Share, part.Last = 1-float64(part.Bad)/float64(part.N), 1-float64(n(last, "bad"))/float64(n(last, "n"))
		part.Extra = float64(part.Bad) - float64(part.N)*(1-part.Last)
		if bad > 0 {
			part.OfBad = float64(part.Bad) / float64(bad)
		}
		found, p = append(found, part), append(p, stats.TwoProportions(int(part.Bad), int(part.N), int(n(last, "bad")), int(n(last, "n"))))
	}
	for i, adjusted := range stats.BH(p) {
		if found[i].PAdj = adjusted; adjusted <= falseAlarms && found[i].Extra > 0 && found[i].N < judged {
			w.out.Parts = append(w.out.Parts, found[i])
		}
	}
	slices.SortStableFunc(w.out.Parts, func(a, b WeekPart) int { return cmp.Or(cmp.Compare(b.Extra, a.Extra), cmp.Compare(a.Share, b.Share)) })
	return nil
}

// burn reads what the burn rate rules saw of the week. Their windows reach back into the week before.
func (w *weekly) burn(ctx context.Context) error {
	rules, err := w.query(ctx, "burn_rules", w.both(), map[string]string{"since_us": strconv.FormatInt(w.o.From, 10)})
	if err != nil {
		return err
	}
	alerts, err := w.query(ctx, "alerts", w.both(), map[string]string{"bridge_windows": "1"})
	if err != nil {
		return err
	}
	at, err := columnIndex(alerts, "end_us")
	if err != nil {
		return err
	}
	alerts.Rows = slices.DeleteFunc(alerts.Rows, func(row []any) bool { return row[at["end_us"]].(int64) <= w.o.From })
	w.out.Results["burn_rules"], w.out.Results["alerts"] = rules, alerts
	w.out.Skipped, alerts.Warnings = alerts.Warnings, nil // said once, for the whole review
	if w.out.Seen[0] == w.out.Seen[1] {
		return nil
	}
	// a curve for the eye: the rule in the middle, at every half hour
	curve, err := w.query(ctx, "burn_rate", w.both(), map[string]string{"only": "6h/30m",
		"since_us": strconv.FormatInt(w.o.From, 10), "every_us": strconv.Itoa(hourMicros / 2)})
	if err != nil {
		return err
	}
	curve.Warnings = nil
	w.out.Results["burn_rate"] = curve
	return nil
}

// skippedRules names the burn rate rules whose long window is longer than the log.
func (e *Engine) skippedRules(ctx context.Context, r *Run, sc Scope) ([]Warning, error) {
	res, err := e.look(ctx, r, sc, "SELECT rule, long_us / 3.6e9, (last_us - first_us) / 3.6e9 FROM burn_windows WHERE from_us > last_us ORDER BY long_us")
	if err != nil {
		return nil, err
	}
	var out []Warning
	for _, row := range res.Rows {
		out = append(out, Warning{"rule_skipped", fmt.Sprintf("rule %s is skipped: it looks back %g h, the log covers %.1f h", row[0], *number(row[1]), *number(row[2]))})
	}
	return out, nil
}

// weekFigures are queries of the week alone; of those with last the week before is asked too.
var weekFigures = []struct {
	name string
	last bool
}{{"goodput", true}, {"system_prompt", true}, {"cost", true}, {"errors", false}, {"coverage", false}}

// figures runs the queries of the week.
func (w *weekly) figures(ctx context.Context) error {
	res, err := w.look(ctx, w.run, w.this(), "SELECT count(*) AS n, count(system_tokens) AS prompts FROM requests")
	if err != nil {
		return err
	}
	has := levels{requests: deref(integer(res.Rows[0][0])), prompts: deref(integer(res.Rows[0][1]))} // what these queries hang on
	for _, q := range weekFigures {
		if _, priced := w.o.Hardware["price_gpu_hour"]; q.name == "cost" && !priced {
			continue
		}
		if why := has.lacks(q.name); why != "" {
			w.out.Missing[q.name] = why
			continue
		}
		if w.out.Results[q.name], err = w.query(ctx, q.name, w.this(), nil); err != nil {
			return err
		}
		if q.last && w.hasLast() {
			if w.out.Results["last/"+q.name], err = w.query(ctx, q.name, w.last(), nil); err != nil {
				return err
			}
		}
	}
	rules, err := w.query(ctx, "goodput_denominators", w.this(), nil)
	if err == nil && rulesDiffer(rules) {
		w.out.Results[rules.Query] = rules
	}
	return err
}

// rulesDiffer says whether the rules of goodput_denominators give some group different shares.
func rulesDiffer(r *Result) bool {
	at, err := columnIndex(r, "grp", "share")
	if err != nil {
		return false
	}
	for i := 1; i < len(r.Rows); i++ {
		a, b := r.Rows[i-1], r.Rows[i]
		if a[at["grp"]] == b[at["grp"]] && a[at["share"]] != b[at["share"]] {
			return true
		}
	}
	return false
}

// incidents looks in bins of ten minutes, or shorter ones where the log is.
func (w *weekly) incidents(ctx context.Context) (err error) {
	sc := w.this()
	sc.By = nil
	if w.out.Incidents, err = w.incidentsIn(ctx, w.run, sc, min(10*minuteMicros, niceBin(w.out.Seen[1]-w.out.Seen[0], incidentBins, minIncidentBin))); err != nil {
		return err
	}
	if len(w.out.Incidents) == 0 {
		return nil
	}
	var windows []string
	for _, i := range w.out.Incidents {
		windows = append(windows, fmt.Sprintf("arrival_us >= %d AND arrival_us < %d", i.From, i.To))
	}
	res, err := w.look(ctx, w.run, sc, "SELECT count(*) AS n FROM calls WHERE generation AND NOT cached_response AND verdict = 'bad' AND ("+strings.Join(windows, " OR ")+")")
	if err == nil {
		w.out.Within = deref(integer(res.Rows[0][0]))
	}
	return err
}
