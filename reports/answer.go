package reports

import (
	"fmt"
	"slices"

	"reprise/analyze"
)

// answer says what happened, in the order of what a reader must know first: incidents, the objective, else the tail.
func answer(in AnalyzeInput) (verdict string, out []string) {
	verdict, objective := objectiveAnswer(in)
	for i, inc := range worstFirst(in.Incidents) {
		if i == maxIncidents {
			out = append(out, fmt.Sprintf("%d more incidents are listed below.", len(in.Incidents)-maxIncidents))
			break
		}
		verdict, out = "bad", append(out, incidentText(inc))
	}
	if objective != "" {
		return verdict, append(out, objective)
	}
	return verdict, append(out, tailAnswer(in.Results["latency"])...)
}

const maxIncidents = 3

func worstFirst(in []analyze.Incident) []analyze.Incident {
	out := slices.Clone(in)
	slices.SortStableFunc(out, func(a, b analyze.Incident) int { return int(b.Bad - a.Bad) })
	return out
}

// objectiveAnswer compares the share of good calls with the objective. It decides only when the interval of the share
// (Wilson, 95 %) lies on one side.
func objectiveAnswer(in AnalyzeInput) (verdict, text string) {
	slo, err := analyze.ParseSLO(in.SLO)
	rows := views(in.Results["goodput"])
	if err != nil || len(rows) == 0 {
		return "", ""
	}
	rows = slices.DeleteFunc(rows, func(v rowView) bool { return v.num("attainment") == nil })
	if len(rows) == 0 {
		return "", "No call can be judged under " + in.SLO + "."
	}
	worst := slices.MinFunc(rows, func(a, b rowView) int { return compare(*a.num("attainment"), *b.num("attainment")) })
	verdict, word := judged(worst, slo.Objective)
	judgedCalls := int64(orZero(worst.num("good")) + orZero(worst.num("bad")))
	text = fmt.Sprintf("%s of %s judged calls met %s: the objective of %s is %s.", attained(worst), count(judgedCalls), in.SLO, percent(slo.Objective), word)
	if len(rows) > 1 {
		text = fmt.Sprintf("Worst of %d groups is %s: ", len(rows), worst.text("grp")) + text
	}
	return verdict, text
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func judged(v rowView, objective float64) (verdict, word string) {
	switch lo, hi := v.num("attainment_low"), v.num("attainment_high"); {
	case lo == nil || hi == nil:
		return "unsure", "not decided"
	case *hi < objective:
		return "bad", "missed"
	case *lo >= objective:
		return "good", "kept"
	}
	return "unsure", "neither missed nor kept for sure (too few calls)"
}

// tailAnswer is what can be said without an objective.
func tailAnswer(r *analyze.Result) []string {
	for _, v := range views(r) {
		if m := v.text("metric"); (m == "ttft" || m == "e2e") && v.num("p99") != nil {
			return []string{fmt.Sprintf("%s p99 is %s over %s calls.", m, duration(*v.num("p99")), v.counted("n"))}
		}
	}
	return []string{"No latency can be measured in this log."}
}
