package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/analyze"
)

// BuildComparison makes the report of a comparison: the verdict in one sentence, whether the comparison is fair, then
// every figure with its interval, the distributions, and the requests that changed sides.
func BuildComparison(c *analyze.Comparison) Report {
	r := Report{Title: "Comparison: " + c.Base + " → " + c.Cand, Verdict: overallTone[c.Verdict], Answer: answerOf(c),
		Subtitle: fmt.Sprintf("%s pairs of requests with the same id; base %s, candidate %s; a figure may be worse by %s before it counts",
			count(int64(c.Pairs)), c.Base, c.Cand, percent(c.Margin))}
	for _, a := range c.Absent {
		r.Notes = append(r.Notes, a.Metric+" is not compared: "+a.Reason)
	}
	for _, w := range c.Warnings {
		r.Notes = append(r.Notes, w.Message)
	}
	r.Sections = []Section{fairness(c), figuresSection(c)}
	if c.SLO != nil {
		r.Sections = append(r.Sections, sloSection(c))
	}
	r.Sections = append(r.Sections, distributions(c), longGaps(c))
	if len(c.Groups) > 0 {
		r.Sections = append(r.Sections, groupsSection(c))
	}
	if len(c.Turned) > 0 {
		r.Sections = append(r.Sections, turnedSection(c))
	}
	return r
}

var (
	overallTone = map[string]string{analyze.Better: "good", analyze.NonInferior: "good", analyze.Worse: "bad",
		analyze.NotComparable: "bad", analyze.Inconclusive: "unsure"}
	headline = map[string]string{analyze.Better: "BETTER", analyze.NonInferior: "NOT WORSE", analyze.Worse: "WORSE",
		analyze.NotComparable: "NOT COMPARABLE", analyze.Inconclusive: "UNDECIDED"}
)

// answerOf is the verdict with the figures that made it, then goodput and failures.
func answerOf(c *analyze.Comparison) []string {
	if !c.Comparable {
		return []string{headline[c.Verdict] + ": " + strings.Join(c.WhyNot, "; "), "No latency verdict is given: the runs did not receive the same load.",
			"What would make them comparable: " + strings.Join(c.WouldHelp, "; ") + "."}
	}
	out := []string{headline[c.Verdict] + ": " + reason(c)}
	if line := noiseLine(c); line != "" {
		out = append(out, line)
	}
	if s := c.SLO; s != nil && s.Good.Base != nil && s.Good.Cand != nil {
		out = append(out, fmt.Sprintf("Good requests (%s): %s → %s of %s pairs, %s (%s turned bad, %s turned good).", s.Text, percent(*s.Good.Base),
			percent(*s.Good.Cand), count(int64(s.Good.N)), s.Good.Verdict, count(int64(s.Good.Lost)), count(int64(s.Good.Gained))))
	}
	for _, g := range c.LongGaps {
		if g.Over == 100 {
			out = append(out, fmt.Sprintf("Gaps over %s between chunks: %s → %s over the same requests, %s.", duration(g.Over), count(int64(g.Base)), count(int64(g.Cand)), g.Verdict))
		}
	}
	if f := c.Failures; f.Base != nil && f.Cand != nil && f.Gained+f.Lost > 0 {
		out = append(out, fmt.Sprintf("Failures: %s → %s of %s pairs, %s.", percent(*f.Base), percent(*f.Cand), count(int64(f.N)), f.Verdict))
	}
	return out
}

// reason names the deciding figures: those that speak for the verdict first, the others behind.
func reason(c *analyze.Comparison) string {
	order := []string{analyze.Worse, analyze.Better, analyze.Inconclusive}
	if c.Verdict == analyze.Better {
		order = []string{analyze.Better, analyze.Worse, analyze.Inconclusive}
	}
	if c.Verdict == analyze.Inconclusive {
		order = []string{analyze.Inconclusive, analyze.Worse, analyze.Better}
	}
	var parts []string
	for _, verdict := range order {
		for _, d := range c.Metrics {
			if d.Gated && d.Verdict == verdict && len(parts) < 3 {
				parts = append(parts, change(d))
			}
		}
		if len(parts) == 0 { // no latency speaks for it
			parts = shareChanges(c, verdict)
		}
	}
	if !slices.ContainsFunc(c.Metrics, func(d analyze.Delta) bool { return d.Gated }) {
		parts = append(parts, "no latency is known in both runs")
	}
	if len(parts) == 0 {
		return fmt.Sprintf("no deciding figure changed by more than the margin of %s", percent(c.Margin))
	}
	return strings.Join(parts, "; ")
}

// shareChanges are the shares with a verdict in words: "failures worse: 0.5 % → 2 %".
func shareChanges(c *analyze.Comparison, verdict string) (out []string) {
	add := func(name string, d analyze.ShareDelta) {
		if d.Verdict == verdict && d.Base != nil && d.Cand != nil {
			out = append(out, name+" "+changeWord[verdict]+": "+percent(*d.Base)+" → "+percent(*d.Cand))
		}
	}
	if c.SLO != nil {
		add("good requests", c.SLO.Good)
	}
	add("failures", c.Failures)
	return out
}

var changeWord = map[string]string{analyze.Worse: "worse", analyze.Better: "better", analyze.Inconclusive: "undecided"}

// change is one figure in words: "tpot p99 worse by 23 % [18, 29]".
func change(d analyze.Delta) string {
	name := figureName(d)
	if d.Ratio == nil || d.CI == nil {
		return name + " " + d.Verdict + " (" + duration(d.Base) + " → " + duration(d.Cand) + ")"
	}
	word := changeWord[d.Verdict]
	if d.LowN && d.Verdict == analyze.Inconclusive {
		word += " (low n)" // the interval does not hold then
	}
	return fmt.Sprintf("%s %s: %s, %s → %s", name, word, ratioText(*d.Ratio, d.CI[0], d.CI[1]), duration(d.Base), duration(d.Cand))
}

// ratioText is a ratio with its interval as people say it: as a change in per cent, or as a factor from 2 on.
func ratioText(r, lo, hi float64) string {
	if max(r, 1/r) >= 2 {
		return "x " + three(r) + " [" + three(lo) + ", " + three(hi) + "]"
	}
	return signed(100*(r-1)) + " % [" + signed(100*(lo-1)) + ", " + signed(100*(hi-1)) + "]"
}

// three prints v with three significant digits, and never in powers of ten.
func three(v float64) string {
	if math.Abs(v) >= 999.5 {
		return number(v, 0)
	}
	return fmt.Sprintf("%.3g", v)
}

func signed(v float64) string {
	if v < 0 {
		return three(v)
	}
	return "+" + three(v)
}

func figureName(d analyze.Delta) string { return fmt.Sprintf("%s p%.4g", d.Metric, 100*d.Quantile) }

// table makes a result of rows that no query gave.
func table(id, title, about string, columns []analyze.Column, rows [][]any) *analyze.Result {
	return &analyze.Result{Query: id, Title: title, About: about, Columns: columns, Rows: rows}
}

// columnsOf reads "name unit" pairs; the first keys are keys.
func columnsOf(keys int, list ...string) []analyze.Column {
	out := make([]analyze.Column, len(list))
	for i, s := range list {
		name, unit, _ := strings.Cut(s, " ")
		out[i] = analyze.Column{Name: name, Unit: unit, Key: i < keys}
	}
	return out
}

// maybe is the value behind p, nil without one.
func maybe[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
