package queries

import (
	"fmt"
	"regexp"
	"strings"
)

// sparkWords are for texts in DuckDB's words and, since Spark takes Trino's files, in Trino's. A missing element of a list or a map is an
// error for Spark unless it is tried; percentile is exact, type 7.
var sparkWords = words{
	functions: beside(sharedFunctions, map[string]rewrite{
		"len":           spelled("array_size"),
		"cardinality":   spelled("array_size"),
		"element_at":    spelled("try_element_at"),
		"repeat":        spelled("array_repeat"),
		"list_max":      spelled("array_max"),
		"epoch_us":      spelled("unix_micros"),
		"quantile_cont": spelled("percentile"),
		"array_agg":     sortedList,
		"list_sum": func(a []string, _ string) string {
			return "reduce(" + a[0] + ", CAST(0 AS BIGINT), (s, v) -> s + v)"
		},
		"string_agg": func(a []string, filter string) string {
			by, order, _ := strings.Cut(a[1], " ORDER BY ")
			return "array_join(" + sortedList([]string{a[0] + " ORDER BY " + order}, filter) + ", " + by + ")"
		},
		"sum": func(a []string, filter string) string { // the order only settles the last digits
			value, _, _ := strings.Cut(a[0], " ORDER BY ")
			return spelled("sum")([]string{value}, filter)
		},
	}),
	spelling: []spelling{
		{regexp.MustCompile(`\bAS (?:NOT )?MATERIALIZED \(`), "AS ("},
		{regexp.MustCompile(`\bHUGEINT\b`), "DECIMAL(38, 0)"},
		{regexp.MustCompile(`\bARRAY\(([A-Z]+)\)`), "ARRAY<$1>"},
		{regexp.MustCompile(`\b([a-z_]+)\[2:\]`), "slice($1, 2, array_size($1))"},
		{regexp.MustCompile(`\b([a-z_]+)\[([a-z0-9]+)\]`), "try_element_at($1, $2)"},
		{regexp.MustCompile(` // `), " div "},
		{regexp.MustCompile(`\bSEMI JOIN\b`), "LEFT SEMI JOIN"},
	},
	records: func(text string, names, types []string) string {
		var fields []string
		for i, name := range names {
			fields = append(fields, name+": "+strings.ReplaceAll(types[i], "VARCHAR", "STRING"))
		}
		return fmt.Sprintf("SELECT inline(from_json(%s, 'ARRAY<STRUCT<%s>>', map('mode', 'FAILFAST')))", text, strings.Join(fields, ", "))
	},
	lookup: func(keys, values []string, key string) string {
		var pairs []string
		for i, k := range keys {
			pairs = append(pairs, k+", "+values[i])
		}
		return "try_element_at(map(" + strings.Join(pairs, ", ") + "), " + key + ")"
	},
	clauses: func(text string) string { return nullsLast(wideRanks(constructors(lateralViews(text)))) },
}

// sortedList is array_agg(x ORDER BY y); Spark's own knows no order.
func sortedList(a []string, filter string) string {
	value, order, ok := strings.Cut(strings.Join(a, ", "), " ORDER BY ")
	if !ok {
		return spelled("array_agg")(a, filter)
	}
	return "transform(array_sort(" + spelled("array_agg")([]string{"struct(" + order + ", " + value + " AS value)"}, filter) + "), s -> s.value)"
}

var varchar = regexp.MustCompile(`\bVARCHAR\b`)

// finish is the last pass over a whole statement. For Spark text has another name, in a literal a backslash escapes, and what looks like a
// variable would be filled in.
func (d Dialect) finish(text string) string {
	if d != Spark {
		return text
	}
	return noise.ReplaceAllStringFunc(substitute(text, varchar, "STRING"), func(s string) string {
		if s[0] != '\'' {
			return s
		}
		return "'" + sparkEscapes.Replace(s[1:len(s)-1]) + "'"
	})
}

var sparkEscapes = strings.NewReplacer(`\`, `\\`, `''`, `\u0027`, `$`, `\u0024`)
