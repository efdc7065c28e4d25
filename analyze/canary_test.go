package analyze

import (
	"context"
	"testing"
)

// TestCanary keeps the four rows of metrics.md 8.1 for which DuckDB 1.5.6 answers a correlated EXISTS wrongly. The forms
// that queries use must give 2. When the last one does too, the ban in queries/lint_test.go can be reconsidered.
func TestCanary(t *testing.T) {
	e := newEngine(t)
	const rows = "WITH r(id, rep, a, b) AS (VALUES (1, 0, 0, 10), (2, 0, 5, 15), (3, 0, 100, 110), (4, 1, 5, 15)) "
	const overlap = "o.rep = r.rep AND o.a < r.b AND o.b > r.a AND "
	for _, c := range []struct {
		form string
		want int64
	}{
		{"SELECT count(*) FROM r SEMI JOIN r AS o ON " + overlap + "o.id <> r.id", 2},
		{"SELECT count(*) FROM r WHERE (SELECT count(*) FROM r AS o WHERE " + overlap + "o.id <> r.id) > 0", 2},
		{"SELECT count(DISTINCT r.id) FROM r JOIN r AS o ON " + overlap + "o.id <> r.id", 2},
		{"SELECT count(*) FROM r WHERE EXISTS (SELECT 1 FROM r AS o WHERE " + overlap + "(o.id < r.id OR o.id > r.id))", 2},
		{"SELECT count(*) FROM r WHERE EXISTS (SELECT 1 FROM r AS o WHERE " + overlap + "o.id <> r.id)", 0},
	} {
		var got int64
		if err := e.conn.QueryRowContext(context.Background(), rows+c.form).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("%s: got %d, want %d", c.form, got, c.want)
		}
	}
}

// TestListReduceCanary keeps the defect that made merge limits go from one stream to another (duckdb issue 25816): a
// lambda of list_reduce reads a column of the wrong row once some rows are filtered by CASE. base/ carries the value in
// the elements instead; this shows that form right on many rows.
func TestListReduceCanary(t *testing.T) {
	e := newEngine(t)
	var wrong int64
	err := e.conn.QueryRowContext(context.Background(), `
SELECT count(*) FROM (
  SELECT i, CASE WHEN mod(i, 3) = 0 THEN list_reduce(list_transform([1, 1, 1], lambda x: {'add': x, 'each': i, 'total': 0}),
           lambda a, x: {'add': x.add, 'each': x.each, 'total': a.total + x.add * x.each}, {'add': 0, 'each': i, 'total': 0}).total END AS total
  FROM range(10000) AS r(i))
WHERE mod(i, 3) = 0 AND total <> 3 * i`).Scan(&wrong)
	if err != nil || wrong != 0 {
		t.Errorf("%d rows wrong, %v", wrong, err)
	}
}
