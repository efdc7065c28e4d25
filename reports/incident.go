package reports

import (
	"fmt"
	"slices"
	"strings"

	"reprise/analyze"
)

// IncidentInput is what [BuildIncident] makes a report of.
type IncidentInput struct {
	Run  string // as the user named it
	SLO  analyze.SLO
	Case *analyze.Investigation
	Next []string
}

// BuildIncident makes the report of one incident: what happened and what explains it, what was ruled out and by which
// number, what it cost; then who was hit, what was different, and the course of it.
func BuildIncident(in IncidentInput) Report {
	v := in.Case
	r := Report{Title: "Incident of " + window(v.Incident), Subtitle: in.Run + "; objective " + in.SLO.Text, Verdict: "bad", Next: in.Next,
		Answer: append([]string{incidentText(v.Incident)}, ruledOut(v)...), Figures: incidentFigures(v)}
	for _, other := range v.Others {
		r.Notes = append(r.Notes, "also: "+incidentText(other))
	}
	for _, s := range []Section{section("incident_bad", v.Hit, ""), section("incident_diff", v.Diff, "")} {
		r.Sections = append(r.Sections, s)
	}
	for _, name := range []string{"goodput_over_time", "latency_over_time", "latency", "decode_stalls", "stall_blame", "stall_culprits", "errors", "concurrency_over_time"} {
		s := section(name, v.Results[name], v.Missing[name])
		s.PageOnly = strings.HasSuffix(name, "_over_time") && s.Missing == ""
		markIncidents(s.Charts, []analyze.Incident{v.Incident})
		markObjective(s.Charts, in.SLO)
		r.Sections = append(r.Sections, s)
	}
	return r
}

func incidentFigures(v *analyze.Investigation) []Figure {
	figures := []Figure{{"bad calls", count(v.Bad), "of " + count(v.Eligible) + " judged; " + count(v.Failed) + " failed, the others were too slow"}}
	if v.Budget != nil {
		figures = append(figures, Figure{"budget", percent(*v.Budget), "of all bad calls that the objective allows over the whole time range"})
	}
	if v.Onset != nil {
		figures = append(figures, Figure{"onset", utc(*v.Onset, clock([]int64{*v.Onset})) + " UTC", "the load behind it began to grow, by CUSUM"})
	}
	return figures
}

// ruledOut says of each usual cause that is not the one found by which number it is not.
func ruledOut(v *analyze.Investigation) []string {
	var out []string
	say := func(cause, format string, args ...any) {
		if v.Cause != cause {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	if 2*v.Failed <= v.Bad {
		say("failures", "errors: %s of %s bad calls failed", count(v.Failed), count(v.Bad))
	}
	if all, ok := rowOf(v.Diff, "all", "all"); ok {
		rate, base := figureOf(all, v.Diff, "rate"), figureOf(all, v.Diff, "rate_base")
		if rate != nil && base != nil && *rate <= 1.5**base {
			say("more_requests", "more requests: %s a second against %s outside", three(*rate), three(*base))
		}
		cached, was := figureOf(all, v.Diff, "cached_share"), figureOf(all, v.Diff, "cached_share_base")
		if cached != nil && was != nil && *cached >= *was-.2 {
			say("cache_loss", "a cold cache: %s of input tokens came from cache against %s", percent(*cached), percent(*was))
		}
	}
	if n := len(rowsOf(v.Hit, "replica")); n > 1 && !strings.Contains(v.Text, "was hit alone") {
		out = append(out, fmt.Sprintf("one bad replica: none of %d holds the extra bad calls alone", n))
	}
	if out == nil {
		return nil
	}
	return []string{"Ruled out: " + strings.Join(out, "; ") + "."}
}

func rowsOf(r *analyze.Result, dimension string) (rows [][]any) {
	if r != nil {
		for _, row := range r.Rows {
			if row[0] == dimension {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func rowOf(r *analyze.Result, dimension, name string) ([]any, bool) {
	for _, row := range rowsOf(r, dimension) {
		if row[1] == name {
			return row, true
		}
	}
	return nil, false
}

// figureOf is the value of a column, nil when it is unknown.
func figureOf(row []any, r *analyze.Result, column string) *float64 {
	i := slices.IndexFunc(r.Columns, func(c analyze.Column) bool { return c.Name == column })
	if i < 0 {
		return nil
	}
	if f, ok := row[i].(float64); ok {
		return &f
	}
	return nil
}
