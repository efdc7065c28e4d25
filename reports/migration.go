package reports

import (
	"fmt"
	"slices"
	"strings"

	"reprise/analyze"
)

// MigrationInput is what [BuildMigration] makes a report of.
type MigrationInput struct {
	SLO  analyze.SLO // without terms nothing is judged
	By   []string
	Case *analyze.Migration
	Next []string
}

// BuildMigration makes the report that a decision to move rests on: the verdict and why, whether the comparison is fair, the
// distributions, who gains and who loses, what holds the streams, capacity and cost at the objective, and what could still
// be wrong.
func BuildMigration(in MigrationInput) Report {
	m := in.Case
	r := BuildComparison(m.Comparison)
	r.Title, r.Next = "Migration: "+m.Base+" → "+m.Cand, in.Next
	r.Subtitle += "; " + objectiveText(in.SLO)
	if m.Comparable {
		r.Answer = slices.Concat(r.Answer[:1], whyStalls(m), r.Answer[1:], capacityAnswer(m))
	}
	r.Figures = migrationFigures(m)
	doubts := doubtsSection(m)
	r.Notes = notesWithout(r.Notes, m.Warnings, doubts)
	at := slices.IndexFunc(r.Sections, func(s Section) bool { return s.ID == "long_gaps" })
	r.Sections = slices.Insert(r.Sections, at, withinSection(m.Comparison))
	if len(m.Groups) == 0 {
		r.Sections = append(r.Sections, section("groups", nil, noGroups(m.Comparison, in.By)))
	}
	r.Sections = append(r.Sections, lengthsSection(m.Comparison),
		sidesSection(m, "decode_stalls", "What holds the streams: decode time lost to other requests' prefills"),
		sidesSection(m, "gap_counterfactual", "What if no prefill held a stream: chunk gaps without them"),
		sidesSection(m, "errors", "Requests that ended badly"), capacitySection(m), moneySection(m), doubts)
	return r
}

func objectiveText(slo analyze.SLO) string {
	if slo.Text == "" {
		return "no objective given"
	}
	return "objective " + slo.Text
}

// notesWithout leaves to the section on doubts what it says.
func notesWithout(notes []string, warnings []analyze.Warning, s Section) []string {
	if s.Missing != "" {
		return notes
	}
	return slices.DeleteFunc(slices.Clone(notes), func(n string) bool {
		return slices.ContainsFunc(warnings, func(w analyze.Warning) bool { return w.Message == n })
	})
}

func noGroups(c *analyze.Comparison, by []string) string {
	switch {
	case !c.Comparable:
		return withheld(c)
	case len(by) == 0:
		return "no grouping was asked for (--by tenant)"
	}
	return "no " + strings.Join(by, " and ") + " has 30 pairs: not enough data"
}

// withinSection is how single requests changed.
func withinSection(c *analyze.Comparison) Section {
	var rows [][]any
	for _, d := range c.Within {
		rows = append(rows, []any{d.Metric, int64(d.N), share(int64(d.Faster), int64(d.N)), share(int64(d.Slower), int64(d.N)), share(int64(d.MuchWorse), int64(d.N)),
			d.P5, d.P25, d.Median, d.MedianCI[0], d.MedianCI[1], d.P75, d.P95})
	}
	about := fmt.Sprintf("Candidate less base for the same request, in milliseconds: below 0 the request got faster. slower by the margin: the candidate took more than %s longer. "+
		"Quantiles of the differences are not differences of the quantiles. low and high: 95 %% interval of the median, by the bootstrap of the figures.", percent(c.Margin))
	missing := withheld(c)
	if missing == "" && len(rows) == 0 {
		missing = "no metric is known on both sides of a pair"
	}
	return section("within_pairs", table("within_pairs", "How single requests changed", about, columnsOf(1, "metric text", "n values", "faster share", "slower share", "slower_by_the_margin share",
		"5th ms", "25th ms", "median ms", "low ms", "high ms", "75th ms", "95th ms"), rows), missing)
}

func lengthsSection(c *analyze.Comparison) Section {
	s := groupRows("lengths", "By length of the prompt", "The same figures by input tokens of the base's request. Bands with fewer than 30 pairs are left out. p is adjusted for the number of figures (Benjamini-Hochberg); bands do not decide.", c.Lengths)
	if s.Missing = withheld(c); s.Missing == "" && len(c.Lengths) == 0 {
		s.Missing = "no band of prompt lengths has 30 pairs: not enough data"
	}
	return s
}

// bothSides puts the rows of one query of both runs below each other, keyed by run.
func bothSides(m *analyze.Migration, query string) (*analyze.Result, string) {
	var out *analyze.Result
	var why []string
	for i, name := range []string{"base", "candidate"} {
		r := m.Runs[i].Results[query]
		if r == nil {
			if text := m.Runs[i].Missing[query]; text != "" {
				why = append(why, name+": "+text)
			}
			continue
		}
		if out == nil {
			copied := *r
			out, copied.Rows, copied.Warnings, copied.Coverage, copied.Chart = &copied, nil, nil, analyze.Coverage{}, ""
			out.Columns = append([]analyze.Column{{Name: "run", Unit: "text", Key: true}}, r.Columns...)
		}
		for _, row := range r.Rows {
			out.Rows = append(out.Rows, append([]any{name}, row...))
		}
		for _, w := range r.Warnings {
			out.Warnings = append(out.Warnings, analyze.Warning{Code: w.Code, Message: name + ": " + w.Message})
		}
	}
	if len(why) == 2 && strings.TrimPrefix(why[0], "base: ") == strings.TrimPrefix(why[1], "candidate: ") {
		return out, strings.TrimPrefix(why[0], "base: ")
	}
	return out, strings.Join(why, "; ")
}

// sidesSection is a query of both runs; missing on one side is a warning, on both the reason why there is nothing.
func sidesSection(m *analyze.Migration, query, title string) Section {
	r, why := bothSides(m, query)
	if r == nil {
		s := section(query, nil, why)
		s.Title = title
		return s
	}
	r.Title = title
	if why != "" {
		r.Warnings = append(r.Warnings, analyze.Warning{Code: "one_side", Message: why})
	}
	r.About += " Over all requests in the time of the pairs, so figures can differ a little from those over the pairs alone."
	return section(query, r, "")
}

// whyStalls says what the stalls explain: how much of the long gaps lies in prefills, and what the gaps would be without.
func whyStalls(m *analyze.Migration) []string {
	var lost [2]*float64
	var gaps [2][2]*float64 // p99 observed and without, of base and candidate
	for i := range m.Runs {
		for _, v := range views(m.Runs[i].Results["decode_stalls"]) {
			if n, of := v.num("stalled_prefill"), v.num("stalled"); v.text("form") == "chunks" && n != nil && of != nil && *of > 0 {
				lost[i] = new(*n / *of)
			}
		}
		for _, v := range views(m.Runs[i].Results["gap_counterfactual"]) {
			if v.text("variant") == "observed" {
				gaps[i][0] = v.num("p99")
			} else {
				gaps[i][1] = v.num("p99")
			}
		}
	}
	if lost[0] == nil && lost[1] == nil {
		return nil
	}
	share := func(p *float64) string {
		if p == nil {
			return "an unknown share"
		}
		return percent(*p)
	}
	text := fmt.Sprintf("Why: of the stalled chunk gaps %s lie in other requests' prefills in the base and %s in the candidate", share(lost[0]), share(lost[1]))
	if gaps[0][1] != nil && gaps[1][1] != nil {
		text += fmt.Sprintf("; without prefills the p99 of the gaps would go from %s to %s, where it goes from %s to %s", duration(*gaps[0][1]), duration(*gaps[1][1]), duration(*gaps[0][0]), duration(*gaps[1][0]))
	}
	return []string{text + "."}
}

// migrationFigures is one line a metric: its tail on both sides.
func migrationFigures(m *analyze.Migration) (out []Figure) {
	for _, d := range m.Metrics {
		if d.Gated && d.Quantile == .99 {
			f := Figure{Name: figureName(d), Value: duration(d.Base) + " → " + duration(d.Cand), Note: "n " + count(int64(d.N)) + "; " + d.Verdict}
			if d.Ratio != nil && d.CI != nil {
				f.Note = "n " + count(int64(d.N)) + "; " + ratioText(*d.Ratio, d.CI[0], d.CI[1]) + ", " + d.Verdict
			}
			if d.LowN {
				f.Note += " (low n)"
			}
			out = append(out, f)
		}
	}
	if s := m.SLO; s != nil && s.Good.Base != nil && s.Good.Cand != nil {
		out = append(out, Figure{"good requests", percent(*s.Good.Base) + " → " + percent(*s.Good.Cand), "of " + count(int64(s.Good.N)) + " pairs; " + s.Good.Verdict})
	}
	if c := capacityFigure(m); c != nil {
		out = append(out, *c)
	}
	if b, n := perGood(m, 0), perGood(m, 1); b != nil && n != nil {
		out = append(out, Figure{"cost", "$" + one(*b) + " → $" + one(*n), "a million good output tokens at the load of the pairs (" + signed(100*(*n / *b - 1)) + " %)"})
	}
	return out
}

// perGood is the price of a million good tokens on one side.
func perGood(m *analyze.Migration, side int) *float64 {
	for _, v := range views(m.Runs[side].Results["cost"]) {
		return v.num("per_million_good")
	}
	return nil
}

func moneySection(m *analyze.Migration) Section {
	s := sidesSection(m, "cost", "Cost of tokens at the load of the pairs")
	if s.Missing == "" {
		s.Result.About += " A target that could carry more than this load is cheaper than this says; its capacity tells by how much."
	}
	return s
}
