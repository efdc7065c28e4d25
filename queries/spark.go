package queries

import (
	"fmt"
	"regexp"
	"strings"
)

// sparkWords are for texts in DuckDB's words and, since Spark takes Trino's files, in Trino's. A missing element of a list or a map is an
// error for Spark unless it is tried; percentile is exact, type 7.
var sparkWords = words{
	functions: map[string]rewrite{
		"len":             spelled("array_size"),
		"cardinality":     spelled("array_size"),
		"element_at":      spelled("try_element_at"),
		"repeat":          spelled("array_repeat"),
		"list_max":        spelled("array_max"),
		"epoch_us":        spelled("unix_micros"),
		"str_split":       spelled("split"),
		"list":            spelled("array_agg"),
		"arg_min_null":    spelled("min_by"),
		"list_sort":       spelled("array_sort"),
		"list_distinct":   spelled("array_distinct"),
		"array_to_string": spelled("array_join"),
		"list_filter":     trinoFunctions["list_filter"],
		"arg_min":         trinoFunctions["arg_min"],
		"quantile_cont":   spelled("percentile"),
		"array_agg":       sortedList,
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
	},
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
	value, order, ok := strings.Cut(a[0], " ORDER BY ")
	if !ok {
		return spelled("array_agg")(a, filter)
	}
	return "transform(array_sort(" + spelled("array_agg")([]string{"struct(" + order + ", " + value + " AS value)"}, filter) + "), s -> s.value)"
}

var (
	unnestPattern = regexp.MustCompile(`\bCROSS JOIN UNNEST\(`)
	listedAs      = regexp.MustCompile(`^( WITH ORDINALITY)? AS ([a-z_]+)\(`)
)

// lateralViews rewrites CROSS JOIN UNNEST(list, ...) [WITH ORDINALITY] AS name(columns). The first of several lists is the longest, or as long.
func lateralViews(text string) string {
	for {
		masked := mask(text)
		m := unnestPattern.FindStringIndex(masked)
		if m == nil {
			return text
		}
		end := closing(masked, m[1]-1)
		as := listedAs.FindStringSubmatchIndex(masked[end+1:])
		if as == nil {
			return text
		}
		after := closing(masked, end+as[1])
		lists, columns := split(text[m[1]:end]), text[end+1+as[1]:after]
		rows := "explode(" + lists[0] + ")"
		switch {
		case as[2] >= 0:
			fields := "x"
			for _, l := range lists[1:] {
				fields += ", try_element_at(" + l + ", i + 1)"
			}
			rows = "inline(transform(" + lists[0] + ", (x, i) -> struct(" + fields + ", CAST(i + 1 AS BIGINT))))"
		case strings.Contains(columns, ","): // of rows
			rows = "inline(" + lists[0] + ")"
		}
		text = text[:m[0]] + "LATERAL VIEW " + rows + " " + text[end+1+as[4]:end+1+as[5]] + " AS " + columns + text[after+1:]
	}
}

// constructors rewrites ROW and ARRAY, of types and of values.
func constructors(text string) string {
	for _, c := range []struct{ word, open, close string }{{"AS ROW(", "AS STRUCT<", ">"}, {"ROW(", "struct(", ")"}, {"ARRAY[", "array(", ")"}} {
		for at := 0; ; {
			masked := mask(text)
			i := strings.Index(masked[at:], c.word)
			if i < 0 {
				break
			}
			from := at + i
			end := closing(masked, from+len(c.word)-1)
			text = text[:from] + c.open + text[from+len(c.word):end] + c.close + text[end+1:]
			at = from + len(c.open)
		}
	}
	return text
}

var rankPattern = regexp.MustCompile(`\brow_number\(\) OVER \(`)

// wideRanks makes whole numbers of 64 bits of ranks, as they are elsewhere: products of theirs would overflow.
func wideRanks(text string) string {
	at := 0
	for {
		masked := mask(text)
		m := rankPattern.FindStringIndex(masked[at:])
		if m == nil {
			return text
		}
		from, end := at+m[0], closing(masked, at+m[1]-1)
		text = text[:from] + "CAST(" + text[from:end+1] + " AS BIGINT)" + text[end+1:]
		at = from + len("CAST(") + m[1] - m[0]
	}
}

var (
	orderPattern = regexp.MustCompile(`\bORDER BY `)
	frameWord    = regexp.MustCompile(`\s(?:ROWS|RANGE|LIMIT)\b`)
)

// nullsLast says of every order where unknown values stand: first, for Spark, where the other engines have them last.
func nullsLast(text string) string {
	for at := 0; ; {
		masked := mask(text)
		m := orderPattern.FindStringIndex(masked[at:])
		if m == nil {
			return text
		}
		from := at + m[1]
		end := unopened(masked, from)
		if f := outermost(masked[:end], from, frameWord); f != nil {
			end = f[0]
		}
		end = from + len(strings.TrimRight(text[from:end], " \n"))
		var items []string
		for _, item := range split(text[from:end]) {
			if !strings.Contains(item, " NULLS ") {
				item += " NULLS LAST"
			}
			items = append(items, item)
		}
		text = text[:from] + strings.Join(items, ", ") + text[end:]
		at = from
	}
}

// unopened is the place of the bracket that closes one before from; len(masked) without one.
func unopened(masked string, from int) int {
	depth := 0
	for i := from; i < len(masked); i++ {
		switch masked[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return len(masked)
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
