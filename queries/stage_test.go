package queries

import (
	"fmt"
	"strings"
	"testing"
)

// stageOf stages a text; tables are named t1, t2 ... in order of asking, equal statements alike.
func stageOf(text string) ([]Step, string) {
	names := map[string]string{}
	return Stage(text, true, func(s string) string {
		if names[s] == "" {
			names[s] = fmt.Sprint("t", len(names)+1)
		}
		return names[s]
	})
}

// wide reads a step n times.
func wide(step string, n int) string {
	return "SELECT 1 FROM " + step + strings.Repeat(" UNION ALL SELECT 1 FROM "+step, n-1)
}

// TestStage keeps what is read often and costs more than one reading of the run, once, and what reads it by its name.
func TestStage(t *testing.T) {
	run := "SELECT 1 FROM run " + sourceMark
	pair := "pair AS (\nSELECT 1 FROM one AS a JOIN one AS b ON TRUE\n)"
	text := "WITH one AS (\n" + run + "\n),\n" + pair + "\n" + wide("pair", 20)
	steps, final := stageOf(text)
	want := "WITH one AS (\n" + run + "\n)\nSELECT 1 FROM one AS a JOIN one AS b ON TRUE"
	if len(steps) != 1 || steps[0].Table != "t1" || steps[0].Text != want {
		t.Errorf("got %q, want one step %q", steps, want)
	}
	if strings.Contains(final, "WITH") || strings.Count(final, "FROM t1 AS pair") != 20 {
		t.Errorf("got %s", final)
	}
	whole := "WITH one AS (\n" + run + "\n),\n" + pair + "\n" + wide("pair", MaxScans/2)
	if steps, final := stageOf(whole); steps != nil || final != whole {
		t.Errorf("%d scans stay one statement, got %d steps", MaxScans, len(steps))
	}
}

// TestStageScopes: names of steps inside of a step are its own, and hide those outside.
func TestStageScopes(t *testing.T) {
	run := "SELECT 1 FROM run " + sourceMark
	text := "WITH a AS (\n" + run + "\n),\nb AS (\nWITH a AS (SELECT 2 FROM a CROSS JOIN a AS other)\n" + wide("a", 13) + "\n)\nSELECT 'FROM a' FROM b JOIN a ON TRUE"
	steps, final := stageOf(text)
	if len(steps) != 1 || !strings.HasSuffix(steps[0].Text, "SELECT 2 FROM a CROSS JOIN a AS other") {
		t.Fatalf("got %q", steps)
	}
	for _, want := range []string{"FROM t1 AS a", "'FROM a' FROM b JOIN a ON TRUE"} {
		if !strings.Contains(final, want) {
			t.Errorf("no %q in\n%s", want, final)
		}
	}
}

// TestStageKept: a view that is kept is a table however little the statement reads, unless nothing may be kept.
func TestStageKept(t *testing.T) {
	text := "WITH one AS (" + keptMark + "\nWITH raw AS (SELECT 1 FROM run " + sourceMark + ")\nSELECT 1 FROM raw\n)\nSELECT 1 FROM one"
	steps, final := stageOf(text)
	if len(steps) != 1 || steps[0].Text != "WITH raw AS (\nSELECT 1 FROM run "+sourceMark+"\n)\nSELECT 1 FROM raw" || final != "SELECT 1 FROM t1 AS one" {
		t.Errorf("got %q, %q", steps, final)
	}
	if steps, final := Stage(text, false, nil); steps != nil || final != text {
		t.Errorf("got %q, %q", steps, final)
	}
}

// TestStageNames: a step that is kept is read by its table's name wherever a text of the user's own names it.
func TestStageNames(t *testing.T) {
	text := "WITH one AS (\nSELECT 1 FROM run " + sourceMark + "\n),\npair AS (\nSELECT 1 FROM one a, one\n)\n" + wide("pair", 20) +
		" UNION ALL SELECT 'pair, pair' FROM pair p, one AS o, pair, other LEFT JOIN pair ON p.pair = o.pair"
	steps, final := stageOf(text)
	if len(steps) != 1 || steps[0].Text != "WITH one AS (\nSELECT 1 FROM run "+sourceMark+"\n)\nSELECT 1 FROM one a, one" {
		t.Errorf("got %q", steps)
	}
	if want := "SELECT 'pair, pair' FROM t1 p, one AS o, t1 AS pair, other LEFT JOIN t1 AS pair ON p.pair = o.pair"; !strings.HasSuffix(final, want) {
		t.Errorf("want %s at the end of\n%s", want, final)
	}
}

// FuzzStage never fails on a text, and leaves one without a WITH alone.
func FuzzStage(f *testing.F) {
	f.Add("WITH a AS (SELECT 1) SELECT * FROM a")
	f.Add("WITH a(x) AS (SELECT 1), b AS MATERIALIZED (SELECT '(') SELECT * FROM a -- ')")
	f.Add("WITH RECURSIVE a AS (")
	f.Fuzz(func(t *testing.T, text string) {
		steps, final := stageOf(text)
		if steps == nil && final != text {
			t.Errorf("%q became %q", text, final)
		}
		Trino.translate(text)
	})
}
