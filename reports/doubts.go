package reports

import (
	"fmt"
	"strings"

	"reprise/analyze"
)

// doubt is one way in which the verdict could still be wrong.
type doubt struct{ what, known, settles string }

// doubtsSection lists what the comparison does not show, what is known of it, and what would settle it.
func doubtsSection(m *analyze.Migration) Section {
	var rows [][]any
	for _, d := range doubts(m) {
		rows = append(rows, []any{d.what, orNone(d.settles), d.known})
	}
	return section("doubts", table("doubts", "What could still be wrong", "Ways in which the verdict could be wrong although every figure above is right.",
		columnsOf(1, "doubt text", "would_settle text", "known text"), rows), "")
}

func doubts(m *analyze.Migration) (out []doubt) {
	for _, w := range m.Warnings {
		if w.Code != "run_to_run" { // said with its remedy below
			out = append(out, doubt{strings.ReplaceAll(w.Code, "_", " "), w.Message, settles[w.Code]})
		}
	}
	out = append(out, noiseDoubts(m)...)
	if n := lowN(m.Comparison); n != "" {
		out = append(out, doubt{"few values in the tail", n + " rest on fewer than ten values beyond the quantile", "a longer window of traffic"})
	}
	for _, a := range m.Absent {
		out = append(out, doubt{a.Metric + " is not compared", a.Reason, "a log or replay that tells it for both"})
	}
	if f := m.Fidelity; f.OutputRatio != nil && *f.OutputRatio != 1 && m.Comparable {
		out = append(out, doubt{"answers of other lengths", fmt.Sprintf("the candidate wrote %.3g times the output tokens of the base", *f.OutputRatio), "replay with --lengths recorded"})
	}
	if m.Runs[0].Sweep == nil || m.Runs[1].Sweep == nil {
		out = append(out, doubt{"one load only", "nothing is known of more or less load than that of the pairs", "reprise sweep both, then --base-sweep and --cand-sweep"})
	}
	if span := pairSpan(m.Comparison); span != "" {
		out = append(out, doubt{"one stretch of time", "the pairs cover " + span + "; other hours have other traffic", "pairs from the busiest hour, and from another day"})
	}
	return append(out, doubt{"what the answers say", "only times and counts are compared, not the text", "your own evaluation of quality"})
}

func orNone(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// settles is what helps against a warning of a comparison.
var settles = map[string]string{
	"vantage":          "logs of both from one place",
	"cache":            "replay both with --salt of their own, or warm both",
	"failures":         "look at the requests that ended badly, then repeat",
	"no_selfcheck":     "reprise selfcheck on the machine that sends",
	"late_client":      "a quieter or larger machine, or a lower --speed",
	"degraded":         "replay again; its reasons say what to change",
	"few_clusters":     "more conversations, or a longer window",
	"noisy_target":     "repeat when nothing else uses the targets",
	"noise_unknown":    "a second run of the base with the same plan",
	"ids_repeat":       "logs that give each call an id of its own",
	"arrivals_unknown": "logs with arrival times",
	"token_counts":     "usage from the server in both runs",
	"groups":           "a longer window, or fewer groups",
}

// noiseDoubts say what is known of how far two runs of one target differ.
func noiseDoubts(m *analyze.Migration) []doubt {
	if m.Noise == nil && m.Base != m.Cand {
		return []doubt{{"chance between runs", "each target ran once: the intervals do not hold how far two runs of one target differ",
			"a second run of the base (--aa), or reprise experiment"}}
	}
	return nil
}

func lowN(c *analyze.Comparison) string {
	var names []string
	for _, d := range c.Metrics {
		if d.Gated && d.LowN {
			names = append(names, figureName(d))
		}
	}
	return strings.Join(names, ", ")
}

// pairSpan is how long the pairs took in the base run; "" when no pair has a time.
func pairSpan(c *analyze.Comparison) string {
	if b := c.Sides["base"]; b != nil && b.FirstUS != nil {
		return duration(float64(*b.LastUS-*b.FirstUS) / 1e3)
	}
	return ""
}
