package queries

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Dialect is the SQL of an engine. The texts of the catalogue are DuckDB's; those of another engine follow from them by
// the rules of its dialect, and by the files of base/NAME, which stand in for a view, or for a part of one, that is
// another text there.
type Dialect string

// The engines. The zero value is DuckDB.
const (
	DuckDB Dialect = ""
	Trino  Dialect = "trino"
)

// folder holds what the dialect has of its own.
func (d Dialect) folder() string {
	if d == DuckDB {
		return "duckdb"
	}
	return string(d)
}

// view is the text of a view in the dialect.
func (d Dialect) view(name string) string {
	if d == Trino {
		return trinoViews()[name]
	}
	return d.untranslated(name)
}

// trinoViews are all views in Trino's words, made once: a placeholder is filled in later, and its value stays as it is.
var trinoViews = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for name := range load().views {
		out[name] = Trino.translate(Trino.untranslated(name))
	}
	return out
})

// untranslated is the text of the dialect's own, else that of all. A part {NAME} of it is the file NAME of the dialect's folder.
func (d Dialect) untranslated(name string) string {
	text, ok := load().own[path.Join(d.folder(), name)]
	if !ok {
		text = load().views[name].Text
	}
	return partPattern.ReplaceAllStringFunc(text, func(s string) string {
		if part, ok := load().own[path.Join(d.folder(), s[1:len(s)-1])]; ok {
			return part
		}
		return s
	})
}

var partPattern = regexp.MustCompile(`\{[a-z_]+\}`)

// translate turns DuckDB's spelling into that of the dialect.
func (d Dialect) translate(text string) string {
	if d == DuckDB {
		return text
	}
	text = calls(jsonRows(text), trinoFunctions)
	for _, r := range trinoSpelling {
		text = substitute(text, r.pattern, r.with)
	}
	return stars(text)
}

// rewrite gives the text of a call from its arguments, and from the condition of its FILTER clause, "" without.
type rewrite func(args []string, filter string) string

// trinoFunctions are the calls that Trino spells otherwise, or that give another answer there: greatest and least of
// Trino are NULL when one argument is. A percentile is taken from the sorted list of the values, type 7.
var trinoFunctions = map[string]rewrite{
	"greatest": ignoringNulls("array_max"),
	"least":    ignoringNulls("array_min"),
	"len":      func(a []string, _ string) string { return "cardinality(" + a[0] + ")" },
	"list_max": func(a []string, _ string) string { return "array_max(" + a[0] + ")" },
	"list_sum": func(a []string, _ string) string {
		return "reduce(CAST(" + a[0] + " AS ARRAY(BIGINT)), BIGINT '0', (s, v) -> s + v, s -> s)"
	},
	"contains":        func(a []string, _ string) string { return "(strpos(" + a[0] + ", " + a[1] + ") > 0)" },
	"epoch_us":        func(a []string, _ string) string { return "CAST(round(to_unixtime(" + a[0] + ") * 1e6) AS BIGINT)" },
	"hash":            func(a []string, _ string) string { return "from_big_endian_64(xxhash64(to_utf8(" + a[0] + ")))" }, // another sample than DuckDB's
	"str_split":       func(a []string, _ string) string { return "split(" + a[0] + ", " + a[1] + ")" },
	"list":            spelled("array_agg"),
	"arg_min_null":    spelled("min_by"),
	"list_sort":       spelled("array_sort"),
	"list_distinct":   spelled("array_distinct"),
	"array_to_string": spelled("array_join"),
	"list_filter": func(a []string, _ string) string {
		return "filter(" + a[0] + ", " + lambda.ReplaceAllString(a[1], "$1 -> ") + ")"
	},
	"string_agg": func(a []string, filter string) string {
		by, order, _ := strings.Cut(a[1], " ORDER BY ")
		return "array_join(" + spelled("array_agg")([]string{a[0] + " ORDER BY " + order}, filter) + ", " + by + ")"
	},
	"arg_min": func(a []string, _ string) string {
		return fmt.Sprintf("min_by(%s, %s) FILTER (WHERE %s IS NOT NULL)", a[0], a[1], a[0])
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
}

var lambda = regexp.MustCompile(`^lambda ([a-z]+): `)

// spelled is a function, or an aggregate, that has another name.
func spelled(name string) rewrite {
	return func(args []string, filter string) string {
		text := name + "(" + strings.Join(args, ", ") + ")"
		if filter != "" {
			text += " FILTER (WHERE " + filter + ")"
		}
		return text
	}
}

func ignoringNulls(of string) rewrite {
	return func(args []string, _ string) string {
		return of + "(filter(ARRAY[" + strings.Join(args, ", ") + "], v -> v IS NOT NULL))"
	}
}

// trinoSpelling are words outside of calls, in order.
var trinoSpelling = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\bAS (?:NOT )?MATERIALIZED \(`), "AS ("},
	{regexp.MustCompile(`\bIS NOT TRUE\b`), "IS DISTINCT FROM TRUE"},
	{regexp.MustCompile(`\bHUGEINT\b`), "DECIMAL(38, 0)"},
	{regexp.MustCompile(`\b([a-z_]+)\[2:\]`), "slice($1, 2, cardinality($1))"},
	{regexp.MustCompile(`\b([a-z_]+)\[([0-9]+)\]`), "element_at($1, $2)"}, // NULL beyond the end
	{regexp.MustCompile(`//`), "/"},                                       // of whole numbers
	{regexp.MustCompile(`\b([a-z_]+) SEMI JOIN ([a-z_]+) USING \(([a-z_, ]+)\) WHERE\b`), "$1 WHERE ($3) IN (SELECT $3 FROM $2) AND"},
}

// substitute replaces the pattern where it stands outside of comments and literals.
func substitute(text string, pattern *regexp.Regexp, with string) string {
	found := pattern.FindAllStringSubmatchIndex(mask(text), -1)
	for _, m := range slices.Backward(found) {
		text = text[:m[0]] + string(pattern.ExpandString(nil, with, text, m)) + text[m[1]:]
	}
	return text
}

var (
	callPattern   = regexp.MustCompile(`\b([a-z_]+)\(`)
	filterPattern = regexp.MustCompile(`^ FILTER \(WHERE `)
	lookup        = regexp.MustCompile(`\bMAP \{`)
)

// calls rewrites the calls of the functions, inner ones first: what stands to the right of a call's name is done when
// its turn comes.
func calls(text string, functions map[string]rewrite) string {
	text = lookups(text)
	found := callPattern.FindAllStringSubmatchIndex(mask(text), -1)
	for _, m := range slices.Backward(found) {
		f, ok := functions[text[m[2]:m[3]]]
		if !ok {
			continue
		}
		masked := mask(text)
		end := closing(masked, m[1]-1)
		args, rest, filter := text[m[1]:end], text[end+1:], ""
		if w := filterPattern.FindString(masked[end+1:]); w != "" {
			over := closing(masked, end+1+len(" FILTER "))
			filter, rest = text[end+1+len(w):over], text[over+1:]
		}
		text = text[:m[0]] + f(split(args), filter) + rest
	}
	return text
}

var rowsOfJSON = regexp.MustCompile(`\bSELECT unnest\(from_json\(`)

// jsonRows rewrites SELECT unnest(from_json(text, '[{"name": "TYPE", ...}]'), recursive := TRUE), a list of records as rows.
func jsonRows(text string) string {
	masked := mask(text)
	m := rowsOfJSON.FindStringIndex(masked)
	if m == nil {
		return text
	}
	args := split(text[m[1]:closing(masked, m[1]-1)])
	end := closing(masked, m[1]-len("(from_json("))
	var names, types []string
	for field := range strings.SplitSeq(strings.Trim(args[1], "'[{}]"), ", ") {
		name, kind, _ := strings.Cut(strings.ReplaceAll(field, `"`, ""), ": ")
		names, types = append(names, name), append(types, name+" "+kind)
	}
	list := strings.Join(names, ", ")
	return fmt.Sprintf("%sSELECT %s\nFROM UNNEST(CAST(json_parse(%s) AS ARRAY(ROW(%s)))) AS listed(%s)%s", text[:m[0]], list, args[0], strings.Join(types, ", "), list,
		jsonRows(text[end+1:]))
}

// lookups rewrites MAP {'a': x, ...}[key].
func lookups(text string) string {
	for {
		masked := mask(text)
		m := lookup.FindStringIndex(masked)
		if m == nil {
			return text
		}
		end := closing(masked, m[1]-1)
		last := closing(masked, end+1)
		var keys, values []string
		for _, pair := range split(text[m[1]:end]) {
			colon := strings.Index(pair, "': ") + 1
			keys, values = append(keys, pair[:colon]), append(values, strings.TrimSpace(pair[colon+1:]))
		}
		text = fmt.Sprintf("%selement_at(MAP(ARRAY[%s], ARRAY[%s]), %s)%s", text[:m[0]], strings.Join(keys, ", "), strings.Join(values, ", "),
			text[end+2:last], text[last+1:])
	}
}
