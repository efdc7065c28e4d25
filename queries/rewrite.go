package queries

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// rewrite gives the text of a call from its arguments, and from the condition of its FILTER clause, "" without.
type rewrite func(args []string, filter string) string

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
	mapPattern    = regexp.MustCompile(`\bMAP \{`)
)

// calls rewrites the calls of the functions, inner ones first: what stands to the right of a call's name is done when
// its turn comes.
func calls(text string, functions map[string]rewrite) string {
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
func jsonRows(text string, records func(text string, names, types []string) string) string {
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
		names, types = append(names, name), append(types, kind)
	}
	return text[:m[0]] + records(args[0], names, types) + jsonRows(text[end+1:], records)
}

// lookups rewrites MAP {'a': x, ...}[key].
func lookups(text string, lookup func(keys, values []string, key string) string) string {
	for {
		masked := mask(text)
		m := mapPattern.FindStringIndex(masked)
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
		text = text[:m[0]] + lookup(keys, values, text[end+2:last]) + text[last+1:]
	}
}

// sharedFunctions are the calls that Trino and Spark both spell so.
var sharedFunctions = map[string]rewrite{
	"str_split":       spelled("split"),
	"list":            spelled("array_agg"),
	"arg_min_null":    spelled("min_by"),
	"list_sort":       spelled("array_sort"),
	"list_distinct":   spelled("array_distinct"),
	"array_to_string": spelled("array_join"),
	"list_filter": func(a []string, _ string) string {
		return "filter(" + a[0] + ", " + lambda.ReplaceAllString(a[1], "$1 -> ") + ")"
	},
	"arg_min": func(a []string, _ string) string {
		return fmt.Sprintf("min_by(%s, %s) FILTER (WHERE %s IS NOT NULL)", a[0], a[1], a[0])
	},
}

// beside are the functions of both.
func beside(shared, own map[string]rewrite) map[string]rewrite {
	all := maps.Clone(shared)
	maps.Copy(all, own)
	return all
}
