package queries

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestTranslate gives for each rule DuckDB's spelling and Trino's.
func TestTranslate(t *testing.T) {
	for _, c := range []struct{ duck, trino string }{
		{"greatest(0, a)", "array_max(filter(ARRAY[0, a], v -> v IS NOT NULL))"},
		{"least(a, greatest(b, f(c, d)))", "array_min(filter(ARRAY[a, array_max(filter(ARRAY[b, f(c, d)], v -> v IS NOT NULL))], v -> v IS NOT NULL))"},
		{"'greatest(0, a)' -- least(a, b)", "'greatest(0, a)' -- least(a, b)"},
		{"len(x)", "cardinality(x)"},
		{"contains(q, 'a,b')", "(strpos(q, 'a,b') > 0)"},
		{"epoch_us(min(arrival))", "CAST(round(to_unixtime(min(arrival)) * 1e6) AS BIGINT)"},
		{"hash(a)", "bitwise_right_shift(from_big_endian_64(xxhash64(to_utf8(format('%s ', a)))), 1)"},
		{"hash(a, b)", "bitwise_right_shift(from_big_endian_64(xxhash64(to_utf8(format('%s %s ', a, b)))), 1)"},
		{"list_max(gaps_us[2:])", "array_max(slice(gaps_us, 2, cardinality(gaps_us)))"},
		{"gaps_us[1]", "element_at(gaps_us, 1)"},
		{"arg_min(x, p)", "min_by(x, p) FILTER (WHERE x IS NOT NULL)"},
		{"arg_min_null(x, p) FILTER (WHERE y)", "min_by(x, p) FILTER (WHERE y)"},
		{"array_to_string(list_sort(list_distinct(flatten(list(x)))), ',')", "array_join(array_sort(array_distinct(flatten(array_agg(x)))), ',')"},
		{"list_filter(str_split(q, ','), lambda f: f <> '' AND p)", "filter(split(q, ','), f -> f <> '' AND p)"},
		{"string_agg(x, '+' ORDER BY p) FILTER (WHERE p = f)", "array_join(array_agg(x ORDER BY p) FILTER (WHERE p = f), '+')"},
		{"x AS MATERIALIZED (SELECT 1)", "x AS (SELECT 1)"},
		{"a AND whole IS NOT TRUE", "a AND whole IS DISTINCT FROM TRUE"},
		{"a * b // 30", "a * b / 30"},
		{"MAP {'a': 'x', 'b, c': f(y, 1)}[k]", "element_at(MAP(ARRAY['a', 'b, c'], ARRAY['x', f(y, 1)]), k)"},
		{"SELECT * FROM gaps SEMI JOIN callers USING (request_id, attempt) WHERE x", "SELECT * FROM gaps WHERE (request_id, attempt) IN (SELECT request_id, attempt FROM callers) AND x"},
		{"SELECT * EXCLUDE (b) REPLACE (a + 1 AS a) FROM (SELECT a, t.b, f(x, y) AS c FROM t)", "SELECT a + 1 AS a, c FROM (SELECT a, t.b, f(x, y) AS c FROM t)"},
		{"SELECT * REPLACE (2 AS c) FROM (SELECT *, 1 AS c FROM (SELECT a FROM t WHERE b))", "SELECT a, 2 AS c FROM (SELECT *, 1 AS c FROM (SELECT a FROM t WHERE b))"},
		{`SELECT unnest(from_json(coalesce(x, '[]'), '[{"n": "BIGINT", "p": "VARCHAR"}]'), recursive := TRUE)`,
			"SELECT n, p\nFROM UNNEST(CAST(json_parse(coalesce(x, '[]')) AS ARRAY(ROW(n BIGINT, p VARCHAR)))) AS listed(n, p)"},
	} {
		if got := Trino.translate(c.duck); got != c.trino {
			t.Errorf("%s\n got %s\nwant %s", c.duck, got, c.trino)
		}
		if got := DuckDB.translate(c.duck); got != c.duck {
			t.Errorf("DuckDB: %s became %s", c.duck, got)
		}
	}
	if got := Trino.translate("quantile_cont(x, 0.5) FILTER (WHERE y > f(1))"); !strings.Contains(got, "FILTER (WHERE x IS NOT NULL AND (y > f(1)))") || strings.HasSuffix(got, ")) FILTER") {
		t.Errorf("the condition of a percentile is lost: %s", got)
	}
}

// TestTranslateSpark gives for each rule the spelling of DuckDB, or of Trino, and Spark's.
func TestTranslateSpark(t *testing.T) {
	for _, c := range []struct{ text, spark string }{
		{"greatest(0, least(a, b))", "greatest(0, least(a, b))"},
		{"len(x) + cardinality(y)", "array_size(x) + array_size(y)"},
		{"list_max(gaps_us[2:])", "array_max(slice(gaps_us, 2, array_size(gaps_us)))"},
		{"list_sum(x) - x[1]", "reduce(x, CAST(0 AS BIGINT), (s, v) -> s + v) - try_element_at(x, 1)"},
		{"epoch_us(min(arrival))", "unix_micros(min(arrival))"},
		{"arg_min(x, p)", "min_by(x, p) FILTER (WHERE x IS NOT NULL)"},
		{"quantile_cont(x, 0.5) FILTER (WHERE y)", "percentile(x, 0.5) FILTER (WHERE y)"},
		{"sum(a * b ORDER BY a) + sum(c) OVER w", "sum(a * b) + sum(c) OVER w"},
		{"array_agg(x ORDER BY j, k)", "transform(array_sort(array_agg(struct(j, k, x AS value))), s -> s.value)"},
		{"string_agg(x, '+' ORDER BY p) FILTER (WHERE p = f)", "array_join(transform(array_sort(array_agg(struct(p, x AS value)) FILTER (WHERE p = f)), s -> s.value), '+')"},
		{"list_filter(str_split(q, ','), lambda f: f <> '')", "filter(split(q, ','), f -> f <> '')"},
		{"x AS NOT MATERIALIZED (SELECT CAST(1 AS HUGEINT))", "x AS (SELECT CAST(1 AS DECIMAL(38, 0)))"},
		{"a * b // 30", "a * b div 30"},
		{"MAP {'a': 'x', 'b, c': f(y, 1)}[k]", "try_element_at(map('a', 'x', 'b, c', f(y, 1)), k)"},
		{"SELECT * FROM gaps SEMI JOIN callers USING (request_id) WHERE x", "SELECT * FROM gaps LEFT SEMI JOIN callers USING (request_id) WHERE x"},
		{"SELECT * EXCLUDE (b) FROM (SELECT a, b FROM t)", "SELECT a FROM (SELECT a, b FROM t)"},
		{`SELECT unnest(from_json(x, '[{"n": "BIGINT", "p": "VARCHAR"}]'), recursive := TRUE)`, "SELECT inline(from_json(x, 'ARRAY<STRUCT<n: BIGINT, p: STRING>>', map('mode', 'FAILFAST')))"},
		{"row_number() OVER (PARTITION BY a ORDER BY f(b, c), d DESC) - 1", "CAST(row_number() OVER (PARTITION BY a ORDER BY f(b, c) NULLS LAST, d DESC NULLS LAST) AS BIGINT) - 1"},
		{"max(x) OVER (ORDER BY a ROWS UNBOUNDED PRECEDING), 'ORDER BY a'", "max(x) OVER (ORDER BY a NULLS LAST ROWS UNBOUNDED PRECEDING), 'ORDER BY a'"},
		{"SELECT a FROM t ORDER BY a NULLS FIRST, b\n", "SELECT a FROM t ORDER BY a NULLS FIRST, b NULLS LAST\n"},
		{"FROM t CROSS JOIN UNNEST(split(q, ',')) AS l(f) WHERE f", "FROM t LATERAL VIEW explode(split(q, ',')) l AS f WHERE f"},
		{"FROM t CROSS JOIN UNNEST(counts) AS l(kind, n)", "FROM t LATERAL VIEW inline(counts) l AS kind, n"},
		{"FROM t CROSS JOIN UNNEST(a, b) WITH ORDINALITY AS l(x, y, k)",
			"FROM t LATERAL VIEW inline(transform(a, (x, i) -> struct(x, try_element_at(b, i + 1), CAST(i + 1 AS BIGINT)))) l AS x, y, k"},
		{"CAST(ROW(0, ARRAY[x]) AS ROW(n BIGINT, l ARRAY(BIGINT)))", "CAST(struct(0, array(x)) AS STRUCT<n BIGINT, l ARRAY<BIGINT>>)"},
	} {
		if got := Spark.translate(c.text); got != c.spark {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.spark)
		}
	}
	if got, want := Spark.finish("'it''s \\ ${x}' -- VARCHAR\nAS VARCHAR"), "'it\\u0027s \\\\ \\u0024{x}' -- VARCHAR\nAS STRING"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// foreign is what neither Trino nor Spark knows, or what one of them does not; a view that holds it needs a rule, or a text of its own in base/trino
// or base/spark.
var foreign = map[Dialect]*regexp.Regexp{
	Trino: regexp.MustCompile(duckOnly + `|//|SELECT unnest|IS (?:NOT )?TRUE|IS (?:NOT )?FALSE|SEMI JOIN`),
	Spark: regexp.MustCompile(duckOnly + `|//|SELECT unnest|UNNEST|ARRAY[\[(]|ROW\(|VARCHAR|\[|[^_]element_at|\b(?:cardinality|year_of_week|from_unixtime|to_unixtime|json_parse|strpos)\(`),
}

const duckOnly = `(?i)\b(?:list_\w+|quantile_\w+|epoch_us|arg_min|arg_min_null|arg_max|generate_subscripts|str_split|string_agg|array_to_string|make_timestamp|strftime|to_microseconds|range|len|hash)\s*\(` +
	`|\bASOF\b|\bEXCLUDE\b|\bREPLACE \(|\bQUALIFY\b|GROUP BY ALL|ORDER BY ALL|\blambda\b|::|MAP \{|\[[^\]]*:|FILTER \((?i:[^w])|BIGINT\[\]|MATERIALIZED|HUGEINT|TIMESTAMPTZ(?-i)`

// TestForeignText looks at the whole text of every query, in each form of the views, for what the engine does not know.
func TestForeignText(t *testing.T) {
	for dialect, unknown := range foreign {
		for _, src := range []Source{{}, {Joined: true, Grouped: true, Mixed: true}} {
			src.Dialect, src.Scan, src.Metrics = dialect, "t "+sourceMark, "m"
			for _, q := range List() {
				text, err := Compose(q, src, Scope{By: []string{"tenant"}}, nil)
				if err != nil {
					t.Errorf("%s: %v", q.Name, err)
				}
				var before []string
				list, _ := steps(text)
				for _, c := range list { // a column of a view's name that stands after a comma can change their order
					for _, name := range tables(c.text) {
						if slices.Contains(Views(), name) && !slices.Contains(before, name) {
							t.Errorf("%s: %s reads %s, which comes later", q.Name, c.name, name)
						}
					}
					before = append(before, c.name)
				}
				if m := unknown.FindStringIndex(mask(text)); m != nil {
					t.Errorf("%s: %q, which %s does not know: write it in the shared words, or give the view a text of its own in base/%s", q.Name, text[max(0, m[0]-40):min(len(text), m[1]+20)], dialect, dialect)
				}
			}
		}
	}
}

// TestGolden compares whole statements with testdata/trino and testdata/spark; UPDATE=1 rewrites them.
func TestGolden(t *testing.T) {
	table, view := Table{"hive", "llm", "logs"}, SparkTable{[]string{"logs"}}
	from, to := int64(1796000000000000), int64(1796086400000000)
	all := Source{Joined: true, Grouped: true, Mixed: true}
	for _, c := range []struct {
		name    string
		dialect Dialect
		src     Source
		scope   Scope
		values  map[string]string
	}{
		{"latency", Trino, Source{}, Scope{By: []string{"tenant", "model"}}, nil},
		{"goodput", Trino, all, Scope{From: &from, To: &to}, map[string]string{"ttft_slo_us": "1000000"}},
		{"stall_labels", Trino, Source{}, Scope{}, nil},
		{"latency", Spark, Source{}, Scope{By: []string{"tenant", "model"}}, nil},
		{"goodput", Spark, all, Scope{From: &from, To: &to}, map[string]string{"ttft_slo_us": `[{"tenant":"it's \\ ${x}","us":1000000}]`}},
	} {
		q, err := Get(c.name)
		if err != nil {
			t.Fatal(err)
		}
		c.src.Dialect, c.src.Scan = c.dialect, table.Scan()
		if c.dialect == Spark {
			c.src.Scan = view.Scan()
		}
		text, err := Compose(q, c.src, c.scope, c.values)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		steps, final := Stage(text, false, func(string) string { n++; return "step_" + string(rune('a'+n-1)) })
		var all strings.Builder
		for _, s := range steps {
			all.WriteString("CREATE TABLE " + s.Table + " AS\n" + s.Text + ";\n\n")
		}
		all.WriteString(final + ";\n")
		golden(t, filepath.Join("testdata", string(c.dialect), c.name+".sql"), all.String())
	}
	golden(t, filepath.Join("testdata", "trino", "mount.sql"), strings.Join(Mount(table, "s3://bucket/it's/run/", true), ";\n")+";\n")
	mounts := append(MountSpark(view, "s3a://bucket/it's/run/", true), MountSpark(SparkTable{[]string{"lake", "llm", "logs"}}, "s3a://bucket/run", true)...)
	golden(t, filepath.Join("testdata", "spark", "mount.sql"), strings.Join(mounts, ";\n")+";\n")
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; UPDATE=1 rewrites it:\n%s", file, diff)
	}
}

// TestParseTable takes one to three names and nothing that could end a quoted one.
func TestParseTable(t *testing.T) {
	base := Table{Catalog: "c", Schema: "s"}
	for text, want := range map[string]Table{"t": {"c", "s", "t"}, "x.t": {"c", "x", "t"}, "y.x.t": {"y", "x", "t"}} {
		if got, err := ParseTable(text, base); err != nil || got != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", ".", "a.b.c.d", `a"b`, "a b", "a;b", "a/b", "a'"} {
		if got, err := ParseTable(text, base); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
	if _, err := ParseTable("t", Table{}); err == nil {
		t.Error("a table without a catalog must be refused")
	}
}
