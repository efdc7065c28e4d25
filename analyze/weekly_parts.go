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

// WeekDelta is a percentile beside that of the week before, milliseconds. Ratio and its interval (hours of the week resampled) are
// nil where they cannot be given.
type WeekDelta struct {
	Group, Metric string
	Quantile      float64
	N, LastN      int64
	This, Last    float64
	Ratio         *RatioCI
	P, PAdj       *float64
	Verdict       string
}

// WeekPart is a value of a dimension whose calls missed the objective more often than in the week before, by more than chance.
type WeekPart struct {
	Dimension, Name string
	N, Bad          int64 // judged calls of the week
	Share, Last     float64
	Extra           float64 // bad calls beyond what the share of the week before would have given
	OfBad           float64 // this part's bad calls as a share of all bad calls of the week
	PAdj            float64
}

// Bounds of the work on percentiles.
const (
	weekSample    = 200_000 // values of a metric and week that an interval is taken over; more are thinned evenly
	weekGroupsMax = 12      // groups whose percentiles are compared: those with most calls
)

// latency compares percentiles with the week before.
func (w *weekly) latency(ctx context.Context) error {
	res, err := w.query(ctx, "weekly_latency", w.both(), nil)
	if err != nil {
		return err
	}
	at, err := columnIndex(res, "metric", "grp", "week_us", "n", "p50", "p95", "p99")
	if err != nil {
		return err
	}
	w.out.Results["weekly_latency"] = res
	find := func(metric, group string, week int64) []any {
		i := slices.IndexFunc(res.Rows, func(row []any) bool {
			return row[at["metric"]] == metric && row[at["grp"]] == group && row[at["week_us"]] == week && deref(integer(row[at["n"]])) > 0
		})
		if i < 0 {
			return nil
		}
		return res.Rows[i]
	}
	samples, err := w.samples(ctx, res, at["n"])
	if err != nil {
		return err
	}
	for _, g := range w.out.Groups[:min(len(w.out.Groups), weekGroupsMax)] {
		for _, metric := range weekMetrics {
			this, last := find(metric, g.Name, w.o.From), find(metric, g.Name, w.o.From-weekMicros)
			if this == nil || last == nil {
				continue
			}
			changes := samples[sampleKey{g.Name, metric}].changes(w.o.Seed)
			for i, p := range weekQuantiles {
				d := WeekDelta{Group: g.Name, Metric: metric, Quantile: p, N: *integer(this[at["n"]]), LastN: *integer(last[at["n"]]), Verdict: Unclear}
				column := at[fmt.Sprintf("p%g", 100*p)]
				d.This, d.Last = *number(this[column]), *number(last[column])
				if changes != nil && changes[i].Ratio != nil {
					d.Ratio, d.P = ratioCI(changes[i]), &changes[i].P
				}
				w.out.Latency = append(w.out.Latency, d)
			}
		}
	}
	w.adjustLatency()
	return nil
}

var (
	weekMetrics   = []string{"ttft", "tpot", "e2e"}
	weekQuantiles = []float64{.5, .95, .99}
)

func (w *weekly) adjustLatency() {
	var p []float64
	for _, d := range w.out.Latency {
		if d.P != nil {
			p = append(p, *d.P)
		}
	}
	p = stats.BH(p)
	for i := range w.out.Latency {
		if d := &w.out.Latency[i]; d.P != nil {
			d.PAdj, p = &p[0], p[1:]
			d.Verdict = verdictOf(&d.Ratio.CI, *d.PAdj, 1, true)
		}
	}
}

type sampleKey struct{ group, metric string }

// weekSamples are the values of one metric of a group by hour of the week, last week's first.
type weekSamples struct {
	base, cand []stats.Value
	hours      [2]map[int32]bool
}

// samples reads the values that intervals are taken over, every so manieth call.
func (w *weekly) samples(ctx context.Context, latency *Result, n int) (map[sampleKey]*weekSamples, error) {
	var most int64
	for _, row := range latency.Rows {
		most = max(most, deref(integer(row[n])))
	}
	every := most/weekSample + 1
	res, err := w.SQL(ctx, w.run, w.both(), fmt.Sprintf(`SELECT grp, arrival_us - %d AS since_us, ttft_us, tpot_us, e2e_us FROM calls
WHERE latency AND arrival_us IS NOT NULL AND hash(request_id) %% %d = 0 ORDER BY arrival_us, request_id`, w.o.From, every))
	if err != nil {
		return nil, err
	}
	out := map[sampleKey]*weekSamples{}
	for _, row := range res.Rows {
		since := row[1].(int64)
		for i, metric := range weekMetrics {
			v := number(row[2+i])
			if v == nil {
				continue
			}
			key := sampleKey{row[0].(string), metric}
			if out[key] == nil {
				out[key] = &weekSamples{hours: [2]map[int32]bool{{}, {}}}
			}
			out[key].add(since, *v/1e3)
		}
	}
	return out, nil
}

func (s *weekSamples) add(since int64, v float64) {
	if since < 0 {
		hour := int32((since + weekMicros) / hourMicros)
		s.base, s.hours[1][hour] = append(s.base, stats.Value{V: v, Cluster: hour}), true
		return
	}
	hour := int32(since / hourMicros)
	s.cand, s.hours[0][hour] = append(s.cand, stats.Value{V: v, Cluster: hour}), true
}

// changes is nil where hours are too few to resample.
func (s *weekSamples) changes(seed uint64) []stats.Change {
	if s == nil || len(s.hours[0]) < fewClusters || len(s.hours[1]) < fewClusters {
		return nil
	}
	return stats.Bootstrap{Clusters: weekMicros / hourMicros, B: resamples / 2, Seed: seed}.Quantiles(s.base, s.cand, weekQuantiles...)
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
	alerts.Rows = slices.DeleteFunc(alerts.Rows, func(row []any) bool { return row[at["end_us"]].(int64) < w.o.From })
	w.out.Results["burn_rules"], w.out.Results["alerts"] = rules, alerts
	w.out.Skipped, alerts.Warnings = alerts.Warnings, nil // said once, for the whole review
	if w.out.Seen[0] == w.out.Seen[1] {
		return nil
	}
	// a curve for the eye: the rule in the middle, at every half hour
	curve, err := w.query(ctx, "burn_rate", w.scope(w.o.From-weekMicros/7, w.out.To), nil)
	if err != nil {
		return err
	}
	if at, err = columnIndex(curve, "rule", "at_us"); err != nil {
		return err
	}
	curve.Rows = slices.DeleteFunc(curve.Rows, func(row []any) bool {
		end := row[at["at_us"]].(int64)
		return row[at["rule"]] != "6h/30m" || end < w.o.From || end%(hourMicros/2) != 0
	})
	curve.Warnings = nil
	w.out.Results["burn_rate"] = curve
	return nil
}

// skippedRules names the burn rate rules whose long window is longer than the log.
func (e *Engine) skippedRules(ctx context.Context, r *Run, sc Scope) ([]Warning, error) {
	res, err := e.SQL(ctx, r, sc, "SELECT rule, long_us / 3.6e9, (last_us - first_us) / 3.6e9 FROM burn_windows WHERE from_us > last_us ORDER BY long_us")
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
	has, err := w.levels(ctx, w.run, w.this())
	if err != nil {
		return err
	}
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
	res, err := w.SQL(ctx, w.run, sc, "SELECT count(*) AS n FROM calls WHERE generation AND NOT cached_response AND verdict = 'bad' AND ("+strings.Join(windows, " OR ")+")")
	if err == nil {
		w.out.Within = deref(integer(res.Rows[0][0]))
	}
	return err
}
