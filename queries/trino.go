package queries

import (
	"fmt"
	"regexp"
	"strings"
)

var trinoWords = words{
	functions: trinoFunctions,
	spelling:  trinoSpelling,
	records: func(text string, names, types []string) string {
		var fields []string
		for i, name := range names {
			fields = append(fields, name+" "+types[i])
		}
		list := strings.Join(names, ", ")
		return fmt.Sprintf("SELECT %s\nFROM UNNEST(CAST(json_parse(%s) AS ARRAY(ROW(%s)))) AS listed(%s)", list, text, strings.Join(fields, ", "), list)
	},
	lookup: func(keys, values []string, key string) string {
		return fmt.Sprintf("element_at(MAP(ARRAY[%s], ARRAY[%s]), %s)", strings.Join(keys, ", "), strings.Join(values, ", "), key)
	},
}

// trinoFunctions are the calls that Trino spells otherwise, or that give another answer there: greatest and least of
// Trino are NULL when one argument is. A percentile is taken from the sorted list of the values, type 7.
var trinoFunctions = beside(sharedFunctions, map[string]rewrite{
	"greatest": ignoringNulls("array_max"),
	"least":    ignoringNulls("array_min"),
	"len":      func(a []string, _ string) string { return "cardinality(" + a[0] + ")" },
	"list_max": func(a []string, _ string) string { return "array_max(" + a[0] + ")" },
	"list_sum": func(a []string, _ string) string {
		return "reduce(CAST(" + a[0] + " AS ARRAY(BIGINT)), CAST(0 AS BIGINT), (s, v) -> s + v, s -> s)"
	},
	"contains": func(a []string, _ string) string { return "(strpos(" + a[0] + ", " + a[1] + ") > 0)" },
	"epoch_us": func(a []string, _ string) string { return "CAST(round(to_unixtime(" + a[0] + ") * 1e6) AS BIGINT)" },
	// another sample than DuckDB's, and twice as large: its numbers have no 64th bit without a sign
	"hash": func(a []string, _ string) string {
		return "bitwise_right_shift(from_big_endian_64(xxhash64(to_utf8(format('" + strings.Repeat("%s ", len(a)) + "', " + strings.Join(a, ", ") + ")))), 1)"
	},

	"string_agg": func(a []string, filter string) string {
		by, order, _ := strings.Cut(a[1], " ORDER BY ")
		return "array_join(" + spelled("array_agg")([]string{a[0] + " ORDER BY " + order}, filter) + ", " + by + ")"
	},

	"quantile_cont": func(a []string, filter string) string {
		known := a[0] + " IS NOT NULL"
		if filter != "" {
			known += " AND (" + filter + ")"
		}
		return fmt.Sprintf("element_at(transform(ARRAY[array_agg(CAST(%[1]s AS DOUBLE) ORDER BY %[1]s) FILTER (WHERE %[2]s)], "+
			"s -> element_at(s, CAST(floor((cardinality(s) - 1) * %[3]se0) AS BIGINT) + 1) + ((cardinality(s) - 1) * %[3]se0 - floor((cardinality(s) - 1) * %[3]se0))"+
			" * (element_at(s, CAST(ceil((cardinality(s) - 1) * %[3]se0) AS BIGINT) + 1) - element_at(s, CAST(floor((cardinality(s) - 1) * %[3]se0) AS BIGINT) + 1))), 1)",
			a[0], known, a[1])
	},
})

func ignoringNulls(of string) rewrite {
	return func(args []string, _ string) string {
		return of + "(filter(ARRAY[" + strings.Join(args, ", ") + "], v -> v IS NOT NULL))"
	}
}

// trinoSpelling are words outside of calls, in order.
var trinoSpelling = []spelling{
	{regexp.MustCompile(`\bAS (?:NOT )?MATERIALIZED \(`), "AS ("},
	{regexp.MustCompile(`\bIS NOT TRUE\b`), "IS DISTINCT FROM TRUE"},
	{regexp.MustCompile(`\bHUGEINT\b`), "DECIMAL(38, 0)"},
	{regexp.MustCompile(`\b([a-z_]+)\[2:\]`), "slice($1, 2, cardinality($1))"},
	{regexp.MustCompile(`\b([a-z_]+)\[([0-9]+)\]`), "element_at($1, $2)"}, // NULL beyond the end
	{regexp.MustCompile(`//`), "/"},                                       // of whole numbers
	{regexp.MustCompile(`\b([a-z_]+) SEMI JOIN ([a-z_]+) USING \(([a-z_, ]+)\) WHERE\b`), "$1 WHERE ($3) IN (SELECT $3 FROM $2) AND"},
}
