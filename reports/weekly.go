package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/analyze"
)

// WeeklyInput is what [BuildWeekly] makes a report of.
type WeeklyInput struct {
	Run  string // as the user named it
	By   []string
	SLO  analyze.SLO
	Week *analyze.Weekly
	Next []string
}

// BuildWeekly makes the weekly review: did we keep our objectives, how much budget is left, what changed; then what burned the
// budget, what it cost, and how good the data are.
func BuildWeekly(in WeeklyInput) Report {
	w := in.Week
	r := Report{Title: "Week " + weekName(w.From) + " of " + in.Run, Next: in.Next,
		Subtitle: weekRange(w) + "; objective " + in.SLO.Text + byText(in.By)}
	if w.Seen[0] == w.Seen[1] {
		r.Verdict, r.Answer = "unsure", []string{"No request of the log arrived in this week" + logRange(w) + "."}
		return r
	}
	r.Verdict, r.Answer = weekAnswer(in)
	r.Figures = weekFigures(in)
	r.Notes = weekNotes(in)
	r.Sections = []Section{groupTable(in), incidentTable(in), partTable(w), latencyTable(w)}
	for _, name := range []string{"alerts", "burn_rules", "burn_rate", "goodput_over_time"} {
		s := section(name, w.Results[name], "")
		s.PageOnly = name == "burn_rate" || name == "goodput_over_time"
		if name == "alerts" && len(s.Result.Rows) == 0 {
			s.Missing = noAlert(w)
		}
		markIncidents(s.Charts, w.Incidents)
		markObjective(s.Charts, in.SLO)
		r.Sections = append(r.Sections, s)
	}
	r.Sections = append(r.Sections, costTable(w), promptTable(w))
	for _, name := range []string{"goodput", "goodput_denominators", "errors", "coverage"} {
		if name == "goodput_denominators" && w.Results[name] == nil {
			continue // all rules agree
		}
		s := section(name, w.Results[name], w.Missing[name])
		s.PageOnly = name == "coverage"
		r.Sections = append(r.Sections, s)
	}
	return r
}

// weekName is the ISO week of a Monday.
func weekName(us int64) string {
	y, n := time.UnixMicro(us).UTC().ISOWeek()
	return fmt.Sprintf("%d-W%02d", y, n)
}

func weekRange(w *analyze.Weekly) string {
	const day = "Mon 2006-01-02"
	return utc(w.From, day) + " to " + utc(w.To-1, day) + " UTC"
}

// logRange says where to look when the week is empty.
func logRange(w *analyze.Weekly) string {
	if w.Log[0] == 0 {
		return ""
	}
	const layout = "2006-01-02 15:04"
	return fmt.Sprintf(": the log goes from %s to %s UTC, weeks %s to %s", utc(w.Log[0], layout), utc(w.Log[1], layout), weekName(w.Log[0]), weekName(w.Log[1]))
}

func byText(by []string) string {
	if len(by) == 0 {
		return ""
	}
	return "; by " + strings.Join(by, ", ")
}

// weekGroups are the groups that can be judged, most bad calls beyond the objective first.
func weekGroups(in WeeklyInput) (out []weekGroup) {
	for _, g := range in.Week.Groups {
		if g.This.Attainment != nil {
			out = append(out, weekGroup{judgedGroup{g.This.Attainment, g.Name, g.This.Good + g.This.Bad, g.This.Unevaluable}, g})
		}
	}
	slices.SortStableFunc(out, func(a, b weekGroup) int { return cmp.Compare(b.beyond(in.SLO.Objective), a.beyond(in.SLO.Objective)) })
	return out
}

type weekGroup struct {
	judgedGroup
	analyze.WeekGroup
}

// weekAnswer says whether the objectives were kept, what is left of the budget, and what changed.
func weekAnswer(in WeeklyInput) (verdict string, out []string) {
	groups := weekGroups(in)
	if len(groups) == 0 {
		return "unsure", []string{"No call of this week can be judged under " + in.SLO.Text + "."}
	}
	verdict = "good"
	var missed, open []string
	for _, g := range groups {
		switch g.met() {
		case "fail":
			missed = append(missed, g.name)
		case "inconclusive":
			open = append(open, g.name)
		}
	}
	switch {
	case len(missed) > 0:
		verdict = "bad"
	case len(open) > 0:
		verdict = "unsure"
	}
	worst := groups[0]
	first := worst.sentence(in.SLO)
	if len(groups) > 1 {
		kept := len(groups) - len(missed) - len(open)
		text := fmt.Sprintf("%d of %d groups missed the objective, %d kept it", len(missed), len(groups), kept)
		if len(open) > 0 {
			text += fmt.Sprintf(", of %d it cannot be told (too few calls)", len(open))
		}
		out = append(out, text+".")
		who := "Furthest from it is "
		if len(missed) == 0 {
			who = "Least room above it has "
		}
		first = who + worst.name + ": " + first
	}
	out = append(out, first, "Error budget of the week"+of(groups, worst)+": "+budgetText(worst.This)+".", changeAnswer(groups, worst))
	return verdict, append(out, burnAnswer(in)...)
}

func of(groups []weekGroup, g weekGroup) string {
	if len(groups) == 1 {
		return ""
	}
	return " for " + g.name
}

func budgetText(s analyze.WeekSide) string {
	if s.Left == nil {
		return "none, the objective allows no bad call; " + count(s.Bad) + " were bad"
	}
	used := count(s.Bad) + " bad calls, " + orUnknown(s.Allowed, one) + " allowed"
	if *s.Left < 0 {
		return percent(-*s.Left) + " overspent (" + used + ")"
	}
	return percent(*s.Left) + " left (" + used + ")"
}

// changeAnswer speaks of the groups that changed by more than chance, else of the worst one.
func changeAnswer(groups []weekGroup, worst weekGroup) string {
	var parts []string
	for _, verdict := range []string{analyze.Worse, analyze.Better} {
		for _, g := range groups {
			if g.ShareChange != nil && g.ShareChange.Verdict == verdict && len(parts) < 3 {
				parts = append(parts, verdict+of(groups, g)+": "+changeText(g))
			}
		}
	}
	switch {
	case len(parts) > 0:
		return "Against last week " + strings.Join(parts, "; ") + "."
	case worst.Last == nil:
		return "The log holds no judged call of the week before, so nothing is said about change."
	}
	return "Against last week no change of attainment beyond chance" + of(groups, worst) + ": " + changeText(worst) + "."
}

// changeText is "99.42 % to 98.31 % (-1.11 points [-1.20, -1.02])".
func changeText(g weekGroup) string {
	s := perCent(100*g.Last.Share, 2) + " % to " + perCent(100*g.This.Share, 2) + " %"
	if c := g.ShareChange; c != nil && c.CI != nil {
		return s + fmt.Sprintf(" (%+.2f points [%+.2f, %+.2f])", 100*c.Diff, 100*c.CI[0], 100*c.CI[1])
	}
	return s + " (too few hours for an interval)"
}

// burnAnswer says when the budget went: alerts, incidents and the rest.
func burnAnswer(in WeeklyInput) (out []string) {
	w := in.Week
	if n := len(w.Results["alerts"].Rows); n > 0 {
		v := views(w.Results["alerts"])
		hottest := slices.MaxFunc(v, func(a, b rowView) int { return cmp.Compare(orZero(a.num("peak_burn")), orZero(b.num("peak_burn"))) })
		start, _ := hottest.get("start_us").(int64)
		end, _ := hottest.get("end_us").(int64)
		again := ""
		if all := fired(v); all > n {
			again = " (" + count(int64(all)) + " with those that fired again shortly after)"
		}
		out = append(out, fmt.Sprintf("%s would have fired%s; the hottest: rule %s%s from %s UTC, burn up to %s.", plural(n, "burn rate alert"), again, hottest.text("rule"),
			groupText(hottest), dayToDay(start, end), orUnknown(hottest.num("peak_burn"), one)))
	} else {
		out = append(out, strings.ToUpper(noAlert(w)[:1])+noAlert(w)[1:]+".")
	}
	var bad int64
	for _, g := range w.Groups {
		bad += g.This.Bad
	}
	if len(w.Incidents) > 0 && bad > 0 {
		out = append(out, fmt.Sprintf("%s of the %s bad calls (%s) came in %s, the others in quiet hours.", count(w.Within), count(bad),
			percent(float64(w.Within)/float64(bad)), plural(len(w.Incidents), "incident")))
	}
	return out
}

// fired counts the alerts of a list in which those that are close to each other are one.
func fired(alerts []rowView) (n int) {
	for _, v := range alerts {
		n += int(orZero(v.num("fired")))
	}
	return n
}

// dayToDay is a stretch of time with its days; the day is not said twice.
func dayToDay(from, to int64) string {
	const layout, clock = "Mon 2006-01-02 15:04", "15:04"
	until := layout
	if utc(from, time.DateOnly) == utc(to, time.DateOnly) {
		until = clock
	}
	return utc(from, layout) + " to " + utc(to, until)
}

// groupText names the group of a row, unless it is of everything.
func groupText(v rowView) string {
	if g := v.text("grp"); g != "all" {
		return " for " + g
	}
	return ""
}

// noAlert says why there is none.
func noAlert(w *analyze.Weekly) string {
	for _, v := range views(w.Results["burn_rules"]) {
		if orZero(v.num("hours_judged")) > 0 {
			return "no burn rate alert would have fired"
		}
	}
	return "no burn rate rule can be judged: the log is shorter than their windows"
}

func plural[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "ch") {
		what += "e"
	}
	return count(int64(n)) + " " + what + "s"
}
