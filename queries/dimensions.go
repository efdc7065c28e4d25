package queries

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// dimensions are the columns that requests can be grouped by. Those that are not text are turned into text first.
var dimensions = []struct{ name, text string }{
	{"model", ""}, {"model_served", ""}, {"tenant", ""}, {"app", ""}, {"route", ""}, {"replica", ""},
	{"deployment", ""}, {"provider", ""}, {"user_hash", ""}, {"session_id", ""}, {"system_hash", ""},
	{"endpoint_kind", ""}, {"status", ""}, {"error_class", ""}, {"finish_reason", ""}, {"excluded", "coalesce(excluded, 'none')"},
	{"source_format", ""}, {"told_by", ""}, {"vantage", ""}, {"ttft_kind", ""},
	{"turn", "CAST(turn AS VARCHAR)"}, {"attempt", "CAST(attempt AS VARCHAR)"},
	{"http_status", "CAST(http_status AS VARCHAR)"},
	{"stream", "CASE WHEN stream THEN 'streamed' WHEN NOT stream THEN 'whole' END"},
}

// Dimensions returns the names that Scope.By may hold.
func Dimensions() []string {
	var names []string
	for _, d := range dimensions {
		names = append(names, d.name)
	}
	return names
}

// Unnamed stands for what a log does not name, in grp and as a tenant of the views of stalls; "unknown" is a name that gateways write.
const Unnamed = "(unknown)"

// group renders the expression of grp. Unknown values are one group, [Unnamed]. Of several columns, a slash beside a blank within a name is
// doubled: else ("a / b", "c") and ("a", "b / c") were one group.
func group(by []string) (string, error) {
	if len(by) == 0 {
		return "'all'", nil
	}
	var parts []string
	for _, name := range by {
		i := slices.Index(Dimensions(), name)
		if i < 0 {
			return "", fmt.Errorf("cannot group by %q; there are: %s", name, strings.Join(Dimensions(), ", "))
		}
		part := "coalesce(" + cmp.Or(dimensions[i].text, name) + ", '" + Unnamed + "')"
		if len(by) > 1 && dimensions[i].text == "" {
			part = "replace(replace(" + part + ", ' /', ' //'), '/ ', '// ')"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " || ' / ' || "), nil
}

// columnList renders the columns that grp is made of, each behind a comma.
func columnList(by []string) string {
	text := ""
	for i, name := range by {
		if !slices.Contains(by[:i], name) {
			text += ", " + name
		}
	}
	return text
}

// arrivalRange renders the bounds on the raw column arrival, in a form that is pushed into the Parquet reader.
func (s Source) arrivalRange(sc Scope) string {
	var terms []string
	if sc.From != nil {
		terms = append(terms, "arrival >= "+s.stamp(*sc.From))
	}
	if sc.To != nil {
		terms = append(terms, "arrival < "+s.stamp(*sc.To))
	}
	if terms == nil {
		return "TRUE"
	}
	return strings.Join(append(terms, s.days(sc)...), " AND ")
}

// days are the bounds on the partition column, which clusters prune by; DuckDB reads the statistics of the files. Rows that
// were joined have no day.
func (s Source) days(sc Scope) (terms []string) {
	if s.Dialect == DuckDB || s.Joined {
		return nil
	}
	day := func(us int64) string { return time.UnixMicro(us).UTC().Format("'2006-01-02'") }
	if sc.From != nil {
		terms = append(terms, "day >= "+day(*sc.From))
	}
	if sc.To != nil {
		terms = append(terms, "day <= "+day(*sc.To))
	}
	return terms
}

func (s Source) stamp(us int64) string {
	at := time.UnixMicro(us).UTC().Format("2006-01-02 15:04:05.000000")
	switch s.Dialect {
	case Trino:
		return "TIMESTAMP '" + at + "'"
	case Spark: // of its zone, not the session's
		return "TIMESTAMP '" + at + "Z'"
	}
	return "TIMESTAMPTZ '" + at + "+00'"
}
