package analyze

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"reprise/analyze/stats"
)

// WeeklyOptions say which week is looked at. SLO must have a term.
type WeeklyOptions struct {
	From     int64 // the week's Monday 00:00 UTC, microseconds since 1970; the week before is its base
	By       []string
	SLO      SLO
	Hardware Hardware // with a price: the cost of tokens is given
	Seed     uint64   // of the bootstrap
}

const weekMicros, hourMicros, minuteMicros = 7 * 24 * 3_600_000_000, 3_600_000_000, 60_000_000

// Weekly is the review of one week beside the one before.
type Weekly struct {
	From, To int64      // the week
	Log      [2]int64   // from the first to the last arrival of the whole log; only where the week is empty
	Seen     [2]int64   // from the first arrival to the last end, but not beyond the week: rates are over it; equal without any
	Last     [2]int64   // the same of the week before
	Silent   [][2]int64 // hours of Seen in which nothing arrived, neighbours united
	Groups   []WeekGroup
	Latency  []WeekDelta
	Parts    []WeekPart         // what got worse, most extra bad calls first
	Within   int64              // bad calls that arrived in an incident
	Skipped  []Warning          // burn rate rules longer than the log, and what else is to be said of alerts
	Results  map[string]*Result // by query name; last/NAME is of the week before
	Missing  map[string]string  // query name: why the log cannot answer it

	Incidents []Incident
}

// WeekGroup is one group under the objective. Last and the change are nil where the week before has no judged calls.
type WeekGroup struct {
	Name string
	This WeekSide
	Last *WeekSide
	*ShareChange
}

// WeekSide is a row of error_budget.
type WeekSide struct {
	Good, Bad, Unevaluable int64
	*Attainment                     // nil when no call is judged
	Allowed                *float64 // bad calls that the objective lets pass; nil when no call is judged
	Left                   *float64 // share of them that is left, below 0 when overspent; nil when none is allowed
}

// ShareChange is the difference of attainment to the week before. The interval resamples hours of the week, which bursts need;
// P is of the two-proportion test, which takes calls as independent; PAdj allows for the number of groups (Benjamini-Hochberg).
type ShareChange struct {
	Diff    float64
	CI      *[2]float64 // nil with fewer than ten hours
	P, PAdj float64
	Verdict string // better or worse when both say so, else unclear
}

// Weekly reviews a week. Sections for which the log lacks a level of detail are in Missing.
func (e *Engine) Weekly(ctx context.Context, r *Run, o WeeklyOptions) (*Weekly, error) {
	w := &weekly{Engine: e, run: r, o: o, out: &Weekly{From: o.From, To: o.From + weekMicros, Results: map[string]*Result{}, Missing: map[string]string{}}}
	for _, step := range []func(context.Context) error{w.spans, w.where, w.budgets, w.hours, w.burn, w.latency, w.parts, w.figures, w.incidents} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return w.out, nil
}

// weekly is a review in progress.
type weekly struct {
	*Engine
	run *Run
	o   WeeklyOptions
	out *Weekly
}

// scope is a range of the log, grouped as asked.
func (w *weekly) scope(from, to int64) Scope {
	return Scope{From: &from, To: &to, By: w.o.By, SLO: w.o.SLO, Hardware: w.o.Hardware}
}

// both covers the week and the one before.
func (w *weekly) both() Scope { return w.scope(w.o.From-weekMicros, w.out.To) }

// this is the part of the week that the log covers: rates are over it.
func (w *weekly) this() Scope { return w.scope(w.out.Seen[0], w.out.Seen[1]) }

func (w *weekly) last() Scope { return w.scope(w.out.Last[0], w.out.Last[1]) }

func (w *weekly) hasLast() bool { return w.out.Last[0] < w.out.Last[1] }

// spans finds when the first and last calls of both weeks arrived, and counts what is in them: one look for the coverage of all that follows.
func (w *weekly) spans(ctx context.Context) error {
	w.out.Seen, w.out.Last = [2]int64{w.o.From, w.o.From}, [2]int64{w.o.From - weekMicros, w.o.From - weekMicros}
	parts, err := w.halves(ctx, w.run, w.both(), &w.o.From)
	if err != nil {
		return err
	}
	for i, span := range []*[2]int64{&w.out.Last, &w.out.Seen} {
		p := parts[i]
		if p.first == nil {
			continue
		}
		*span = [2]int64{*p.first, min(*p.last, span[0]+weekMicros, w.out.To)}
		if parts[0].clockless == 0 { // else some lie where only their own clock says
			w.seen[keyOf(w.run, w.scope(span[0], span[1]))] = p.seen
		}
	}
	w.seen[keyOf(w.run, w.both())] = parts[0].and(parts[1].seen)
	return nil
}

func (w *weekly) query(ctx context.Context, name string, sc Scope, params map[string]string) (*Result, error) {
	return w.Query(ctx, w.run, name, sc, params)
}

// where tells of which time the log is, when it holds nothing of the week.
func (w *weekly) where(ctx context.Context) error {
	if w.out.Seen[0] < w.out.Seen[1] {
		return nil
	}
	id, err := w.Identify(ctx, w.run)
	if err == nil && id.FirstUS != nil {
		w.out.Log = [2]int64{*id.FirstUS, *id.LastUS}
	}
	return err
}

// budgets reads the error budgets of both weeks.
func (w *weekly) budgets(ctx context.Context) error {
	res, err := w.query(ctx, "error_budget", w.both(), nil)
	if err != nil {
		return err
	}
	sides := [2]map[string]WeekSide{{}, {}}
	at, err := columnIndex(res, "week_us", "grp", "good", "bad", "unevaluable", "allowed", "left_share")
	if err != nil {
		return err
	}
	for _, row := range res.Rows {
		n := func(name string) int64 { return deref(integer(row[at[name]])) }
		s := WeekSide{Good: n("good"), Bad: n("bad"), Unevaluable: n("unevaluable"), Left: number(row[at["left_share"]])}
		s.Attainment, s.Allowed = Attain(s.Good, s.Bad, w.o.SLO.Objective), number(row[at["allowed"]])
		sides[(w.o.From-n("week_us"))/weekMicros][row[at["grp"]].(string)] = s
	}
	w.out.Results["error_budget"] = res
	for _, name := range slices.Sorted(maps.Keys(sides[0])) {
		g := WeekGroup{Name: name, This: sides[0][name]}
		if last, ok := sides[1][name]; ok && last.Attainment != nil {
			g.Last = &last
		}
		w.out.Groups = append(w.out.Groups, g)
	}
	slices.SortStableFunc(w.out.Groups, func(a, b WeekGroup) int { return int(b.This.Good + b.This.Bad - a.This.Good - a.This.Bad) })
	return nil
}

// hours reads both weeks by the hour: what changed, and when nothing arrived.
func (w *weekly) hours(ctx context.Context) error {
	res, err := w.query(ctx, "goodput_over_time", w.both(), map[string]string{"bin_us": strconv.Itoa(hourMicros)})
	if err != nil {
		return err
	}
	at, err := columnIndex(res, "grp", "start_us", "good", "bad")
	if err != nil {
		return err
	}
	byGroup, busy, shown := map[string]*weekHours{}, map[int64]bool{}, [][]any{}
	for _, row := range res.Rows {
		start, name := row[at["start_us"]].(int64), row[at["grp"]].(string)
		if byGroup[name] == nil {
			byGroup[name] = &weekHours{}
		}
		byGroup[name].add(start-w.o.From, float64(*integer(row[at["good"]])), float64(*integer(row[at["bad"]])))
		if start >= w.o.From {
			busy[start], shown = true, append(shown, row)
		}
	}
	res.Rows = shown
	w.out.Results["goodput_over_time"] = res
	for at := w.out.Seen[0] - w.out.Seen[0]%hourMicros; at < w.out.Seen[1]; at += hourMicros {
		if n := len(w.out.Silent); busy[at] {
			continue
		} else if n > 0 && w.out.Silent[n-1][1] == at {
			w.out.Silent[n-1][1] += hourMicros
		} else {
			w.out.Silent = append(w.out.Silent, [2]int64{at, at + hourMicros})
		}
	}
	w.changes(byGroup)
	return nil
}

// weekHours are sums by hour of the week, of this week [0] and the last [1].
type weekHours struct {
	good, judged [2][weekMicros / hourMicros]float64
}

func (h *weekHours) add(since int64, good, bad float64) {
	week := 0
	if since < 0 {
		week, since = 1, since+weekMicros
	}
	h.good[week][since/hourMicros] += good
	h.judged[week][since/hourMicros] += good + bad
}

// busy counts the hours with judged calls.
func (h *weekHours) busy(week int) (n int) {
	for _, v := range h.judged[week] {
		if v > 0 {
			n++
		}
	}
	return n
}

// changes compares the attainment of each group with the week before.
func (w *weekly) changes(hours map[string]*weekHours) {
	var p []float64
	for i := range w.out.Groups {
		g := &w.out.Groups[i]
		if g.Last == nil || g.This.Attainment == nil {
			continue
		}
		t, l := g.This, g.Last
		c := &ShareChange{Diff: t.Share - l.Share, P: stats.TwoProportions(int(t.Bad), int(t.Good+t.Bad), int(l.Bad), int(l.Good+l.Bad)), Verdict: Unclear}
		if h := hours[g.Name]; h.busy(0) >= fewClusters && h.busy(1) >= fewClusters {
			d := stats.Bootstrap{Clusters: weekMicros / hourMicros, B: resamples, Seed: w.o.Seed}.Rates(h.good[1][:], h.judged[1][:], h.good[0][:], h.judged[0][:]).Diff
			c.CI = &[2]float64{d.Lo, d.Hi}
		}
		g.ShareChange, p = c, append(p, c.P)
	}
	p = stats.BH(p)
	for _, g := range w.out.Groups {
		if c := g.ShareChange; c != nil {
			c.PAdj, p = p[0], p[1:]
			c.Verdict = verdictOf(c.CI, c.PAdj, 0, false)
		}
	}
}

// Unclear is the verdict of a change that may be noise.
const Unclear = "unclear"

// falseAlarms is the share of false alarms accepted among the changes named (metrics.md 2.4).
const falseAlarms = .1

// verdictOf says whether an interval lies on one side of no change (at) and the adjusted p-value agrees.
func verdictOf(ci *[2]float64, p, at float64, lowerIsBetter bool) string {
	switch {
	case ci == nil || p > falseAlarms || ci[0] <= at && at <= ci[1]:
		return Unclear
	case (ci[1] < at) == lowerIsBetter:
		return Better
	}
	return Worse
}
