package queries

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `-- title Waits
-- about One line.
-- about Another.
-- level L1
-- param bin_us BIGINT 60000000
-- param mode TEXT all|none
-- key grp
-- key start_us time
-- column n requests none
-- column wait ms lower
-- chart line x=start_us y=wait
WITH
x AS (SELECT 1)
SELECT 1;
`

func TestParse(t *testing.T) {
	got, err := Parse("waits.sql", sample)
	if err != nil {
		t.Fatal(err)
	}
	want := Query{Name: "waits", Title: "Waits", About: "One line. Another.", Level: "L1",
		Params: []Param{{"bin_us", "BIGINT", "60000000"}, {"mode", "TEXT", "all|none"}},
		Keys:   []Column{{"grp", "text", "none"}, {"start_us", "time", "none"}}, Columns: []Column{{"n", "requests", "none"}, {"wait", "ms", "lower"}},
		Chart: "line x=start_us y=wait", Text: "WITH\nx AS (SELECT 1)\nSELECT 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestParseErrors breaks one line of the sample at a time.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"-- title Waits", "-- titel Waits", `waits.sql:1: unknown header line "titel"`},
		{"-- title Waits", "--", `waits.sql:1: header line "" has no value`},
		{"-- about Another.", "-- title Again", "waits.sql:3: second title line"},
		{"-- level L1", "-- level L9", `waits.sql:4: level must be L0 to L5, got "L9"`},
		{"-- level L1\n", "", "waits.sql:11: header needs title, about and level"},
		{"BIGINT 60000000", "BIGINT soon", `waits.sql:5: parameter bin_us: expected BIGINT, got "soon"`},
		{"BIGINT 60000000", "FLOAT 1", `waits.sql:5: parameter bin_us: type must be BIGINT, DOUBLE, TEXT, BOOLEAN or BOUND, got "FLOAT"`},
		{"-- param mode TEXT all|none", "-- param bin_us BIGINT", `waits.sql:6: second param "bin_us"`},
		{"-- param mode TEXT all|none", "-- param Mode TEXT", `waits.sql:6: expected param NAME TYPE [DEFAULT], got "Mode TEXT"`},
		{"-- key start_us time", "-- key start_us time long", `waits.sql:8: expected key NAME [UNIT], got "start_us time long"`},
		{"-- key start_us time", "-- key grp", `waits.sql:8: second column "grp"`},
		{"-- column wait ms lower", "-- column wait ms less", `waits.sql:10: expected column NAME UNIT higher|lower|none, got "wait ms less"`},
		{"-- column wait ms lower", "-- column n ms lower", `waits.sql:10: second column "n"`},
		{"-- chart line", "-- chart pie", `waits.sql:11: chart must be line, bar, cdf or heat, got "pie"`},
		{"-- chart line", "-- quantiles wait\n-- chart line", "waits.sql:13: with quantiles the columns are n n_total mean p50 p90 p95 p99 p99_9 max, got n wait"},
		{"-- chart line", "-- quantiles wait ms\n-- chart line", `waits.sql:11: parameter divisor: expected DOUBLE, got "ms"`},
		{"-- chart line", "-- quantiles wait 1e3 weight", `waits.sql:11: expected one line quantiles VALUE [DIVISOR] [whole | weight COLUMN] [type1 CONDITION], got "wait 1e3 weight x=start_us y=wait"`},
		{"-- chart line", "-- quantiles wait whole weight n", `waits.sql:11: expected one line quantiles VALUE [DIVISOR] [whole | weight COLUMN] [type1 CONDITION], got "wait whole weight n x=start_us y=wait"`},
		{"WITH\n", "SELECT\n", `waits.sql:12: text must begin with WITH, got "SELECT"`},
	} {
		_, err := Parse("waits.sql", strings.Replace(sample, c.old, c.new, 1))
		if err == nil || err.Error() != c.want {
			t.Errorf("%q for %q:\ngot  %v\nwant %s", c.new, c.old, err, c.want)
		}
	}
	if _, err := Parse("base/waits.sql", sample); err == nil || err.Error() != `base/waits.sql:1: a view has about, param, once, kept and swept lines, got "title"` {
		t.Errorf("got %v", err)
	}
	if _, err := Parse("waits.sql", "-- title x\n"); err == nil || err.Error() != "waits.sql:2: no text after the header" {
		t.Errorf("got %v", err)
	}
}

// FuzzParse looks for panics and for headers that come back without what a query needs.
func FuzzParse(f *testing.F) {
	f.Add("waits.sql", sample)
	f.Add("base/waits.sql", "-- about x\n-- param a TEXT a|b\nSELECT 1")
	for _, q := range List() {
		f.Add("q.sql", "-- title x\n-- quantiles v 1e3\n"+q.Text)
	}
	f.Fuzz(func(t *testing.T, file, text string) {
		q, err := Parse(file, text)
		switch {
		case err != nil && !strings.HasPrefix(err.Error(), file+":"):
			t.Errorf("error without its place: %v", err)
		case err == nil && q.Text == "":
			t.Error("no text and no error")
		case err == nil && !strings.HasPrefix(file, "base/") && (q.Title == "" || len(q.Columns) == 0):
			t.Error("a query without title or columns and no error")
		}
	})
}
