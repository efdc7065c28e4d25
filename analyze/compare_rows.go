package analyze

import (
	"fmt"
	"slices"
	"strings"
)

// logical is one row of queries/pairs.sql: a request as its caller saw it. nil is unknown.
type logical struct {
	id, group, session    string
	attempt               attemptKey
	arrival, lag          *int64 // microseconds
	vantage, kind, status string
	verdict               string
	latency, copied       bool
	estimated, derived    bool                  // output tokens, id
	values                [metricCount]*float64 // microseconds
	input, cached, output *int64
}

// attemptKey names the attempt that speaks for the request, as queries/pair_gaps.sql does.
type attemptKey struct {
	id string
	n  int64
}

func (l *logical) ok() bool     { return l.status == "ok" || l.status == "ok_length" }
func (l *logical) failed() bool { return l.status == "failed" }
func (l *logical) good() bool   { return l.verdict == "good" }
func (l *logical) judged() bool { return l.verdict == "good" || l.verdict == "bad" }

// logicals reads the rows of the pairs query.
func logicals(r *Result) ([]logical, error) {
	at, err := columnIndex(r, "request_id", "grp", "session_id", "attempt_id", "attempt", "copies", "arrival_us", "send_lag_us",
		"vantage", "ttft_kind", "quality", "status", "latency", "verdict", "ttft_us", "tpot_us", "e2e_us", "max_gap_us",
		"input_tokens", "cached_tokens", "output_tokens")
	if err != nil {
		return nil, err
	}
	out := make([]logical, len(r.Rows))
	for i, row := range r.Rows {
		text := func(name string) string { s, _ := row[at[name]].(string); return s }
		whole := func(name string) *int64 { return integer(row[at[name]]) }
		latency, _ := row[at["latency"]].(bool)
		flags := strings.Split(text("quality"), ",")
		out[i] = logical{
			id: text("request_id"), group: text("grp"), session: text("session_id"),
			attempt: attemptKey{text("attempt_id"), deref(whole("attempt"))},
			arrival: whole("arrival_us"), lag: whole("send_lag_us"),
			vantage: text("vantage"), kind: text("ttft_kind"), status: text("status"), verdict: text("verdict"),
			latency: latency, copied: deref(whole("copies")) > 1,
			estimated: slices.Contains(flags, "tokens_estimated"), derived: slices.Contains(flags, "id_derived"),
			input: whole("input_tokens"), cached: whole("cached_tokens"), output: whole("output_tokens"),
		}
		for m, info := range latencyMetrics {
			out[i].values[m] = number(row[at[info.name+"_us"]])
		}
	}
	return out, nil
}

// gapLists reads the rows of the pair_gaps query.
func gapLists(r *Result) (map[attemptKey][]float64, error) {
	at, err := columnIndex(r, "request_id", "attempt", "gaps_us")
	if err != nil {
		return nil, err
	}
	out := make(map[attemptKey][]float64, len(r.Rows))
	for _, row := range r.Rows {
		id, _ := row[at["request_id"]].(string)
		cells, _ := row[at["gaps_us"]].([]any)
		gaps := make([]float64, 0, len(cells))
		for _, c := range cells {
			if v := number(c); v != nil {
				gaps = append(gaps, *v)
			}
		}
		out[attemptKey{id, deref(integer(row[at["attempt"]]))}] = gaps
	}
	return out, nil
}

func columnIndex(r *Result, names ...string) (map[string]int, error) {
	at := map[string]int{}
	for i, c := range r.Columns {
		at[c.Name] = i
	}
	for _, n := range names {
		if _, ok := at[n]; !ok {
			return nil, fmt.Errorf("query %s: no column %q", r.Query, n)
		}
	}
	return at, nil
}

func integer(v any) *int64 {
	if n, ok := v.(int64); ok {
		return &n
	}
	return nil
}

func number(v any) *float64 {
	switch n := v.(type) {
	case int64:
		f := float64(n)
		return &f
	case float64:
		return &n
	}
	return nil
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
