package reports

import (
	"cmp"
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

// objectiveAnswer tests the share of good calls against the objective. Of several groups it counts those that miss it and
// speaks of the one with most bad calls beyond what the objective allows, so that one call of a small group does not
// stand for all.
func objectiveAnswer(in AnalyzeInput) (verdict, text string) {
	slo := in.SLO
	if slo.Text == "" || in.Results["goodput"] == nil {
		return "", ""
	}
	groups := judgedGroups(in.Results["goodput"], slo.Objective)
	if len(groups) == 0 {
		return "", "No call can be judged under " + slo.Text + "."
	}
	worst := slices.MaxFunc(groups, func(a, b judgedGroup) int { return cmp.Compare(a.beyond(slo.Objective), b.beyond(slo.Objective)) })
	text = worst.sentence(slo)
	missed := 0
	verdict = metVerdict[worst.met()]
	for _, g := range groups {
		if g.met() == "fail" {
			missed, verdict = missed+1, "bad"
		}
	}
	if len(groups) > 1 {
		text = fmt.Sprintf("%d of %d groups miss the objective. Most bad calls beyond it has %s: ", missed, len(groups), worst.name) + text
	}
	return verdict, text
}

type judgedGroup struct {
	*analyze.Attainment
	name   string
	n      int64 // calls with a verdict
	silent int64 // calls that the log does not tell enough of
}

// met is the verdict of the test, but open where more calls are silent than judged: the judged ones may then be the failed
// ones alone, since a failure needs no latency to be judged.
func (g judgedGroup) met() string {
	if g.silent > g.n {
		return "inconclusive"
	}
	return g.Met
}

// sentence says how many calls met the objective, and whether it is kept.
func (g judgedGroup) sentence(slo analyze.SLO) string {
	return fmt.Sprintf("%s of %s met %s: the objective of %s is %s.", attained(g.Attainment), plural(g.n, "judged call"), slo.Text, percent(slo.Objective), g.words())
}

func (g judgedGroup) words() string {
	switch {
	case g.silent > g.n:
		return "not decided, since " + plural(g.silent, "call") + " cannot be judged: the log does not tell what it asks for"
	case g.silent > 0:
		return metWords[g.Met] + "; " + plural(g.silent, "call") + " cannot be judged"
	}
	return metWords[g.Met]
}

// beyond counts the bad calls beyond those that the objective allows.
func (g judgedGroup) beyond(objective float64) float64 { return (objective - g.Share) * float64(g.n) }

func judgedGroups(r *analyze.Result, objective float64) (out []judgedGroup) {
	for _, v := range views(r) {
		if a := attainmentOf(v, objective); a != nil {
			out = append(out, judgedGroup{a, v.text("grp"), int64(orZero(v.num("good")) + orZero(v.num("bad"))), int64(orZero(v.num("unevaluable")))})
		}
	}
	return out
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
