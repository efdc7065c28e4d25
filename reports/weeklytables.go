package reports

import (
	"iter"
	"maps"
	"slices"

	"reprise/analyze"
)

// sorted yields a map in order of its keys.
func sorted(m map[string]string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// groupTable is every group under the objective, beside the week before.
func groupTable(in WeeklyInput) Section {
	var rows [][]any
	for _, g := range in.Week.Groups {
		t := g.This
		row := []any{g.Name, t.Good + t.Bad, t.Bad, t.Unevaluable, nil, nil, nil, "inconclusive", maybe(t.Allowed), maybe(t.Left), nil, nil, nil, nil, nil, nil}
		if t.Attainment != nil {
			judged := judgedGroup{t.Attainment, g.Name, t.Good + t.Bad, t.Unevaluable}
			row[4], row[5], row[6], row[7] = t.Share, t.Low, t.High, judged.met()
		}
		if g.Last != nil {
			row[10] = g.Last.Share
		}
		if c := g.ShareChange; c != nil {
			row[11], row[14], row[15] = c.Diff, c.PAdj, c.Verdict
			row[12], row[13] = ci(c.CI)
		}
		rows = append(rows, row)
	}
	about := "Calls that met every term of " + in.SLO.Text + " at once, with a 95 % interval (Wilson). met: the exact test whether the objective of " + percent(in.SLO.Objective) +
		" holds. Budget: bad calls that the objective allows this week, and the share of them that is left. change: difference to the week before in points of per cent, with a 95 % interval " +
		"over resampled hours of the week; p of the two-proportion test, adjusted for the number of groups (Benjamini-Hochberg). better and worse: both agree (p up to 0.1)."
	r := table("objectives", "Objectives and error budget", about, columnsOf(1, "grp text", "judged requests", "bad requests", "unevaluable requests", "attainment share", "low share", "high share",
		"met text", "allowed_bad requests", "budget_left share", "last_week share", "change share", "change_low share", "change_high share", "p_adjusted p", "verdict text"), rows)
	if res := in.Week.Results["error_budget"]; res != nil {
		r.SQL, r.Params, r.Coverage = res.SQL, res.Params, res.Coverage // of both weeks
	}
	if res := in.Week.Results["goodput"]; res != nil {
		r.Coverage = res.Coverage
	}
	return section("objectives", r, "")
}

func incidentTable(in WeeklyInput) Section {
	if len(in.Week.Incidents) == 0 {
		return section("incidents", table("incidents", "Incidents", "", columnsOf(1, "from_us time"), nil), "no ten minutes of this week had more bad calls than the objective and the quiet half of the week explain")
	}
	return incidentList(AnalyzeInput{SLO: in.SLO, Incidents: in.Week.Incidents})
}

const maxParts = 15

// partTable is what got worse, in every dimension the log knows.
func partTable(w *analyze.Weekly) Section {
	var rows [][]any
	for _, p := range w.Parts[:min(len(w.Parts), maxParts)] {
		rows = append(rows, []any{p.Dimension, p.Name, p.N, p.Bad, p.Share, p.Last, p.Extra, p.OfBad, p.PAdj})
	}
	about := "Values of a dimension (tenant, model, app, route, replica) that missed the objective more often than in the week before. extra_bad: bad calls beyond those that the share of the week " +
		"before would have given; of_bad: its bad calls among all bad calls. A call counts once in each dimension, so shares of different dimensions overlap. p: two-proportion test, adjusted for all " +
		"values looked at (Benjamini-Hochberg, up to 0.1); it takes calls as independent, which those of one incident are not."
	missing := ""
	if rows == nil {
		missing = "no tenant, model, app, route or replica got worse by more than chance"
		if w.Last[0] == w.Last[1] {
			missing = "the log holds nothing of the week before"
		}
	}
	r := table("regressions", "What got worse", about, columnsOf(2, "dimension text", "name text", "judged requests", "bad requests", "attainment share", "last_week share", "extra_bad requests", "of_bad share", "p_adjusted p"), rows)
	if res := w.Results["weekly_shares"]; res != nil {
		r.SQL, r.Params = res.SQL, res.Params
	}
	return section("regressions", r, missing)
}

// latencyTable is percentiles beside the week before.
func latencyTable(w *analyze.Weekly) Section {
	var rows [][]any
	for _, d := range w.Latency {
		var ratio, lo, hi any
		if d.Ratio != nil {
			ratio, lo, hi = d.Ratio.Ratio, d.Ratio.CI[0], d.Ratio.CI[1]
		}
		rows = append(rows, []any{d.Group, figureName(analyze.Delta{Metric: d.Metric, Quantile: d.Quantile}), d.N, d.LastN, d.This, d.Last, ratio, lo, hi, maybe(d.PAdj), d.Verdict})
	}
	about := "Exact percentiles (type 7) of calls that ended well, this week and the one before. ratio: this / last week with a 95 % interval over resampled hours of the week; the same calls do not come " +
		"again, so this holds what changed in the traffic too. p is adjusted for the number of figures (Benjamini-Hochberg)."
	missing := ""
	if rows == nil {
		missing = "no metric is known in both weeks"
	}
	r := table("latency_change", "Latency against last week", about, columnsOf(2, "grp text", "figure text", "n requests", "n_last requests", "this_week ms", "last_week ms", "ratio ratio", "low ratio",
		"high ratio", "p_adjusted p", "verdict text"), rows)
	if res := w.Results["weekly_latency"]; res != nil {
		r.SQL, r.Coverage = res.SQL, res.Coverage
	}
	return section("latency_change", r, missing)
}

// costTable is what a million tokens cost beside the week before.
func costTable(w *analyze.Weekly) Section {
	if w.Results["cost"] == nil {
		return section("cost", nil, "no price was given (--gpu-price and --gpus, or --hardware)")
	}
	last := byGroup(w.Results["last/cost"])
	var rows [][]any
	for _, v := range views(w.Results["cost"]) {
		l := last[v.text("grp")]
		rows = append(rows, []any{v.get("grp"), v.get("gpus"), v.get("cost"), v.get("per_million_output"), l.get("per_million_output"), v.get("per_million_good"), l.get("per_million_good"), v.get("per_million_misses")})
	}
	r := *w.Results["cost"]
	r.Columns, r.Rows = columnsOf(1, "grp text", "gpus GPUs", "cost $", "per_million_output $", "last_per_million_output $", "per_million_good $", "last_per_million_good $", "per_million_misses $"), rows
	return section("cost", &r, "")
}

// byGroup finds rows by their group.
func byGroup(r *analyze.Result) map[string]rowView {
	out := map[string]rowView{}
	for _, v := range views(r) {
		out[v.text("grp")] = v
	}
	return out
}

// promptTable is the overhead of system prompts beside the week before.
func promptTable(w *analyze.Weekly) Section {
	if why := w.Missing["system_prompt"]; why != "" {
		return section("system_prompt", nil, why)
	}
	last := byGroup(w.Results["last/system_prompt"])
	var rows [][]any
	for _, v := range views(w.Results["system_prompt"]) {
		l := last[v.text("grp")]
		rows = append(rows, []any{v.get("grp"), v.get("n"), v.get("prompts"), v.get("instruction_share"), l.get("instruction_share"), v.get("repeated_share"), l.get("repeated_share")})
	}
	r := table("system_prompt", "Prompt overhead", "Share of input tokens that are system prompts, and that repeat a system prompt seen before, this week and the one before.", columnsOf(1, "grp text", "n requests", "prompts prompts",
		"system_share share", "last_system_share share", "repeated_share share", "last_repeated_share share"), rows)
	if res := w.Results["system_prompt"]; res != nil {
		r.SQL, r.Coverage, r.Level = res.SQL, res.Coverage, res.Level
	}
	return section("system_prompt", r, "")
}
