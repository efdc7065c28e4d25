package analyze

import (
	"context"
	"fmt"

	"reprise/queries"
)

// parts says in how many parts of the replicas a sweep is made, so that the edges of some stretchRows requests are in memory at once: in one where
// chunk times are read, since their lists go by once for all replicas; in none where it is about chunk times and there are none.
func (e *Engine) parts(ctx context.Context, k queries.Kept, sweep string) (int64, error) {
	if k.Reads["decode_streams"] == "" {
		return 1, nil
	}
	n, err := e.count(ctx, k.Reads["decode_streams"])
	if err != nil || n <= e.stretch {
		return 1, err
	}
	if paced := k.Reads["paced_streams"]; paced != "" {
		if any, err := e.count(ctx, "SELECT 1 FROM ("+paced+") LIMIT 1"); err != nil || any > 0 {
			return 1, err
		}
		if sweep != "stretched" { // it has a row a prefill, too
			return 0, nil
		}
	}
	return n/e.stretch + 1, nil
}

func (e *Engine) count(ctx context.Context, text string) (n int64, err error) {
	err = e.conn.QueryRowContext(ctx, "SELECT count(*) FROM ("+text+")").Scan(&n)
	return n, err
}

// view is a view that the sweep reads, as a relation: the rows of the replicas of its part.
func (s *sweep) view(name string) string {
	if s.parts < 2 {
		return "(" + s.reads[name] + ")"
	}
	return fmt.Sprintf("(SELECT * FROM (%s) WHERE hash(replica) %% %d = %d)", s.reads[name], s.parts, s.part)
}
