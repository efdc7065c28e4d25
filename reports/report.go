package reports

import "reprise/analyze"

// Report is what a reader sees, in the order of reading: the answer, the figures it rests on, then the evidence.
type Report struct {
	Title    string
	Subtitle string   // what was looked at: run, time range, objective
	Verdict  string   // good, bad or unsure: the colour of the answer; empty: no verdict was asked for
	Answer   []string // sentences, the most important first
	Figures  []Figure
	Notes    []string // what makes every figure below doubtful, and what the log cannot say
	Sections []Section
	Next     []string // commands worth running next
	Facts    []Fact   // what it was made from and with: run, sources, window, zone, versions
}

// Fact is one thing a reader must know to make the report again.
type Fact struct{ Name, Value string }

// Figure is one line of the first screen.
type Figure struct {
	Name  string
	Value string // with unit
	Note  string // n, share of requests, interval: what the value can be doubted by
}

// Section is one result with its charts. Without figures Missing says why, and nothing else is shown.
type Section struct {
	ID       string // anchor in the page
	Title    string
	About    string // definition, who is left out
	Level    string // metrics.md 0.4: what the log must hold
	Missing  string
	Result   *analyze.Result
	Charts   []Chart
	PageOnly bool   // too long for a terminal: shown on the page only
	NoChart  string // why there is a table but no chart; empty when the query asks for none
}

// section makes the section of one query: r is nil or without rows when there is nothing to show, missing says why.
func section(query string, r *analyze.Result, missing string) Section {
	s := Section{ID: query, Title: titles[query], Missing: missing}
	if s.Title == "" {
		s.Title = query
	}
	if r == nil {
		if s.Missing == "" {
			s.Missing = "this query was not run"
		}
		return s
	}
	s.Result, s.About, s.Level = r, r.About, r.Level
	if r.Title != "" {
		s.Title = r.Title
	}
	if len(r.Rows) == 0 && s.Missing == "" {
		s.Missing = noRows(r)
	}
	if s.Missing == "" {
		s.Charts, s.NoChart = chartsOf(r)
	}
	return s
}

// noRows explains an empty result by what the run holds.
func noRows(r *analyze.Result) string {
	switch {
	case len(r.Warnings) > 0:
		return r.Warnings[0].Message
	case r.Coverage.Requests == 0:
		return "no requests in this time range"
	case r.Coverage.Eligible == 0:
		return "none of the " + count(r.Coverage.Requests) + " requests can be measured this way"
	case r.Query == "errors":
		return "no request ended badly"
	}
	return "not enough data: the query found no rows"
}

// titles name the sections whose query has not run and so brings no title of its own.
var titles = map[string]string{
	"coverage":              "What the log can say",
	"overview":              "Overview",
	"latency":               "Latency",
	"latency_over_time":     "Latency over time",
	"change_points":         "When the level changed",
	"token_gaps":            "Token gaps",
	"goodput":               "Goodput",
	"goodput_over_time":     "Goodput over time",
	"errors":                "Errors",
	"lengths":               "Lengths",
	"concurrency":           "Concurrency",
	"concurrency_over_time": "Concurrency over time",
	"target_metrics":        "Target over time",
	"system_prompt":         "System prompts",
	"prefix_cache":          "Prefix cache",
	"prefix_curve":          "Prefix cache by size",
	"phases":                "First token by stage",
	"load":                  "Load and saturation",
	"cost":                  "Cost of tokens",
	"throughput_by_batch":   "Throughput by batch size",
	"roofline":              "Hardware limits",
	"decode_stalls":         "Decode time lost to other requests' prefills",
	"stall_controls":        "Do the stalls follow the prefills?",
	"gap_counterfactual":    "Chunk gaps without other requests' prefills",
	"probe_effect":          "What a long prompt does to other streams",
	"stall_labels":          "Stalled gaps by cause",
	"stall_blame":           "Who held whom",
	"stall_culprits":        "Requests that held others",
}
