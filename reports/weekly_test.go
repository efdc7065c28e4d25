package reports

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"reprise/analyze"
)

const week47 = int64(1794787200000000) // Monday 2026-11-16T00:00Z

// weeklyStory is the second story of the design: chat misses its objective, batch keeps it, an hour is missing.
func weeklyStory() WeeklyInput {
	hour := int64(3600e6)
	side := func(good, bad int64) analyze.WeekSide {
		allowed := float64(good+bad) / 100
		left := 1 - float64(bad)/allowed
		return analyze.WeekSide{Good: good, Bad: bad, Attainment: analyze.Attain(good, bad, .99), Allowed: &allowed, Left: &left}
	}
	last, lastBatch := side(99420, 580), side(19820, 180)
	w := &analyze.Weekly{From: week47, To: week47 + 168*hour, Seen: [2]int64{week47, week47 + 168*hour}, Last: [2]int64{week47 - 168*hour, week47},
		Silent: [][2]int64{{week47 + 85*hour, week47 + 86*hour}}, Skipped: []analyze.Warning{{Code: "rule_skipped", Message: "rule 3d/6h is skipped: it looks back 72 h, the log covers 20.0 h"}},
		Groups: []analyze.WeekGroup{
			{Name: "chat", This: side(98310, 1690), Last: &last, ShareChange: &analyze.ShareChange{Diff: -.0111, CI: &[2]float64{-.012, -.0102}, PAdj: 1e-30, Verdict: analyze.Worse}},
			{Name: "batch|" + hostile, This: side(19824, 176), Last: &lastBatch, ShareChange: &analyze.ShareChange{Diff: .0002, CI: &[2]float64{-.001, .0014}, PAdj: .8, Verdict: analyze.Unclear}},
		},
		Latency:   []analyze.WeekDelta{{Group: "chat", Metric: "ttft", Quantile: .99, N: 98310, LastN: 99420, This: 4912.5, Last: 912.25, Ratio: &analyze.RatioCI{Ratio: 5.385, CI: [2]float64{4.1, 6.2}}, P: new(float64), PAdj: new(float64), Verdict: analyze.Worse}},
		Parts:     []analyze.WeekPart{{Dimension: "tenant", Name: hostile, N: 2000, Bad: 1200, Share: .4, Last: .99, Extra: 1180, OfBad: .643, PAdj: 1e-20}},
		Incidents: []analyze.Incident{{From: week47 + 58*hour, To: week47 + 59*hour, Eligible: 9000, Bad: 1311, Expected: .01, Cause: "unexplained", Text: "the load was not larger than outside"}},
		Within:    1311, Missing: map[string]string{"system_prompt": "this log has no prompt text"},
		Results: map[string]*analyze.Result{}}
	w.Results["alerts"] = table("alerts", "Alerts", "", columnsOf(3, "grp text", "rule text", "start_us time", "end_us time", "peak_burn ratio", "budget_used share"),
		[][]any{{"chat", "6h/30m", week47 + 58*hour, week47 + 60*hour, 7.5, .05}, {"chat", "1h/5m", week47 + 58*hour, week47 + 59*hour, 57.1, .02}})
	w.Results["burn_rules"] = table("burn_rules", "Rules", "", columnsOf(2, "grp text", "rule text", "hours_judged h"), [][]any{{"chat", "1h/5m", 167.0}})
	w.Results["burn_rate"] = table("burn_rate", "Burn", "", columnsOf(1, "at_us time", "burn ratio"), [][]any{{week47, .5}, {week47 + hour, 2.5}})
	w.Results["burn_rate"].Chart = "line x=at_us y=burn"
	cost := columnsOf(1, "grp text", "gpus GPUs", "cost $", "per_million_output $", "per_million_good $", "per_million_misses $")
	w.Results["cost"] = table("cost", "Cost", "", cost, [][]any{{"all", 8.0, 3360.0, .4, .41, .01}})
	w.Results["last/cost"] = table("cost", "Cost", "", cost, [][]any{{"all", 8.0, 3360.0, .34, .35, .01}})
	for _, name := range []string{"error_budget", "weekly_latency"} {
		w.Results[name] = &analyze.Result{Coverage: covered(), SQL: "SELECT '" + hostile + "'"}
	}
	return WeeklyInput{Run: "s3/gateway", By: []string{"route"}, SLO: analyze.SLO{Text: "ttft<=1s@99%", Objective: .99}, Week: w, Next: []string{"reprise analyze s3/gateway"}}
}

func TestWeeklyGoldens(t *testing.T) {
	r := BuildWeekly(weeklyStory())
	var text, md bytes.Buffer
	if err := WriteText(&text, r, TextOptions{Rows: 20}); err != nil {
		t.Fatal(err)
	}
	if err := WriteMarkdown(&md, r); err != nil {
		t.Fatal(err)
	}
	golden(t, "weekly.txt", text.Bytes())
	golden(t, "weekly.md", md.Bytes())
}

// The first screen in words, worked out by hand: 1690 of 1000 allowed is 69 % overspent, 176 of 200 leaves 12 %.
func TestWeeklyAnswer(t *testing.T) {
	in := weeklyStory()
	in.Week.Groups[1].Name = "batch"
	r := BuildWeekly(in)
	want := []string{
		"1 of 2 groups missed the objective, 1 kept it.",
		"Furthest from it is chat: 98.3 % [98.2, 98.4] of 100,000 judged calls met ttft<=1s@99%: the objective of 99 % is missed.",
		"Error budget of the week for chat: 69 % overspent (1,690 bad calls, 1,000 allowed).",
		"Against last week worse for chat: 99.42 % to 98.31 % (-1.11 points [-1.20, -1.02]).",
		"2 burn rate alerts would have fired; the hottest: rule 1h/5m for chat from Wed 2026-11-18 10:00 to 11:00 UTC, burn up to 57.1.",
		"1,311 of the 1,866 bad calls (70.3 %) came in 1 incident, the others in quiet hours.",
	}
	if r.Verdict != "bad" || strings.Join(r.Answer, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s", r.Verdict, strings.Join(r.Answer, "\n"))
	}
	if len(r.Notes) != 3 || !strings.Contains(r.Notes[1], "from Thu 2026-11-19 13:00 to 14:00 UTC") || !strings.Contains(r.Figures[0].Value, "budget -69 %   missed") ||
		!strings.Contains(r.Figures[1].Value, "budget +12 %   kept") {
		t.Errorf("notes %q, figures %v", r.Notes, r.Figures)
	}
}

// Without requests nothing else is said; without groups to judge neither kept nor missed is.
func TestWeeklySilence(t *testing.T) {
	in := weeklyStory()
	in.Week.Groups = []analyze.WeekGroup{{Name: "all", This: analyze.WeekSide{Unevaluable: 7}}}
	if r := BuildWeekly(in); r.Verdict != "unsure" || len(r.Answer) != 1 || r.Answer[0] != "No call of this week can be judged under ttft<=1s@99%." {
		t.Errorf("%+v", r.Answer)
	}
	in.Week.Seen = [2]int64{week47, week47}
	if r := BuildWeekly(in); r.Verdict != "unsure" || len(r.Sections) != 0 {
		t.Errorf("%+v", r)
	}
}

// A name from a log becomes neither a table cell of its own nor markup.
func TestMarkdownHostile(t *testing.T) {
	var b bytes.Buffer
	r := everything()
	r.Answer = []string{"a|b *c* <d> `e` [f](g) # h"}
	if err := WriteMarkdown(&b, r); err != nil {
		t.Fatal(err)
	}
	prose, commands, _ := strings.Cut(b.String(), "\nNext:\n\n") // commands stand in an indented block, where nothing is markup
	if !strings.HasPrefix(commands, "    reprise query latency </script>") || strings.Count(commands, "\n") != 1 {
		t.Errorf("commands %q", commands)
	}
	for _, bad := range []string{"<img", "</script>", "\u202e", "\x1b", "a|b"} {
		if strings.Contains(prose, bad) {
			t.Errorf("%q is in the Markdown", bad)
		}
	}
	if !strings.Contains(b.String(), `**a\|b \*c\* &lt;d> 'e' \[f\](g) \# h**`) {
		t.Errorf("%.300s", b.String())
	}
}

// Alerts that fired again shortly after count as one, and the table of rules counts each: both numbers are said. The coverage is that of the week alone.
func TestWeeklyFiredAgain(t *testing.T) {
	in := weeklyStory()
	alerts := in.Week.Results["alerts"]
	alerts.Columns = append(slices.Clone(alerts.Columns), analyze.Column{Name: "fired", Unit: "alerts"})
	for i := range alerts.Rows {
		alerts.Rows[i] = append(slices.Clone(alerts.Rows[i]), int64(2+i))
	}
	in.Week.Results["goodput"] = &analyze.Result{Query: "goodput", Coverage: analyze.Coverage{Requests: 7}}
	r := BuildWeekly(in)
	if want := "2 burn rate alerts would have fired (5 with those that fired again shortly after); the hottest"; !strings.Contains(strings.Join(r.Answer, "\n"), want) {
		t.Errorf("no %q in %q", want, r.Answer)
	}
	if got := r.Sections[0].Result.Coverage.Requests; got != 7 {
		t.Errorf("coverage of %d requests", got)
	}
}

// The first screen speaks of the groups with most requests, not of the first by name.
func TestLargest(t *testing.T) {
	r := &analyze.Result{Columns: []analyze.Column{{Name: "grp"}, {Name: "n"}}, Rows: [][]any{{nil, int64(0)}, {"a", int64(5)}, {"b", int64(9)}, {"c", int64(7)}}}
	var got []string
	for _, v := range largest(views(r)) {
		got = append(got, v.text("grp"))
	}
	if want := []string{"b", "c", "a"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
