package queries

import (
	"cmp"
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

// quantileStage is the text after samples. Where each sample counts once it is DuckDB's own function, all quantiles in one
// pass; weighted samples, and those of other engines, are counted.
func (q *Query) quantileStage(d Dialect) string {
	var names []string
	for _, k := range q.Keys {
		names = append(names, k.Name)
	}
	by, z := strings.Join(names, ", "), q.Quantiles
	weight := cmp.Or(z.Weight, "1")
	keys, group, sort := "", "", ""
	if len(names) > 0 {
		keys, group, sort = by+", ", "\n  GROUP BY "+by, "\nORDER BY "+strings.Join(names, " NULLS LAST, ")+" NULLS LAST"
	}
	only := ""
	if z.Only != "" {
		only = " WHERE " + z.Only
	}
	fill := strings.NewReplacer("{only}", only, "{by}", by, "{keys}", keys, "{v}", z.Value, "{w}", weight, "{d}", z.Divisor, "{group}", group, "{sort}", sort)
	if z.Weight != "" || d != DuckDB {
		return fill.Replace(countingStage(z, d))
	}
	mean := "CASE WHEN q[6] < 9e12 THEN CAST(total AS DOUBLE) / 1e6 / n / {d} END"
	total := "sum(TRY_CAST({v} * 1e6 AS BIGINT))"
	if z.Whole {
		mean, total = "CAST(total AS DOUBLE) / n / {d}", "sum({v})"
	}
	return fill.Replace(strings.NewReplacer("{mean}", mean, "{total}", total, "{q}", choose(z.Type1, measured, between)).Replace(stage))
}

// choose is type1 where the condition holds, else type7. The engine folds a condition over parameters.
func choose(condition, type1, type7 string) string {
	if condition == "" {
		return type7
	}
	return "CASE WHEN " + condition + " THEN " + type1 + " ELSE " + type7 + " END"
}

// quantile_disc computes the rank n - floor(n - n p) in doubles, which is one too high for some p (metrics.md 2.1), but for none of
// these (all n to 200,000 and all thousands to a billion were tried).
const (
	between  = "quantile_cont({v}, [0.5, 0.9, 0.95, 0.99, 0.999, 1.0])"
	measured = "quantile_disc({v}, [0.5, 0.9, 0.95, 0.99, 0.999, 1.0])"
)

// The mean is a sum of integers, since a sum of doubles depends on the order in which threads come to it: of millionths,
// unless the values are whole; then it is NULL when a value is infinite or beyond 9e12, which no integer could hold.
// The largest value is the quantile at 1.
const stage = `,
-- exact quantiles, type 7: h = (n - 1) p, linear between the neighbours (type 1: the value of rank n p, rounded up); the mean by integers
quantiles AS (
  SELECT {keys}count({v}) AS n, count(*) AS n_total, {total} AS total,
         {q} AS q
  FROM samples{only}{group}
)
SELECT {keys}n, n_total, {mean} AS mean, q[1] / {d} AS p50, q[2] / {d} AS p90, q[3] / {d} AS p95,
       q[4] / {d} AS p99, q[5] / {d} AS p99_9, q[6] / {d} AS max
FROM quantiles{sort}`

// countingStage takes a sample of weight w as w equal ones (w whole and above zero, others are left out), so n, n_total and
// mean are over weights. hi is the rank of the last of equal values; ranks are compared as integers.
func countingStage(z *Quantiles, d Dialect) string {
	var picks, columns strings.Builder
	for _, c := range []struct {
		name string
		a    int // thousandths
	}{{"p50", 500}, {"p90", 900}, {"p95", 950}, {"p99", 990}, {"p99_9", 999}} {
		fmt.Fprintf(&picks, `,
         min(CASE WHEN hi * 1000 >= n * %[2]d THEN v END) AS %[1]s_at, min(CASE WHEN hi * 1000 > (n - 1) * %[2]d THEN v END) AS %[1]s_low,
         min(CASE WHEN (hi - 1) * 1000 >= (n - 1) * %[2]d THEN v END) AS %[1]s_high`, c.name, c.a)
		between := fmt.Sprintf("CASE WHEN %[1]s_high = %[1]s_low THEN %[1]s_low ELSE %[1]s_low + mod((n - 1) * %[2]d, 1000) * 1e-3 * (coalesce(%[1]s_high, %[1]s_low) - %[1]s_low) END", c.name, c.a)
		fmt.Fprintf(&columns, "\n       (%s) / {d} AS %s,", choose(z.Type1, c.name+"_at", between), c.name)
	}
	value, total := "CAST({v} AS DOUBLE)", "sum(TRY_CAST(v * 1e6 AS HUGEINT) * c)"
	mean := "CASE WHEN highest < 9e12 THEN CAST(total AS DOUBLE) / 1e6 / n / {d} END"
	switch {
	case d == DuckDB:
	case z.Whole:
		value, total, mean = "{v}", "sum(CAST(v AS HUGEINT) * c)", "CAST(total AS DOUBLE) / n / {d}"
	default: // a wide decimal takes what a wide integer takes
		total = "sum(CAST(TRY_CAST(round(v * 1e6) AS BIGINT) AS HUGEINT) * c)"
	}
	return strings.NewReplacer("{picks}", picks.String(), "{columns}", columns.String(), "{value}", value, "{total}", total, "{mean}", mean).Replace(counting)
}

const counting = `,
-- equal values are counted together, unknown ones last
counted AS (
  SELECT {by}, {value} AS v, CAST(sum({w}) AS BIGINT) AS c FROM samples WHERE {w} > 0 GROUP BY {by}, {v}
),
ranked AS (
  SELECT *, CAST(sum(CASE WHEN v IS NOT NULL THEN c END) OVER (PARTITION BY {by} ORDER BY v NULLS LAST ROWS UNBOUNDED PRECEDING) AS BIGINT) AS hi,
         CAST(coalesce(sum(CASE WHEN v IS NOT NULL THEN c END) OVER (PARTITION BY {by}), 0) AS BIGINT) AS n
  FROM counted
),
-- exact quantiles: type 1 the first value of rank n p or more; type 7 between those of rank floor(h) + 1 and floor(h) + 2, h = (n - 1) p
quantiles AS (
  SELECT {by}, n, CAST(sum(c) AS BIGINT) AS n_total, {total} AS total, max(v) AS highest{picks}
  FROM ranked
  GROUP BY {by}, n
)
SELECT {by}, n, n_total, {mean} AS mean,{columns}
       CAST(highest AS DOUBLE) / {d} AS max
FROM quantiles{sort}`
