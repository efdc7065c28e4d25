package analyze

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"reprise/queries"
)

// maxKept bounds the tables of steps: a picture of one run needs fourteen.
const maxKept = 48

// queryHere runs a composed statement on DuckDB. What the statement says of stalls is worked out once for all statements about the
// same requests, in tables of a database of its own: on disk and packed, since a row a chunk gap does not fit into memory.
func (e *Engine) queryHere(ctx context.Context, text string) (*sql.Rows, error) {
	final, err := e.keepHere(ctx, text)
	if err != nil {
		return nil, err
	}
	return e.conn.QueryContext(ctx, final)
}

// keepHere makes the tables of steps that a statement needs, and gives the statement that reads them.
func (e *Engine) keepHere(ctx context.Context, text string) (string, error) {
	steps, final := queries.Keep(text, func(text string) string { return "kept.step_" + hash(text) })
	if err := e.forget(ctx, steps); err != nil {
		return "", err
	}
	defer func() { e.settled = settled{} }()
	for _, s := range steps {
		if slices.ContainsFunc(e.kept, func(k queries.Step) bool { return k.Table == s.Table }) {
			continue
		}
		if err := e.work(ctx, s); err != nil {
			return "", err
		}
		e.kept = append(e.kept, s.Step)
	}
	return final, nil
}

// work makes the table of a step: by its sweep if it has one, else by its text.
func (e *Engine) work(ctx context.Context, s queries.Kept) error {
	if s.Sweep != "" {
		return e.sweep(ctx, s)
	}
	_, err := e.conn.ExecContext(ctx, "CREATE TABLE "+s.Table+" AS\n"+s.Text)
	return err
}

// forget makes the database of steps, and room in it for those that are needed now.
func (e *Engine) forget(ctx context.Context, needed []queries.Kept) error {
	if len(e.kept) == 0 && len(needed) > 0 {
		path := strings.ReplaceAll(filepath.Join(e.temp, "kept.db"), "'", "''")
		if _, err := e.conn.ExecContext(ctx, "ATTACH IF NOT EXISTS '"+path+"' AS kept (RECOVERY_MODE no_wal_writes)"); err != nil {
			return fmt.Errorf("keep steps of the analysis in %s: %w", e.temp, err)
		}
	}
	for i := 0; len(e.kept)+len(needed) > maxKept && i < len(e.kept); {
		if slices.ContainsFunc(needed, func(k queries.Kept) bool { return k.Table == e.kept[i].Table }) {
			i++
			continue
		}
		if _, err := e.conn.ExecContext(ctx, "DROP TABLE "+e.kept[i].Table); err != nil {
			return err
		}
		e.kept = slices.Delete(e.kept, i, i+1)
	}
	return nil
}
