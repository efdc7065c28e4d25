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

// maxKept bounds the tables of steps: a picture of one run needs six, a comparison twelve.
const maxKept = 24

// queryHere runs a composed statement on DuckDB. What the statement says of stalls is worked out once for all statements about the
// same requests, in tables of a database of its own: on disk and packed, since a row a chunk gap does not fit into memory.
func (e *Engine) queryHere(ctx context.Context, text string) (*sql.Rows, error) {
	steps, final := queries.Keep(text, func(text string) string { return "kept.step_" + hash(text) })
	if err := e.forget(ctx, steps); err != nil {
		return nil, err
	}
	for _, s := range steps {
		if slices.Contains(e.kept, s) {
			continue
		}
		if _, err := e.conn.ExecContext(ctx, "CREATE TABLE "+s.Table+" AS\n"+s.Text); err != nil {
			return nil, err
		}
		e.kept = append(e.kept, s)
	}
	return e.conn.QueryContext(ctx, final)
}

// forget makes the database of steps, and room in it for those that are needed now.
func (e *Engine) forget(ctx context.Context, needed []queries.Step) error {
	if len(e.kept) == 0 && len(needed) > 0 {
		path := strings.ReplaceAll(filepath.Join(e.temp, "kept.db"), "'", "''")
		if _, err := e.conn.ExecContext(ctx, "ATTACH IF NOT EXISTS '"+path+"' AS kept"); err != nil {
			return fmt.Errorf("keep steps of the analysis in %s: %w", e.temp, err)
		}
	}
	for i := 0; len(e.kept)+len(needed) > maxKept && i < len(e.kept); {
		if slices.Contains(needed, e.kept[i]) {
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
