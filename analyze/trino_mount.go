package analyze

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"reprise/layout"
	"reprise/queries"
)

// OpenTable is a run that lies behind a table of a cluster: NAME, SCHEMA.NAME or CATALOG.SCHEMA.NAME; what is missing is the engine's.
// The table is looked at with the first query.
func OpenTable(name string) (*Run, error) {
	if _, err := queries.ParseTable(name, queries.Table{Catalog: "c", Schema: "s"}); err != nil {
		return nil, err
	}
	return &Run{Path: name, table: name}, nil
}

// mountTable finds out which forms of the base views the table needs. It reads two columns of it whole.
func (e *Engine) mountTable(ctx context.Context, r *Run) (queries.Source, error) {
	table, err := queries.ParseTable(r.table, e.cluster.home)
	if err != nil {
		return queries.Source{}, fmt.Errorf("%w: Trino reads tables, not folders", err)
	}
	src := queries.Source{Scan: table.Scan(), Dialect: queries.Trino}
	var n int64
	text := queries.Forms(src.Scan, "coalesce(bool_or(vantage = 'replay'), FALSE)", "count(*)")
	if err := e.row(ctx, text, &src.Joined, &src.Grouped, &src.Mixed, &r.replay, &n); err != nil {
		return src, err
	}
	if n == 0 {
		if err := e.synced(ctx, table); err != nil {
			return src, err
		}
	}
	var metrics int64
	err = e.row(ctx, fmt.Sprintf(`SELECT count(*) FROM "%s".information_schema.tables WHERE table_schema = '%s' AND table_name = '%s'`, table.Catalog, table.Schema, table.Metrics().Name), &metrics)
	if err != nil {
		return src, err
	}
	if metrics > 0 {
		src.Metrics = table.Metrics().String()
		r.metrics = []string{src.Metrics}
	}
	again, err := e.repeatedRows(ctx, r, src)
	src.Joined = src.Joined || again
	return src, err
}

// synced is an error when the table knows no day at all: the files may be there all the same.
func (e *Engine) synced(ctx context.Context, t queries.Table) error {
	var days int64
	parts := queries.Table{Catalog: t.Catalog, Schema: t.Schema, Name: t.Name + "$partitions"}
	if err := e.row(ctx, "SELECT count(*) FROM "+parts.String(), &days); err != nil {
		return err
	}
	if days == 0 {
		return fmt.Errorf("table %s has no partition: if its folder has files, make them known with CALL \"%s\".system.sync_partition_metadata('%s', '%s', 'FULL'), and again after each ingest",
			t, t.Catalog, t.Schema, t.Name)
	}
	return nil
}

// repeatedRows is repeated of a table: the files and the times they speak of come from the rows. It notes the files. A
// compacted file may hold rows twice by itself.
func (e *Engine) repeatedRows(ctx context.Context, r *Run, src queries.Source) (bool, error) {
	rows, err := e.query(ctx, `SELECT "$path" AS path, CAST(round(to_unixtime(min(arrival)) * 1e6) AS BIGINT) AS from_us, CAST(round(to_unixtime(max(arrival)) * 1e6) AS BIGINT) AS till_us
FROM `+src.Scan+` GROUP BY "$path" ORDER BY 1`)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	var parts, shared []span
	r.Parts = nil
	for rows.Next() {
		var path string
		var from, to *int64
		if err := rows.Scan(&path, &from, &to); err != nil {
			return false, err
		}
		r.Parts = append(r.Parts, path)
		if from == nil {
			continue
		}
		parts = append(parts, span{*from, *to})
		if strings.HasPrefix(filepath.Base(path), layout.Compacted) {
			shared = append(shared, span{*from, *to})
		}
	}
	if err := rows.Err(); err != nil {
		return false, e.cluster.explain(err)
	}
	slices.SortFunc(parts, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var times []string
	for _, s := range append(shared, overlaps(parts)...) {
		times = append(times, fmt.Sprintf("to_unixtime(arrival) * 1e6 BETWEEN %de0 - 5e-1 AND %de0 + 5e-1", s.from, s.to))
	}
	if times == nil || src.Joined {
		return false, nil
	}
	var again bool
	err = e.row(ctx, `SELECT count(*) > count(DISTINCT (request_id, attempt, arrival)) FROM `+src.Scan+` WHERE `+strings.Join(times, " OR "), &again)
	return again, err
}

// row runs a statement of one row.
func (e *Engine) row(ctx context.Context, text string, into ...any) error {
	rows, err := e.query(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	if rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil && e.cluster != nil {
		return e.cluster.explain(err)
	} else if err != nil {
		return err
	}
	return nil
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%x", sum[:6])
}
