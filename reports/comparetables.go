package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/analyze"
)

func withheld(c *analyze.Comparison) string {
	if c.Comparable {
		return ""
	}
	return "the runs are not comparable: " + strings.Join(c.WhyNot, "; ")
}

// fairness shows what the two runs were sent: the first thing to doubt.
func fairness(c *analyze.Comparison) Section {
	b, n, f := c.Sides["base"], c.Sides["cand"], c.Fidelity
	if b == nil || n == nil {
		return section("fairness", nil, "the runs were not described")
	}
	num := func(v int) string { return count(int64(v)) }
	tokens := func(p *int64) string {
		if p == nil {
			return unknown
		}
		return count(*p)
	}
	rows := [][]any{
		{"requests", num(b.Requests), num(n.Requests), nil},
		{"requests during the pairs", num(b.InWindow), num(n.InWindow), nil},
		{"pairs", num(c.Pairs), num(c.Pairs), nil},
		{"pairs that are ok in this run only", num(c.Paired.OKToNot), num(c.Paired.NotToOK), nil},
		{"ids that stand for several calls, not paired", num(b.Copied), num(n.Copied), nil},
		{"input tokens of the pairs", tokens(b.InputTokens), tokens(n.InputTokens), maybe(f.InputRatio)},
		{"output tokens of the pairs", tokens(b.OutputTokens), tokens(n.OutputTokens), maybe(f.OutputRatio)},
		{"input tokens that came from cache", orUnknown(b.CachedShare, percent), orUnknown(n.CachedShare, percent), nil},
		{"lateness of the client, p99", orUnknown(b.SendLagP99, duration), orUnknown(n.SendLagP99, duration), nil},
		{"error of the client's sends by its self-check, p99", clientError(b, false), clientError(n, false), nil},
		{"error of the client's chunk times, p99", clientError(b, true), clientError(n, true), nil},
		{"request rate of the pairs", nil, nil, maybe(f.RateRatio)},
		{"seen from", listed(b.Vantages), listed(n.Vantages), nil},
		{"first token means", listed(b.TTFTKinds), listed(n.TTFTKinds), nil},
	}
	if b.Client == nil && n.Client == nil {
		rows = slices.DeleteFunc(rows, func(r []any) bool { return strings.HasPrefix(r[0].(string), "error of the client's") })
	}
	about := fmt.Sprintf("Load that both runs received, over the pairs; a ratio is over the pairs for which both runs tell. Distance of arrival patterns (Kolmogorov-Smirnov): %s; 95 %% of arrivals lie within %s of each other; "+
		"pairs with the same input tokens within 2 %%: %s; distance of output lengths: %s.", orUnknown(f.ArrivalKS, one), orUnknown(f.ArrivalShift, duration),
		orUnknown(f.InputSame, percent), orUnknown(f.OutputKS, one))
	r := table("fairness", "Is the comparison fair? "+fair(c), about, columnsOf(1, "what text", "base text", "candidate text", "ratio ratio"), rows)
	return section("fairness", r, "")
}

// unlike says which warnings make runs differ in more than the target.
var unlike = map[string]string{
	"cache":         "not the same share of input from the prefix cache",
	"degraded":      "a replay that is degraded",
	"failures":      "one run with more failures",
	"late_client":   "a client that was late",
	"other_traffic": "one run with more requests in the time of the pairs",
	"vantage":       "seen from different places",
}

func fair(c *analyze.Comparison) string {
	if !c.Comparable {
		return "No: " + strings.Join(c.WhyNot, "; ")
	}
	var but []string
	for _, w := range c.Warnings {
		if text := unlike[w.Code]; text != "" && !slices.Contains(but, text) {
			but = append(but, text)
		}
	}
	if len(but) > 0 {
		return "The same load, but: " + strings.Join(but, "; ")
	}
	return "Yes: the same load"
}

// clientError is an error of the client itself, as its self-check measured it.
func clientError(s *analyze.Side, stamps bool) any {
	switch c := s.Client; {
	case c == nil:
		return nil
	case stamps:
		return duration(c.StampP99)
	default:
		return duration(c.SendP99)
	}
}

func listed(names []string) any {
	if len(names) == 0 {
		return nil
	}
	return strings.Join(names, ", ")
}

func orUnknown(p *float64, print func(float64) string) string {
	if p == nil {
		return unknown
	}
	return print(*p)
}

var deltaColumns = []string{"figure text", "n values", "base ms", "candidate ms", "ratio ratio", "low ratio", "high ratio", "p_adjusted p", "verdict text", "decides text"}

func deltaRow(d analyze.Delta) []any {
	lo, hi := ci(d.CI)
	note := d.Verdict
	if d.LowN {
		note += " (low n)"
	}
	return []any{figureName(d), int64(d.N), d.Base, d.Cand, maybe(d.Ratio), lo, hi, maybe(d.PAdj), note, d.Gated}
}

func ci(p *[2]float64) (lo, hi any) {
	if p == nil {
		return nil, nil
	}
	return p[0], p[1]
}

func figuresSection(c *analyze.Comparison) Section {
	var rows [][]any
	for _, d := range c.Metrics {
		rows = append(rows, deltaRow(d))
	}
	about := fmt.Sprintf("Quantiles of both runs over the same requests, candidate / base, with a 95 %% interval (paired bootstrap, %s resamples of %s units of kind %s). "+
		"better: the interval lies below 1; non-inferior: the one-sided upper bound is within the margin; worse: the lower bound is above it. "+
		"low n: under ten values lie beyond the quantile; under three the interval does not hold, and only a ratio that all pairs agree on decides.",
		count(int64(c.Resample.B)), count(int64(c.Resample.Clusters)), c.Resample.Unit)
	columns := deltaColumns
	if c.Noise != nil {
		about += " same ratio: the same figure over two runs of the base's target; a difference that is not larger than that is inconclusive."
		columns = append(append([]string{}, columns...), "same_ratio ratio", "same_low ratio", "same_high ratio")
		for i, d := range c.Metrics {
			rows[i] = append(rows[i], noiseCells(d.Noise)...)
		}
	}
	missing := withheld(c)
	if missing == "" && len(rows) == 0 {
		missing = "no metric is known on both sides of a pair"
	}
	s := section("figures", table("figures", "Every figure", about, columnsOf(1, columns...), rows), missing)
	if s.Missing == "" {
		s.Charts = ratioChart(c)
	}
	return s
}

// ratioChart draws every ratio with its interval, coloured by verdict.
func ratioChart(c *analyze.Comparison) []Chart {
	ch := Chart{Kind: "dots", Title: "candidate / base with 95 % intervals, below 1 is better", X: Axis{Name: "candidate / base", Unit: "ratio"}, Y: Axis{Names: []string{}},
		Marks: []Mark{{"no change", 1, true}, {"margin", 1 + c.Margin, true}}}
	at := map[string]int{}
	for _, d := range c.Metrics {
		if d.Ratio == nil || d.CI == nil {
			continue
		}
		i, ok := at[d.Verdict]
		if !ok {
			i, at[d.Verdict] = len(ch.Series), len(ch.Series)
			ch.Series = append(ch.Series, Series{Name: d.Verdict, Tone: tones[d.Verdict]})
		}
		ch.Series[i].Points = append(ch.Series[i].Points, Point{X: *d.Ratio, Y: float64(len(ch.Y.Names)), Lo: d.CI[0], Hi: d.CI[1]})
		ch.Y.Names = append(ch.Y.Names, figureName(d))
	}
	if len(ch.Series) == 0 {
		return nil
	}
	ch.X.Log = spanOfRatios(ch.Series) > 5
	return []Chart{ch}
}

// spanOfRatios is how many times the highest end of an interval is the lowest; 0 when it has none.
func spanOfRatios(ss []Series) float64 {
	lo, hi := math.Inf(1), 0.0
	for _, s := range ss {
		for _, p := range s.Points {
			lo, hi = min(lo, p.Lo), max(hi, p.Hi)
		}
	}
	if lo <= 0 {
		return 0
	}
	return hi / lo
}

func sloSection(c *analyze.Comparison) Section {
	s := c.SLO
	side := func(name string, v analyze.SLOSide) []any {
		return []any{name, int64(v.Good), int64(s.Good.N), maybe(v.Share), v.CI[0], v.CI[1], v.Met, maybe(v.RequestsPS), maybe(v.TokensPS)}
	}
	about := "Requests that meet every term of " + s.Text + " at once, with a 95 % interval of their share; met is a test of the objective"
	if s.Objective != nil {
		about += " of " + percent(*s.Objective)
	}
	r := table("slo", "Objective", about+".", columnsOf(1, "run text", "good requests", "of requests", "share share", "low share", "high share", "met text",
		"good_requests requests/s", "good_tokens tokens/s"), [][]any{side("base", s.Base), side("candidate", s.Cand)})
	if s.Withheld != "" {
		r.Warnings = []analyze.Warning{{Code: "withheld", Message: "no verdict: " + s.Withheld}}
	}
	return section("slo", r, withheld(c))
}

func longGaps(c *analyze.Comparison) Section {
	var rows [][]any
	for _, g := range c.LongGaps {
		var ratio, lo, hi any
		if g.Ratio != nil {
			ratio, lo, hi = g.Ratio.Ratio, g.Ratio.CI[0], g.Ratio.CI[1]
		}
		rows = append(rows, []any{"over " + duration(g.Over), int64(g.Base), int64(g.Cand), ratio, lo, hi, g.Verdict})
	}
	r := table("long_gaps", "Long gaps between chunks", "How many gaps between two chunks of one answer exceed a length, over the same requests. A percentile of all gaps can fall while long ones grow in number.",
		columnsOf(1, "gap text", "base gaps", "candidate gaps", "ratio ratio", "low ratio", "high ratio", "verdict text"), rows)
	missing := withheld(c)
	for _, a := range c.Absent {
		if a.Metric == "chunk_gap" && missing == "" {
			missing = a.Reason
		}
	}
	if missing == "" {
		r.Chart = "bar x=gap y=base,candidate"
	}
	return section("long_gaps", r, missing)
}

func groupsSection(c *analyze.Comparison) Section {
	s := groupRows("groups", "By group", "The same figures for each group of the base run that is large enough. With many groups some differ by chance: p is adjusted for their number (Benjamini-Hochberg), and groups do not decide.", c.Groups)
	s.Missing = withheld(c)
	return s
}

// groupRows is one row a group and figure.
func groupRows(id, title, about string, groups []analyze.GroupDelta) Section {
	var rows [][]any
	for _, g := range groups {
		for _, d := range g.Metrics {
			rows = append(rows, append([]any{g.Group}, deltaRow(d)[:9]...))
		}
	}
	return section(id, table(id, title, about, columnsOf(2, append([]string{"group text"}, deltaColumns[:9]...)...), rows), "")
}

func turnedSection(c *analyze.Comparison) Section {
	var rows [][]any
	for _, t := range c.Turned {
		row := []any{t.ID, t.To}
		for _, s := range []analyze.TurnedSide{t.Base, t.Cand} {
			row = append(row, s.Status, maybe(s.TTFT), maybe(s.TPOT), maybe(s.E2E), maybe(s.MaxGap))
		}
		rows = append(rows, row)
	}
	what := "ended well"
	if c.SLO != nil {
		what = "met the objective"
	}
	r := table("turned", "Requests that changed sides", "Pairs that "+what+" in one run only, those whose first token moved most first.",
		columnsOf(1, "request_id text", "turned text", "base_status text", "base_ttft ms", "base_tpot ms", "base_e2e ms", "base_max_gap ms",
			"candidate_status text", "candidate_ttft ms", "candidate_tpot ms", "candidate_e2e ms", "candidate_max_gap ms"), rows)
	if all := c.ToBad + c.ToGood; all > len(rows) {
		r.Warnings = []analyze.Warning{{Code: "listed", Message: fmt.Sprintf("%s turned bad and %s good; %s of them are listed", count(int64(c.ToBad)), count(int64(c.ToGood)), count(int64(len(rows))))}}
	}
	return section("turned", r, withheld(c))
}
