package analyze

import (
	"slices"

	"reprise/queries"
)

// Result is the answer to one query on one run: what a report, a terminal table or a JSON file shows.
type Result struct {
	Query    string            `json:"query"`
	Title    string            `json:"title"`
	About    string            `json:"about,omitempty"` // definition, for the reader
	Level    string            `json:"level,omitempty"` // metrics.md 0.4
	Params   map[string]string `json:"params"`
	Columns  []Column          `json:"columns"`
	Rows     [][]any           `json:"rows"` // nil, bool, int64, float64 (finite), string or []any of these; JSON writes rows as objects
	Chart    string            `json:"chart,omitempty"`
	SQL      string            `json:"-"` // the whole statement, so that a figure can be checked
	Warnings []Warning         `json:"warnings"`
	Coverage Coverage          `json:"coverage"`
}

// Column names a column of a Result. Better says in which direction it improves: higher, lower or none.
type Column struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"` // ms, tokens, requests, share (0 to 1), tokens/s, time (microseconds since 1970), text ...
	Better string `json:"better"`
	Key    bool   `json:"key,omitempty"`
}

// Named is a cell as programs read it: what the log does not name (queries.Unnamed) is nil.
func (c Column) Named(v any) any {
	if v == queries.Unnamed && slices.Contains([]string{"grp", "tenant", "culprit", "victim"}, c.Name) {
		return nil
	}
	return v
}

// Warning is something that does not stop the analysis but must be shown. Code is stable, Message is for people.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Coverage says over which requests a figure was taken.
type Coverage struct {
	Requests int64            `json:"requests"` // attempts in the time range
	Eligible int64            `json:"eligible"` // of them in latency statistics
	Excluded map[string]int64 `json:"excluded"` // the others, by reason
}
