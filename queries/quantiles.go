package queries

import (
	"fmt"
	"slices"
	"strings"
)

// stageColumns are what the quantile stage gives after the keys, in order. n_total counts the samples, n those whose
// value is known.
var stageColumns = []string{"n", "n_total", "mean", "p50", "p90", "p95", "p99", "p99_9", "max"}

// quantileColumns checks that the header names the columns of the stage.
func (q *Query) quantileColumns() error {
	var names []string
	for _, c := range q.Columns {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, stageColumns) {
		return fmt.Errorf("with quantiles the columns are %s, got %s", strings.Join(stageColumns, " "), strings.Join(names, " "))
	}
	return nil
}

// quantileStage is the text after samples: exact quantiles of type 7 by DuckDB's own function, all in one pass.
func (q *Query) quantileStage() string {
	var keys, order strings.Builder
	for _, k := range q.Keys {
		keys.WriteString(k.Name + ", ")
		order.WriteString(", " + k.Name + " NULLS LAST")
	}
	group, sort := "", ""
	if len(q.Keys) > 0 {
		group, sort = "\n  GROUP BY "+strings.TrimSuffix(keys.String(), ", "), "\nORDER BY "+order.String()[2:]
	}
	mean := "CASE WHEN q[6] < 9e12 THEN CAST(total AS DOUBLE) / 1e6 / n / {d} END"
	total := "sum(TRY_CAST({v} * 1e6 AS BIGINT))"
	if q.Quantiles.Whole {
		mean, total = "CAST(total AS DOUBLE) / n / {d}", "sum({v})"
	}
	stage := strings.NewReplacer("{mean}", mean, "{total}", total).Replace(stage)
	return strings.NewReplacer("{keys}", keys.String(), "{v}", q.Quantiles.Value, "{d}", q.Quantiles.Divisor,
		"{group}", group, "{sort}", sort).Replace(stage)
}

// The mean is a sum of integers, since a sum of doubles depends on the order in which threads come to it: of millionths,
// unless the values are whole; then it is NULL when a value is infinite or beyond 9e12, which no integer could hold.
// The largest value is the quantile at 1.
const stage = `,
-- exact quantiles, type 7: h = (n - 1) p, linear between the neighbours; the mean by integers
quantiles AS (
  SELECT {keys}count({v}) AS n, count(*) AS n_total, {total} AS total,
         quantile_cont({v}, [0.5, 0.9, 0.95, 0.99, 0.999, 1.0]) AS q
  FROM samples{group}
)
SELECT {keys}n, n_total, {mean} AS mean, q[1] / {d} AS p50, q[2] / {d} AS p90, q[3] / {d} AS p95,
       q[4] / {d} AS p99, q[5] / {d} AS p99_9, q[6] / {d} AS max
FROM quantiles{sort}`
