package analyze

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"reprise/queries"
)

// DuckDB holds the values of exact percentiles, 8 bytes each, until a statement ends, beside its memory limit. So a query that has them
// by steps of time reads stretchRows requests at once, and one that has them by metric asks for one metric at a time where the
// run has metricStretches times as many: reading again takes longer, but not by much.
const (
	stretchRows     = 10_000_000
	metricStretches = 3
)

// sampled are the values of the key metric in queries with exact percentiles.
var sampled = []string{"ttft", "ttfvt", "tpot", "e2e", "ntpot", "max_gap", "chunk_gap", "itl"}

// question is a query with what it is asked of and with.
type question struct {
	queries.Query
	scope  Scope
	params map[string]string
}

// answer fills a result in by its statement, or of a large run by pieces.
func (e *Engine) answer(ctx context.Context, r *Run, q question, res *Result, out *outlet) error {
	whole := res.SQL
	defer func() { res.SQL = whole }()
	pieces, err := e.pieces(ctx, r, q, res)
	if err == nil && len(pieces) > 1 {
		res.SQL, err = e.gather(ctx, r, pieces)
	}
	if err != nil {
		return err
	}
	return e.fill(ctx, r, q.scope, res, out)
}

// gather puts the answers of pieces, which have no row in common, in a table, and gives the statement that reads it.
func (e *Engine) gather(ctx context.Context, r *Run, pieces []question) (string, error) {
	into := "CREATE OR REPLACE TEMP TABLE pieces AS\n"
	for _, p := range pieces {
		res, _, err := e.statement(ctx, r, p.Query, p.scope, p.params)
		if err != nil {
			return "", err
		}
		text, err := e.keepHere(ctx, res.SQL)
		if err != nil {
			return "", err
		}
		if _, err := e.conn.ExecContext(ctx, into+text); err != nil {
			return "", err
		}
		into = "INSERT INTO pieces\n"
	}
	var keys []string
	for _, k := range pieces[0].Keys {
		keys = append(keys, k.Name+" NULLS LAST")
	}
	return "SELECT * FROM pieces ORDER BY " + strings.Join(keys, ", "), nil
}

// pieces cuts a question about a large run; none where one statement does.
func (e *Engine) pieces(ctx context.Context, r *Run, q question, res *Result) ([]question, error) {
	if q.Quantiles == nil || q.Quantiles.Weight != "" || !q.hasKey("metric") || e.cluster != nil {
		return nil, nil
	}
	src, err := e.mount(ctx, r)
	if err != nil || src.Rows <= e.stretch {
		return nil, err
	}
	seen, err := e.look(ctx, r, q.scope, "SELECT count(*) AS n, min(arrival_us) AS first, max(arrival_us) AS last FROM requests")
	if err != nil {
		return nil, err
	}
	n := seen.Rows[0][0].(int64)
	if q.hasKey("start_us") && !src.Joined && !src.Mixed { // else the time of a row is not that of its call
		bin, err := strconv.ParseInt(res.Params["bin_us"], 10, 64)
		return q.between(cuts(seen.Rows[0], n/e.stretch+1, bin)), err
	}
	if n <= metricStretches*e.stretch {
		return nil, nil
	}
	var out []question
	for _, m := range sampled {
		out = append(out, q.only("metric = '"+m+"'"))
	}
	return append(out, q.only("metric NOT IN ('"+strings.Join(sampled, "', '")+"')")), nil
}

func (q question) hasKey(name string) bool {
	return slices.ContainsFunc(q.Keys, func(k queries.Column) bool { return k.Name == name })
}

func (q question) only(condition string) question {
	z := *q.Quantiles
	z.Only = condition
	q.Quantiles = &z
	return q
}

// between are the questions about the stretches that cuts end.
func (q question) between(cuts []int64) []question {
	var out []question
	for _, cut := range cuts { // a stretch begins where the last one ended
		before := q
		before.scope.To = &cut
		q.scope.From = &cut
		out = append(out, before)
	}
	return append(out, q)
}

// cuts part the time between the second and the third value into n, at starts of steps.
func cuts(seen []any, n, bin int64) (out []int64) {
	first, known := seen[1].(int64)
	if !known || first < 0 || bin <= 0 { // steps before 1970 do not begin at whole multiples
		return nil
	}
	last := seen[2].(int64)
	width := (last-first)/n/bin*bin + bin
	for at := first - first%bin + width; at <= last; at += width {
		out = append(out, at)
	}
	return out
}
