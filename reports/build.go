package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"reprise/analyze"
)

// AnalyzeInput is the whole picture of one run: what [Build] makes a report of.
type AnalyzeInput struct {
	Run       string      // as the user named it
	Scope     string      // what was asked for: time range, grouping; empty: all of it
	SLO       analyze.SLO // the objective; without terms none was given, and nothing is judged
	Results   map[string]*analyze.Result
	Missing   map[string]string // query name: why it could not run (log level, no objective)
	Incidents []analyze.Incident
	Replays   []analyze.Replayed // that made the run
	Next      []string
}

// order is the order of sections: what happened, how slow, why, what the prompts cost, how good the data are. Results
// under other names follow in order of name.
var order = []string{"overview", "goodput", "goodput_over_time", "latency", "latency_as", "latency_over_time", "change_points", "ttft_by_turn", "token_gaps", "phases", "decode_stalls", "decode_stalls_over_time", "stall_controls",
	"gap_counterfactual", "probe_effect", "stall_labels", "stall_blame", "stall_culprits", "concurrency", "concurrency_over_time", "load", "target_metrics", "errors", "lengths", "system_prompt", "system_prompt_by_app_and_tenant", "prefix_cache",
	"prefix_cache_by_app_and_tenant", "prefix_curve", "cost", "throughput_by_batch", "roofline", "coverage"}

// Build makes the report of one run.
func Build(in AnalyzeInput) Report {
	r := Report{Title: "Analysis of " + in.Run, Subtitle: subtitle(in), Next: in.Next}
	r.Verdict, r.Answer = answer(in)
	r.Figures = figures(in.Results)
	invalid, notes := replayNotes(in.Replays)
	if r.Notes = append(r.Notes, notes...); invalid != "" {
		r.Verdict, r.Answer = "bad", append([]string{invalid}, r.Answer...)
	}
	if note := cannotSay(in); note != "" {
		r.Notes = append(r.Notes, note)
	}
	if len(in.Incidents) > 0 {
		r.Sections = append(r.Sections, incidentSections(in)...)
	}
	for _, name := range queriesOf(in) {
		s := section(name, in.Results[name], in.Missing[name])
		s.PageOnly = strings.HasSuffix(name, "_over_time") && s.Missing == ""
		markIncidents(s.Charts, in.Incidents)
		markObjective(s.Charts, in.SLO)
		r.Sections = append(r.Sections, s)
	}
	return r
}

func queriesOf(in AnalyzeInput) []string {
	var known, others []string
	for _, name := range order {
		if in.Results[name] != nil || in.Missing[name] != "" {
			known = append(known, name)
		}
	}
	for _, names := range [][]string{slices.Collect(maps.Keys(in.Results)), slices.Collect(maps.Keys(in.Missing))} {
		for _, name := range names {
			if !slices.Contains(known, name) && !slices.Contains(others, name) {
				others = append(others, name)
			}
		}
	}
	slices.Sort(others)
	return append(known, others...)
}

func subtitle(in AnalyzeInput) string {
	var parts []string
	if in.Scope != "" {
		parts = append(parts, in.Scope)
	}
	if in.SLO.Text != "" {
		parts = append(parts, "objective "+in.SLO.Text)
	} else {
		parts = append(parts, "no objective given")
	}
	return strings.Join(parts, "; ")
}

// cannotSay names in one line what this log is silent about.
func cannotSay(in AnalyzeInput) string {
	var out []string
	for _, name := range queriesOf(in) {
		if why := in.Missing[name]; why != "" {
			title := titles[name]
			if title == "" {
				title = name
			}
			out = append(out, strings.ToLower(title[:1])+title[1:]+" ("+why+")")
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "cannot say: " + strings.Join(out, "; ")
}

// incidentSections list the windows in which the objective was missed by more than chance, and show for the worst ones
// what was different.
func incidentSections(in AnalyzeInput) []Section {
	out := []Section{incidentList(in)}
	worst := worstFirst(in.Incidents)
	for k, i := range worst[:min(len(worst), maxIncidents)] {
		if i.Diff == nil {
			continue
		}
		s := section("incident_diff", i.Diff, "")
		s.ID, s.Title = fmt.Sprintf("incident-%d", k+1), "What was different "+window(i)
		s.PageOnly = true
		out = append(out, s)
		if i.Hit != nil {
			s = section("incident_bad", i.Hit, "")
			s.ID, s.Title, s.PageOnly = fmt.Sprintf("incident-%d-hit", k+1), "Who was hit "+window(i), true
			out = append(out, s)
		}
	}
	return out
}

func incidentList(in AnalyzeInput) Section {
	var rows [][]any
	for _, i := range in.Incidents {
		rows = append(rows, []any{i.From, i.To, i.Bad, i.Eligible, share(i.Bad, i.Eligible), i.Expected, strings.ReplaceAll(i.Cause, "_", " "), i.Text})
	}
	about := "Stretches of time in which more requests missed " + in.SLO.Text + " than the objective and the quiet part of the run explain. The cause is what differed inside the window; " +
		"it is a likely cause, not a proof."
	return section("incidents", table("incidents", "Incidents", about, columnsOf(2, "from_us time", "to_us time", "bad requests", "judged requests", "share share", "expected share",
		"likely_cause text", "evidence text"), rows), "")
}

func share(part, whole int64) any {
	if whole == 0 {
		return nil
	}
	return float64(part) / float64(whole)
}

// markIncidents shades the incidents in charts over time.
func markIncidents(charts []Chart, incidents []analyze.Incident) {
	for i := range charts {
		if charts[i].X.Unit == "time" {
			for _, in := range incidents {
				charts[i].Spans = append(charts[i].Spans, Span{"incident", float64(in.From), float64(in.To)})
			}
		}
	}
}

// markObjective draws the objective where a chart over time shows what it bounds.
func markObjective(charts []Chart, slo analyze.SLO) {
	for i, c := range charts {
		if c.X.Unit != "time" || slo.Objective == 0 {
			continue
		}
		if c.Y.Unit == "%" && c.Y.Name == "attainment" {
			charts[i].Marks = append(charts[i].Marks, Mark{Name: "objective " + percent(slo.Objective), At: 100 * slo.Objective})
		}
		for _, t := range slo.Terms {
			if t.Metric == c.Facet && c.Y.Unit == "ms" && t.PerInput == 0 && slo.Sections == nil {
				ms := float64(t.Bound) / 1e3
				charts[i].Marks = append(charts[i].Marks, Mark{Name: "objective " + duration(ms), At: ms})
			}
		}
	}
}

// incidentText is one incident as a sentence.
func incidentText(i analyze.Incident) string {
	return fmt.Sprintf("From %s %s of %s requests missed the objective (%s; %s expected); likely cause: %s.", window(i),
		count(i.Bad), count(i.Eligible), orUnknown(ratio(i.Bad, i.Eligible), percent), percent(i.Expected), i.Text)
}

// window is the time of an incident; the date is not said twice.
func window(i analyze.Incident) string {
	layout := clock([]int64{i.From, i.To})
	until := layout
	if utc(i.From, "2006-01-02") == utc(i.To, "2006-01-02") {
		until = strings.TrimPrefix(layout, "2006-01-02 ")
	}
	return utc(i.From, layout) + " to " + utc(i.To, until) + " UTC"
}

func ratio(part, whole int64) *float64 {
	if whole == 0 {
		return nil
	}
	r := float64(part) / float64(whole)
	return &r
}
