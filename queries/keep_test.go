package queries

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A kept step becomes a table with what it needs in front; what only it needs is gone from the rest.
func TestKeep(t *testing.T) {
	text := `WITH params AS (SELECT 1 AS one),
raw AS NOT MATERIALIZED (
SELECT * FROM run
) /* raw */,
windows AS MATERIALIZED (/* kept */
SELECT * FROM raw WHERE a = ') FROM gone'
) /* windows */,
gaps AS MATERIALIZED (/* kept */
WITH own AS (SELECT 2) SELECT * FROM windows JOIN own ON TRUE
) /* gaps */
SELECT * FROM gaps CROSS JOIN params`
	n := 0
	got, final := Keep(text, func(string) string { n++; return fmt.Sprint("t", n) })
	want := []Kept{
		{Step: Step{"t1", "WITH raw AS NOT MATERIALIZED (\nSELECT * FROM run\n),\nwindows AS NOT MATERIALIZED (\nSELECT * FROM raw WHERE a = ') FROM gone'\n)\nSELECT * FROM windows"}},
		{Step: Step{"t2", "WITH windows AS NOT MATERIALIZED (\nSELECT * FROM t1\n),\ngaps AS NOT MATERIALIZED (\nWITH own AS (SELECT 2) SELECT * FROM windows JOIN own ON TRUE\n)\nSELECT * FROM gaps"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if want := "WITH gaps AS NOT MATERIALIZED (\nSELECT * FROM t2\n),\nparams AS (\nSELECT 1 AS one\n)\n/* gaps */\nSELECT * FROM gaps CROSS JOIN params"; final != want {
		t.Errorf("final text:\n%s", final)
	}
	for _, plain := range []string{"SELECT 1", "WITH a AS (SELECT 1) SELECT * FROM a"} {
		if steps, final := Keep(plain, nil); steps != nil || final != plain {
			t.Errorf("%q became %v, %q", plain, steps, final)
		}
	}
}
