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

// objectiveAnswer tests the share of good calls against the objective; of several groups it speaks of the worst.
func objectiveAnswer(in AnalyzeInput) (verdict, text string) {
	slo, err := analyze.ParseSLO(in.SLO)
	rows := views(in.Results["goodput"])
	if err != nil || len(rows) == 0 {
		return "", ""
	}
	var worst *analyze.Attainment
	var of rowView
	for _, v := range rows {
		if a := attainmentOf(v, slo.Objective); a != nil && (worst == nil || a.Share < worst.Share) {
			worst, of = a, v
		}
	}
	if worst == nil {
		return "", "No call can be judged under " + in.SLO + "."
	}
	text = fmt.Sprintf("%s of %s judged calls met %s: the objective of %s is %s.", attained(worst),
		count(of.get("good").(int64)+of.get("bad").(int64)), in.SLO, percent(slo.Objective), metWords[worst.Met])
	if len(rows) > 1 {
		text = fmt.Sprintf("Worst of %d groups is %s: ", len(rows), of.text("grp")) + text
	}
	return metVerdict[worst.Met], text
}

var (
	metWords   = map[string]string{"pass": "kept", "fail": "missed", "inconclusive": "neither missed nor kept for sure (too few calls)"}
	metVerdict = map[string]string{"pass": "good", "fail": "bad", "inconclusive": "unsure"}
)

// tailAnswer is what can be said without an objective.
func tailAnswer(r *analyze.Result) []string {
	for _, v := range views(r) {
		if m := v.text("metric"); (m == "ttft" || m == "e2e") && v.num("p99") != nil {
			return []string{fmt.Sprintf("%s p99 is %s over %s calls.", m, duration(*v.num("p99")), v.counted("n"))}
		}
	}
	return []string{"No latency can be measured in this log."}
}
