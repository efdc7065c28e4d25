package analyze

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"reprise/layout"
	"reprise/queries"
)

// mount finds out once which forms of the base views the run needs.
func (e *Engine) mount(ctx context.Context, r *Run) (queries.Source, error) {
	if src, ok := e.mounts[r]; ok {
		return src, nil
	}
	fail := func(err error) (queries.Source, error) {
		if strings.HasPrefix(err.Error(), "Binder Error: Referenced column") {
			err = fmt.Errorf("expected what reprise ingest writes, got Parquet files that lack its columns: %w", err)
		}
		return queries.Source{}, fmt.Errorf("read run %q: %w", r.Path, err)
	}
	if e.cluster != nil {
		src, err := e.mountTable(ctx, r)
		if err != nil {
			return fail(err)
		}
		e.mounts[r] = src
		return src, nil
	}
	if r.table != "" {
		return fail(errors.New("DuckDB reads folders, not tables of a cluster"))
	}
	plain, err := e.readable(r)
	if err != nil {
		return fail(err)
	}
	src := queries.Source{Scan: plain.scan()}
	if len(r.metrics) > 0 {
		metrics, err := e.readable(&Run{Path: r.Path, Parts: r.metrics})
		if err != nil {
			return fail(err)
		}
		src.Metrics = metrics.scan()
	}
	if err := e.conn.QueryRowContext(ctx, queries.Forms(src.Scan, "count(*) AS n")).Scan(&src.Joined, &src.Grouped, &src.Mixed, &src.Rows); err != nil {
		return fail(err)
	}
	for _, look := range []func() (bool, error){func() (bool, error) { return e.marked(ctx, r) }, func() (bool, error) { return e.repeated(ctx, plain) }} {
		if src.Joined {
			break
		}
		if src.Joined, err = look(); err != nil {
			return fail(err)
		}
	}
	e.mounts[r] = src
	return src, nil
}

// repeated says whether some rows stand in two parts: a log that was ingested again after it had grown, or copies of a
// rotation that overlap. Only times that several parts speak of are looked at.
func (e *Engine) repeated(ctx context.Context, r *Run) (bool, error) {
	shared, err := e.sharedTimes(ctx, r)
	if err != nil || shared == nil {
		return false, err
	}
	var again bool
	text := `SELECT count(*) > count(DISTINCT hash(request_id, attempt, arrival)) FROM ` + r.scan() + ` WHERE ` + strings.Join(shared, " OR ")
	err = e.conn.QueryRowContext(ctx, text).Scan(&again)
	return again, err
}

// marked says whether a compacted part has rows of several parts that stood for the same calls (trace.Repeated).
func (e *Engine) marked(ctx context.Context, r *Run) (marked bool, err error) {
	compacted := &Run{}
	for _, part := range r.Parts {
		if strings.HasPrefix(filepath.Base(part), layout.Compacted) {
			compacted.Parts = append(compacted.Parts, part)
		}
	}
	if len(compacted.Parts) == 0 {
		return false, nil
	}
	text := `SELECT count(*) > 0 FROM parquet_kv_metadata(` + compacted.partList() + `) WHERE decode(key) = 'reprise.repeated'`
	err = e.conn.QueryRowContext(ctx, text).Scan(&marked)
	return marked, err
}

// sharedTimes are the ranges of arrival that two parts or more speak of, as conditions, by the statistics of the parts.
func (e *Engine) sharedTimes(ctx context.Context, r *Run) ([]string, error) {
	if len(r.Parts) < 2 {
		return nil, nil
	}
	rows, err := e.conn.QueryContext(ctx, `SELECT epoch_us(min(CAST(stats_min_value AS TIMESTAMPTZ))), epoch_us(max(CAST(stats_max_value AS TIMESTAMPTZ)))
FROM parquet_metadata(`+r.partList()+`) WHERE path_in_schema = 'arrival' AND stats_min_value IS NOT NULL GROUP BY file_name ORDER BY 1`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var parts []span
	for rows.Next() {
		var s span
		if err := rows.Scan(&s.from, &s.to); err != nil {
			return nil, err
		}
		parts = append(parts, s)
	}
	var shared []string
	for _, s := range overlaps(parts) {
		shared = append(shared, fmt.Sprintf("arrival BETWEEN make_timestamptz(%d) AND make_timestamptz(%d)", s.from, s.to))
	}
	return shared, rows.Err()
}

// overlaps are the ranges that two or more of the closed ranges hold, merged; ranges are in order of from.
func overlaps(ranges []span) []span {
	var out []span
	till := int64(-1 << 63)
	for i, s := range ranges {
		if i > 0 && s.from <= till {
			o := span{s.from, min(s.to, till)}
			if n := len(out); n > 0 && o.from <= out[n-1].to {
				out[n-1].to = max(out[n-1].to, o.to)
			} else {
				out = append(out, o)
			}
		}
		till = max(till, s.to)
	}
	return out
}
