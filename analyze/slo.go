package analyze

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"reprise/queries"
)

// SLO is a set of objectives on single requests. The zero value has no terms.
type SLO struct {
	Terms     []Term
	Objective float64 // share of requests that must meet all terms at once, 0 to 1
	Text      string  // as given
	Sections  []SLOSection
}

// SLOSection is an SLO of its own for some of the requests: the first section that fits a request replaces Terms for it.
// Objectives are those of the whole SLO.
type SLOSection struct {
	Tenant, Model string // "" is any
	Terms         []Term
}

// Term bounds one metric of a request, inclusive. Objective is the share of requests that must meet this term alone.
type Term struct {
	Metric    string  // one of sloMetrics
	Bound     int64   // microseconds
	Objective float64 // 0 to 1
	PerInput  float64 // microseconds that each input token adds to the bound
}

var sloMetrics = []string{"ttft", "ttfvt", "tpot", "e2e", "max_gap"}

// DefaultObjective holds where the text names none.
const DefaultObjective = 0.99

// presets by name: metrics.md 3.1 (MLPerf inference rules of July 2026; GuideLLM's chat profile).
var presets = map[string]string{
	"guidellm-chat":                    "ttft<=200ms,tpot<=50ms@99%",
	"mlperf-llama2-70b-conversational": "ttft<=2000ms,tpot<=200ms@99%",
	"mlperf-llama2-70b-interactive":    "ttft<=450ms,tpot<=40ms@99%",
	"mlperf-llama3.1-8b":               "ttft<=2000ms,tpot<=100ms@99%",
	"mlperf-llama3.1-8b-interactive":   "ttft<=500ms,tpot<=30ms@99%",
	"mlperf-llama3.1-405b":             "ttft<=6000ms,tpot<=175ms@99%",
	"mlperf-llama3.1-405b-interactive": "ttft<=4500ms,tpot<=80ms@99%",
	"mlperf-mixtral":                   "ttft<=2000ms,tpot<=200ms@99%",
	"mlperf-deepseek-r1":               "ttft<=2000ms,tpot<=80ms@99%",
	"mlperf-deepseek-r1-interactive":   "ttft<=1500ms,tpot<=15ms@99%",
	"mlperf-gpt-oss-120b":              "ttft<=3000ms,tpot<=80ms@99%",
	"mlperf-gpt-oss-120b-interactive":  "ttft<=2000ms,tpot<=20ms@99%",
}

// Presets returns the presets by name with their meaning.
func Presets() map[string]string {
	return maps.Clone(presets)
}

func presetNames() []string { return slices.Sorted(maps.Keys(presets)) }

// ParseSLO reads a preset's name or terms separated by commas:
//
//	SLO  = TERM {"," TERM}
//	TERM = METRIC "<=" TIME ["+" TIME "*" "in"] ["@" NUMBER "%"]
//	TIME = NUMBER ("us"|"ms"|"s")
//
// "ttft<=200ms+0.1ms*in" allows 200 ms and 0.1 ms more for each input token; only ttft, ttfvt and e2e may grow so.
//
// A term without an objective takes that of the next term that has one, so "ttft<=1s,tpot<=60ms@95%" asks 95 % of both;
// [DefaultObjective] without any. The objective for all terms at once is the lowest of them. Errors name the position
// in bytes, counted from 1.
func ParseSLO(text string) (SLO, error) {
	expanded, isPreset := presets[strings.TrimSpace(text)]
	if !isPreset {
		expanded = text
	}
	p := sloParser{text: expanded}
	slo, err := p.parse()
	if err != nil {
		return SLO{}, err
	}
	slo.Text = strings.TrimSpace(text)
	return slo, nil
}

// Params gives the terms as the parameters that base/judged.sql reads.
func (s SLO) Params() map[string]string {
	out := map[string]string{}
	for _, metric := range sloMetrics {
		if cases := s.bounds(metric); cases != nil {
			out[metric+"_slo_us"] = boundText(cases)
		}
		if s.byInput() {
			out["by_input"] = "true"
		}
	}
	return out
}

// bounds are the cases of the metric's bound; nil when nothing sets one.
func (s SLO) bounds(metric string) []queries.Bound {
	var cases []queries.Bound
	some := false
	for _, section := range append(slices.Clone(s.Sections), SLOSection{Terms: s.Terms}) {
		b := queries.Bound{Tenant: section.Tenant, Model: section.Model}
		for _, t := range section.Terms {
			if t.Metric == metric {
				b.US, b.PerInputUS, some = &t.Bound, t.PerInput, true
			}
		}
		cases = append(cases, b)
	}
	if !some {
		return nil
	}
	return cases
}

// boundText is the shortest value of a BOUND parameter.
func boundText(cases []queries.Bound) string {
	if len(cases) == 1 && cases[0].PerInputUS == 0 {
		return strconv.FormatInt(*cases[0].US, 10)
	}
	text, err := json.Marshal(cases)
	if err != nil {
		panic(err) // finite numbers and texts
	}
	return string(text)
}

// byInput says whether a bound needs the input tokens.
func (s SLO) byInput() bool {
	grows := func(t Term) bool { return t.PerInput > 0 }
	return slices.ContainsFunc(s.Terms, grows) || slices.ContainsFunc(s.Sections, func(c SLOSection) bool { return slices.ContainsFunc(c.Terms, grows) })
}

// has says whether some request is held to one of the metrics.
func (s SLO) has(metrics ...string) bool {
	return slices.ContainsFunc(metrics, func(m string) bool { return s.bounds(m) != nil })
}
