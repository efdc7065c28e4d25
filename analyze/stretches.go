package analyze

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"reprise/queries"
)

// stretchRows is how many requests a statement with exact percentiles by steps of time reads at once: DuckDB holds their values until
// the statement ends, beside its memory limit.
const stretchRows = 10_000_000

// stretched is a query with exact percentiles by steps of time (start_us, of bin_us), asked of a large run one stretch of whole steps after the
// other. What comes back is the statement that reads the answers; that of the result where one statement does.
func (e *Engine) stretched(ctx context.Context, r *Run, q queries.Query, res *Result, a asked) (string, error) {
	inSteps := q.Quantiles != nil && slices.ContainsFunc(q.Keys, func(k queries.Column) bool { return k.Name == "start_us" })
	if !inSteps || e.cluster != nil {
		return res.SQL, nil
	}
	bin, err := strconv.ParseInt(res.Params["bin_us"], 10, 64)
	if err != nil {
		return "", err
	}
	cuts, err := e.cuts(ctx, r, a.scope, bin)
	if err != nil || len(cuts) == 0 {
		return res.SQL, err
	}
	into := "CREATE OR REPLACE TEMP TABLE stretches AS\n"
	from := a.scope.From
	for _, to := range append(cuts, a.scope.To) {
		part := a.scope
		part.From, part.To = from, to
		text, err := e.Text(ctx, r, q.Name, part, a.params)
		if err != nil {
			return "", err
		}
		if _, err := e.conn.ExecContext(ctx, into+text); err != nil {
			return "", err
		}
		into, from = "INSERT INTO stretches\n", to
	}
	var keys []string
	for _, k := range q.Keys {
		keys = append(keys, k.Name+" NULLS LAST")
	}
	return "SELECT * FROM stretches ORDER BY " + strings.Join(keys, ", "), nil
}

// answer fills a result in, by the statement that it says or by stretches.
func (e *Engine) answer(ctx context.Context, r *Run, q queries.Query, res *Result, a asked, out *outlet) error {
	whole := res.SQL
	text, err := e.stretched(ctx, r, q, res, a)
	if err != nil {
		return err
	}
	res.SQL = text
	defer func() { res.SQL = whole }()
	return e.fill(ctx, r, a.scope, res, out)
}

// asked is what a query was asked with.
type asked struct {
	scope  Scope
	params map[string]string
}

// cuts are the starts of steps between the stretches of a scope, each of some e.stretch requests; none where one stretch holds all, or
// where a row's time is not that of its call (calls joined from several rows, clocks that do not compare).
func (e *Engine) cuts(ctx context.Context, r *Run, sc Scope, bin int64) ([]*int64, error) {
	src, err := e.mount(ctx, r)
	if err != nil || src.Joined || src.Mixed || bin <= 0 {
		return nil, err
	}
	var n int64
	if err := e.conn.QueryRowContext(ctx, "SELECT count(*) FROM "+src.Scan).Scan(&n); err != nil || n <= e.stretch {
		return nil, err
	}
	var first, last *int64
	err = e.conn.QueryRowContext(ctx, "SELECT epoch_us(min(arrival)), epoch_us(max(arrival)) FROM "+src.Scan).Scan(&first, &last)
	if err != nil || first == nil || *first < 0 {
		return nil, err
	}
	width := max(bin, (*last-*first)/(n/e.stretch+1)/bin*bin+bin)
	from, till := *first, *last
	if sc.From != nil {
		from = max(from, *sc.From)
	}
	if sc.To != nil {
		till = min(till, *sc.To-1)
	}
	var out []*int64
	for at := from - from%bin + width; at <= till; at += width {
		out = append(out, &at)
	}
	return out, nil
}
