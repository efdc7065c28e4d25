package reports

import (
	"fmt"

	"reprise/analyze"
)

// hostile is a name that tries to become markup, a script, a terminal command and a change of writing direction at once.
const hostile = "</script><img src=x onerror=\"document.title='hit'\">{{.}}${1}'`\u2028\x1b[2J\u202egnp"

func cols(key int, list ...string) []analyze.Column {
	out := make([]analyze.Column, len(list)/2)
	for i := range out {
		out[i] = analyze.Column{Name: list[2*i], Unit: list[2*i+1], Better: "lower", Key: i < key}
	}
	return out
}

func covered() analyze.Coverage {
	return analyze.Coverage{Requests: 1281006, Eligible: 1190221, Excluded: map[string]int64{"failed": 4100, "cancelled": 800, "not_generation": 85885}}
}

// latencyResult has what goes wrong in tables: few values, none, NULL, values of very different size.
func latencyResult() *analyze.Result {
	return &analyze.Result{Query: "latency", Title: "Latency by group", Level: "L1",
		About:  "Time to first token, time per output token and whole time of requests that finished. Percentiles are exact (type 7).",
		Params: map[string]string{"bin_us": "60000000"},
		Columns: cols(2, "grp", "text", "metric", "text", "n", "requests", "mean", "ms", "p50", "ms", "p90", "ms", "p95", "ms",
			"p99", "ms", "p99_9", "ms", "max", "ms"),
		Rows: [][]any{
			{"chat", "ttft", int64(1190221), 498.2, 212.0, 802.5, 1402.5, 4912.734, 9120.25, 12001.0},
			{"chat", "tpot", int64(1190009), 34.5, 31.25, 49.9, 58.0, 112.0, 310.5, 612.125},
			{hostile, "ttft", int64(6), 305.5, 300.0, 310.0, 320.0, 330.0, 330.9, 331.0},
			{"empty", "ttft", int64(0), nil, nil, nil, nil, nil, nil, nil},
		},
		Coverage: covered(), SQL: "WITH params AS (SELECT 60000000 AS bin_us)\nSELECT '" + hostile + "' AS grp",
		Warnings: []analyze.Warning{{Code: "pseudo_stream", Message: "12 streams came in one piece and have no TTFT: " + hostile}}}
}

// timeResult has two groups over a day in minutes, with an hour missing and a peak.
func timeResult() *analyze.Result {
	r := &analyze.Result{Query: "latency_over_time", Title: "Latency over time", Level: "L1", About: "TTFT by minute of arrival.",
		Columns: cols(2, "grp", "text", "start_us", "time", "n", "requests", "p50", "ms", "p99", "ms"),
		Chart:   "line x=start_us y=p50,p99", Coverage: covered(), SQL: "SELECT 1"}
	start := int64(1795392000000000) // 2026-11-23T00:00:00Z
	for i := int64(0); i < 24*60; i++ {
		if i >= 600 && i < 660 {
			continue
		}
		peak := 0.0
		if i > 842 && i < 860 {
			peak = 8000
		}
		r.Rows = append(r.Rows, []any{"chat", start + i*60e6, int64(820), 200 + float64(i%7), 900 + float64(i*37%211) + peak})
		if i%60 == 0 {
			r.Rows = append(r.Rows, []any{hostile, start + i*60e6, int64(20), nil, 400 + float64(i%11)})
		}
	}
	return r
}

func cdfResult() *analyze.Result {
	r := &analyze.Result{Query: "token_gaps", Title: "Gaps between chunks", Level: "L2", About: "Share of chunk gaps up to a length.",
		Columns: cols(2, "grp", "text", "gap_ms", "ms", "share", "share", "n", "gaps"), Chart: "cdf x=gap_ms y=share", Coverage: covered(), SQL: "SELECT 2"}
	for _, g := range []struct {
		name  string
		scale float64
	}{{"chat", 1}, {"batch", 1.7}} {
		gap := 8.0
		for i := 1; i <= 40; i++ {
			gap *= 1.15
			r.Rows = append(r.Rows, []any{g.name, g.scale * gap, float64(i) / 40, int64(5000)})
		}
	}
	return r
}

func barResult() *analyze.Result {
	return &analyze.Result{Query: "errors", Title: "Errors", Level: "L0", About: "Requests that failed, by class.",
		Columns: cols(1, "error_class", "text", "n", "requests", "share", "share"), Chart: "bar x=error_class y=n",
		Rows:     [][]any{{"rate_limited", int64(1204), 0.0105}, {hostile, int64(311), 0.0027}, {"timeout", int64(12), 0.0001}},
		Coverage: covered(), SQL: "SELECT 3"}
}

func heatResult() *analyze.Result {
	r := &analyze.Result{Query: "stall_culprits", Title: "Who stalls whom", Level: "L3", About: "Seconds of decode lost, by who waited and who was prefilled.",
		Columns: cols(2, "victim", "text", "culprit", "text", "stall_s", "s"), Chart: "heat x=culprit y=victim v=stall_s", Coverage: covered(), SQL: "SELECT 4"}
	names := []string{"acme", hostile, "globex", "initech"}
	for i, a := range names {
		for k, b := range names {
			r.Rows = append(r.Rows, []any{a, b, float64((i+1)*(k+2)*(k+1)) / 3})
		}
	}
	return r
}

// everything is a report with each kind of chart, a missing section and hostile names in every place a name can stand.
func everything() Report {
	r := Report{Title: "Analysis of " + hostile, Subtitle: "23 Nov 2026, SLO " + hostile, Verdict: "bad",
		Answer:  []string{"TTFT p99 is 4.91 s, objective ttft<=1s@99% is missed.", hostile},
		Figures: []Figure{{"TTFT", "p50 212 ms   p95 1.40 s   p99 4.91 s", "n 1,190,221 (92.9 % of requests)"}, {hostile, hostile, hostile}},
		Notes:   []string{"cannot say: " + hostile}, Next: []string{"reprise query latency " + hostile}}
	for _, q := range []*analyze.Result{latencyResult(), timeResult(), cdfResult(), barResult(), heatResult()} {
		r.Sections = append(r.Sections, section(q.Query, q, ""))
	}
	r.Sections = append(r.Sections, section("prefix_cache", nil, "needs log level L4 (cached tokens or prefix hashes); this log has "+hostile))
	return r
}

// manyGroups is a result of routes by bins, its highest value hidden in one row in the middle.
func manyGroups(routes, bins int) *analyze.Result {
	r := timeResult()
	r.Rows = nil
	for g := range routes {
		for b := range bins {
			v := 100 + float64((g*31+b*17)%97)
			if g == routes/2 && b == bins/2 {
				v = 987654
			}
			r.Rows = append(r.Rows, []any{fmt.Sprintf("route-%05d", g), int64(b) * 60e6, int64(10), v / 2, v})
		}
	}
	return r
}
