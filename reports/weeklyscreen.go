package reports

import (
	"fmt"
	"slices"
	"strings"

	"reprise/analyze"
)

const maxWeekGroups = 8

// weekFigures has a line for each objective, then cost and prompts.
func weekFigures(in WeeklyInput) (out []Figure) {
	groups := weekGroups(in)
	for _, g := range groups[:min(len(groups), maxWeekGroups)] {
		f := Figure{Name: shorten(g.name, 24), Value: attained(g.Attainment) + "   budget " + budgetShort(g.This) + "   " + metShort[g.met()],
			Note: "n " + count(g.n) + "; last week n/a"}
		if g.name == "all" {
			f.Name = "objective"
		}
		if g.Last != nil {
			f.Note = fmt.Sprintf("n %s; last week %s, %s", count(g.n), attained(g.Last.Attainment), g.ShareChange.Verdict)
		}
		out = append(out, f)
	}
	last := byGroup(in.Week.Results["last/cost"])
	for _, v := range largest(views(in.Week.Results["cost"])) {
		f := Figure{"cost" + groupText(v), "$" + orUnknown(v.num("per_million_good"), one) + " a million good tokens", "$" + orUnknown(v.num("per_million_output"), one) + " a million output tokens; last week "}
		if before, now := last[v.text("grp")].num("per_million_good"), v.num("per_million_good"); before != nil && now != nil && *before > 0 {
			f.Note += fmt.Sprintf("$%s good (%+.1f %%)", one(*before), 100*(*now / *before - 1))
		} else {
			f.Note += unknown
		}
		out = append(out, f)
	}
	for _, v := range largest(views(in.Week.Results["system_prompt"])) {
		f := promptsFigure(v)
		f.Name += groupText(v)
		out = append(out, f)
	}
	return out
}

var metShort = map[string]string{"pass": "kept", "fail": "missed", "inconclusive": "open"}

func budgetShort(s analyze.WeekSide) string {
	if s.Left == nil {
		return "none"
	}
	return fmt.Sprintf("%+.0f %%", 100**s.Left)
}

// weekNotes say how good the data are.
func weekNotes(in WeeklyInput) (out []string) {
	w := in.Week
	for _, skipped := range w.Skipped {
		out = append(out, skipped.Message)
	}
	if w.Seen[0] >= w.From+3600e6 || w.Seen[1] < w.To-3600e6 {
		out = append(out, fmt.Sprintf("the log covers this week from %s UTC only (%s); nothing is extrapolated", dayToDay(w.Seen[0], w.Seen[1]),
			percent(float64(w.Seen[1]-w.Seen[0])/float64(w.To-w.From))))
	}
	if span := w.Last[1] - w.Last[0]; span > 0 && float64(span) < .99*float64(w.To-w.From) {
		out = append(out, "of the week before the log covers only "+percent(float64(span)/float64(w.To-w.From))+", from "+dayToDay(w.Last[0], w.Last[1])+" UTC")
	}
	if len(w.Silent) > 0 {
		var parts []string
		for _, s := range w.Silent[:min(len(w.Silent), 5)] {
			parts = append(parts, dayToDay(s[0], s[1]))
		}
		if n := len(w.Silent) - len(parts); n > 0 {
			parts = append(parts, plural(n, "more stretch"))
		}
		out = append(out, "no call to a model arrived from "+strings.Join(parts, ", ")+" UTC: missing log or no traffic, which the log cannot tell apart")
	}
	for name, why := range sorted(w.Missing) {
		out = append(out, "cannot say: "+strings.ToLower(titles[name])+" ("+why+")")
	}
	for _, r := range []*analyze.Result{w.Results["error_budget"], w.Results["weekly_latency"]} {
		for _, warning := range r.Warnings {
			if !slices.Contains(out, warning.Message) {
				out = append(out, warning.Message)
			}
		}
	}
	return out
}
