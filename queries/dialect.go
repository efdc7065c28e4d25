package queries

import (
	"path"
	"regexp"
	"sync"
)

// Dialect is the SQL of an engine. The texts of the catalogue are DuckDB's; those of another engine follow from them by
// the rules of its dialect, and by the files of base/NAME, which stand in for a view, or for a part of one, that is
// another text there. Spark takes Trino's files, in its own words, where it has none.
type Dialect string

// The engines. The zero value is DuckDB.
const (
	DuckDB Dialect = ""
	Trino  Dialect = "trino"
	Spark  Dialect = "spark"
)

// folders hold what the dialect has of its own, the first that has a file counts.
func (d Dialect) folders() []string {
	switch d {
	case DuckDB:
		return []string{"duckdb"}
	case Spark:
		return []string{"spark", "trino"}
	}
	return []string{string(d)}
}

// view is the text of a view in the dialect.
func (d Dialect) view(name string) string {
	switch d {
	case Trino:
		return trinoViews()[name]
	case Spark:
		return sparkViews()[name]
	}
	return d.untranslated(name)
}

var (
	trinoViews = sync.OnceValue(Trino.views)
	sparkViews = sync.OnceValue(Spark.views)
)

// views are all views in the dialect's words, made once: a placeholder is filled in later, and its value stays as it is.
func (d Dialect) views() map[string]string {
	out := map[string]string{}
	for name := range load().views {
		out[name] = d.translate(d.untranslated(name))
	}
	return out
}

// untranslated is the text of the dialect's own, else that of all. A part {NAME} of it is the file NAME of the dialect's folder.
func (d Dialect) untranslated(name string) string {
	text, ok := d.own(name)
	if !ok {
		text = load().views[name].Text
	}
	return partPattern.ReplaceAllStringFunc(text, func(s string) string {
		if part, ok := d.own(s[1 : len(s)-1]); ok {
			return part
		}
		return s
	})
}

func (d Dialect) own(name string) (string, bool) {
	for _, folder := range d.folders() {
		if text, ok := load().own[path.Join(folder, name)]; ok {
			return text, true
		}
	}
	return "", false
}

var partPattern = regexp.MustCompile(`\{[a-z_]+\}`)

// words are what an engine spells otherwise than DuckDB: calls, words outside of calls, in order, rows of JSON and lookups in a map.
type words struct {
	functions map[string]rewrite
	spelling  []spelling
	records   func(text string, names, types []string) string
	lookup    func(keys, values []string, key string) string
	clauses   func(text string) string // what no rule of these says; nil: nothing
}

// spelling is a pattern outside of comments and literals, and what stands there instead.
type spelling struct {
	pattern *regexp.Regexp
	with    string
}

// translate turns DuckDB's spelling into that of the dialect.
func (d Dialect) translate(text string) string {
	var w words
	switch d {
	case Trino:
		w = trinoWords
	case Spark:
		w = sparkWords
	default:
		return text
	}
	text = calls(lookups(jsonRows(text, w.records), w.lookup), w.functions)
	for _, s := range w.spelling {
		text = substitute(text, s.pattern, s.with)
	}
	text = stars(text)
	if w.clauses != nil {
		text = w.clauses(text)
	}
	return text
}
