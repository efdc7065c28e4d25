package queries

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// forbidden is what a query text must not hold, so that one text runs on DuckDB, Trino and Spark with the same answer
// (distributed.md part 6) and reads base views only. base/ is free of these rules but for the first.
var forbidden = []struct{ name, pattern string }{
	{"correlated EXISTS (DuckDB gave wrong rows, metrics.md 8.1)", `(?i)\bexists\b`},
	{"raw column", `\b(arrival|model_requested|cached_input_tokens|cache_write_tokens|system_prompt_tokens|system_prompt_hash|prefix_hash_ids|chunk_tokens|time_precision_us|clock_domain|source_file|source_line|key_hash|trace_id|span_id)\b`},
	{"raw data", `(?i)read_parquet|\{source\}|\{[a-z_]+\}`},
	{"integer division", `//|(?i)\bdiv\b`},
	{"decimal literal (write 5e-1)", `\b\d+\.\d+\b`},
	{"cast by colons", `::`},
	{"list index or slice", `\[`},
	{"one engine's function", `(?i)\b(quantile\w*|percentile\w*|approx_\w+|list_\w+|unnest|range|generate_\w+|epoch_us|date_trunc|time_bucket|strpos|regexp_\w+|ifnull|nvl|median|mode|arg_min|arg_max|contains|len|log)\s*\(`},
	{"one engine's clause", `(?i)\b(qualify|asof|pivot|unpivot|interval|fetch|exclude|replace|using|tablesample|distinct\s+on|group\s+by\s+all|order\s+by\s+all)\b`},
	{"text of a number", `(?i)AS\s+VARCHAR`},
}

// TestLint reads the text of every query without comments and string literals.
func TestLint(t *testing.T) {
	for _, q := range List() {
		text := noise.ReplaceAllString(q.Text, " '' ")
		for _, f := range forbidden {
			if m := regexp.MustCompile(f.pattern).FindString(text); m != "" {
				t.Errorf("%s.sql: %s: %q", q.Name, f.name, m)
			}
		}
		if q.Quantiles == nil && !lastOrdered.MatchString(text) {
			t.Errorf("%s.sql: the result has no ORDER BY", q.Name)
		}
		if n := strings.Count(q.Text, "\n") + 1; n > maxLines {
			t.Errorf("%s.sql: %d lines of text, at most %d", q.Name, n, maxLines)
		}
		for _, m := range defined.FindAllStringSubmatch(text, -1) {
			if slices.Contains(Views(), m[1]) {
				t.Errorf("%s.sql: CTE %s has the name of a base view", q.Name, m[1])
			}
		}
	}
	for _, v := range load().views {
		if regexp.MustCompile(forbidden[0].pattern).MatchString(noise.ReplaceAllString(v.Text, "")) {
			t.Errorf("base/%s.sql: EXISTS", v.Name)
		}
	}
}

// maxLines bounds the text after the header: what fits on a screen.
const maxLines = 60

var (
	lastOrdered = regexp.MustCompile(`(?is)\bORDER BY [^()]+$`)
	defined     = regexp.MustCompile(`(?m)^([a-z_0-9]+) AS \(`)
)

// TestLintSees shows that the rules catch what they are for.
func TestLintSees(t *testing.T) {
	for name, text := range map[string]string{
		"correlated EXISTS (DuckDB gave wrong rows, metrics.md 8.1)": "SELECT 1 WHERE NOT EXISTS (SELECT 1)",
		"raw column":                   "SELECT arrival FROM x",
		"raw data":                     "SELECT * FROM read_parquet('x')",
		"integer division":             "SELECT a // b",
		"decimal literal (write 5e-1)": "SELECT 0.5",
		"cast by colons":               "SELECT a::int",
		"list index or slice":          "SELECT a[1]",
		"one engine's function":        "SELECT quantile_cont(a, 1)",
		"one engine's clause":          "SELECT 1 QUALIFY 1",
		"text of a number":             "SELECT CAST(a AS VARCHAR)",
	} {
		i := slices.IndexFunc(forbidden, func(f struct{ name, pattern string }) bool { return f.name == name })
		if i < 0 || !regexp.MustCompile(forbidden[i].pattern).MatchString(text) {
			t.Errorf("%s: not seen in %q", name, text)
		}
	}
}
