package analyze

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"reprise/queries"
)

// A sweep gives the rows of a view about chunk gaps without a row a gap: the lists of chunk gaps go by once, each along the timeline of its replica, and what
// the view adds up, counts or leaves over is all that reaches SQL. The text of the view says what the rows are; another engine, and every test, runs that.
type sweep struct {
	engine   *Engine
	reads    map[string]string
	replicas map[string]*timeline // of this part
	workers  int

	part, parts int64
	out         []filler // of the table, by worker
}

// sweeps are the sweeps by name: the columns of the table, and what fills it.
var sweeps = map[string]struct {
	columns string
	run     func(s *sweep, ctx context.Context, args []*float64) error
}{
	"pools":     {"replica VARCHAR, hour_us BIGINT, class BIGINT, n BIGINT, median_us DOUBLE, low_us DOUBLE", (*sweep).pools},
	"sums":      {"grp VARCHAR, tenant VARCHAR, bin_start_us BIGINT, streams BIGINT, gaps BIGINT, decode_us BIGINT, known_us BIGINT, excess_us BIGINT, lost_us BIGINT, stalled BIGINT, stalled_prefill BIGINT, stalled_us BIGINT, stalled_lost_us BIGINT", (*sweep).sums},
	"counts":    {"grp VARCHAR, variant VARCHAR, gap_us BIGINT, gaps BIGINT", (*sweep).counts},
	"all":       {"grp VARCHAR, what VARCHAR, gap_us BIGINT, c BIGINT", (*sweep).all},
	"load":      {"request_id VARCHAR, attempt INTEGER, arrival_us BIGINT, grp VARCHAR, tenant VARCHAR, model VARCHAR, replica VARCHAR, start_us BIGINT, end_us BIGINT, chunks BIGINT, estimated BOOLEAN, decode_us BIGINT, steps BIGINT, other_tokens DOUBLE, others DOUBLE", (*sweep).load},
	"stood":     {"replica VARCHAR, request_id VARCHAR, attempt INTEGER, arrival_us BIGINT, grp VARCHAR, tenant VARCHAR, k BIGINT, start_us BIGINT, end_us BIGINT, gap_us BIGINT, streams BIGINT, batch BIGINT, clean BOOLEAN, waited_us BIGINT, baseline_us DOUBLE, after_us DOUBLE, excess_us BIGINT, covered_us BIGINT, overlap_us BIGINT, overlap_tokens DOUBLE, held BIGINT, decoders BIGINT", (*sweep).stood},
	"stretched": {"request_id VARCHAR, attempt INTEGER, tenant VARCHAR, model VARCHAR, replica VARCHAR, arrival_us BIGINT, source VARCHAR, fitted_us BIGINT, end_us BIGINT, tokens DOUBLE, share DOUBLE, leads BOOLEAN, start_us BIGINT", (*sweep).stretched},
	"steps":     {"grp VARCHAR, batch BIGINT, n BIGINT, step_us DOUBLE, streams DOUBLE", (*sweep).steps},
	"batch":     {"grp VARCHAR, replica VARCHAR, batch BIGINT, us BIGINT, level_us BIGINT, stream_us BIGINT, known_us BIGINT, tokens DOUBLE, context_us BIGINT, context DOUBLE", (*sweep).batch},
	"blame":     {"request_id VARCHAR, attempt INTEGER, arrival_us BIGINT, victim VARCHAR, time_us DOUBLE", (*sweep).blame},
}

// sweep makes the table of a step from what the sweep of the step gives.
func (e *Engine) sweep(ctx context.Context, k queries.Kept) (err error) {
	name, args, _ := strings.Cut(k.Sweep, " ")
	what, ok := sweeps[name]
	if !ok {
		return fmt.Errorf("no sweep %q", name)
	}
	if _, err := e.conn.ExecContext(ctx, "CREATE TABLE "+k.Table+" ("+what.columns+")"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = e.conn.ExecContext(context.WithoutCancel(ctx), "DROP TABLE "+k.Table)
		}
	}()
	s := &sweep{engine: e, reads: k.Reads, workers: e.threads}
	if s.parts, err = e.parts(ctx, k, name); err != nil {
		return err
	}
	defer func() {
		for _, f := range s.out {
			err = cmp.Or(err, f.close())
		}
	}()
	for range s.workers {
		f, err := e.newFiller(ctx, k.Table)
		if err != nil {
			return err
		}
		s.out = append(s.out, f)
	}
	for ; s.part < s.parts; s.part++ {
		s.replicas = map[string]*timeline{}
		if err := s.timelines(ctx); err != nil {
			return err
		}
		if err := what.run(s, ctx, arguments(args)); err != nil {
			return err
		}
	}
	return nil
}

// filler adds rows to a table; each worker has one, with a connection of its own: the engine's is busy with what the sweep reads.
type filler struct {
	conn *sql.Conn
	to   *duckdb.Appender
}

func (e *Engine) newFiller(ctx context.Context, table string) (f filler, err error) {
	if f.conn, err = e.db.Conn(ctx); err != nil {
		return f, err
	}
	database, table, _ := strings.Cut(table, ".")
	if err = f.conn.Raw(func(c any) error {
		f.to, err = duckdb.NewAppender(c.(driver.Conn), database, "main", table)
		return err
	}); err != nil {
		f.conn.Close()
	}
	return f, err
}

func (f filler) close() error { return errors.Join(f.to.Close(), f.conn.Close()) }

// arguments are the values of parameters as a statement has them, nil for NULL.
func arguments(literals string) (out []*float64) {
	for _, m := range literal.FindAllStringSubmatch(literals, -1) {
		if v, err := strconv.ParseFloat(m[1], 64); err == nil {
			out = append(out, &v)
		} else {
			out = append(out, nil)
		}
	}
	return out
}

var literal = regexp.MustCompile(`CAST\((\S+) AS`)

// timelines reads what the views say of each replica, as far as the sweep reads them.
func (s *sweep) timelines(ctx context.Context) error {
	if err := s.edges(ctx); err != nil {
		return err
	}
	if err := s.each(ctx, "gap_baselines", "replica, CAST(hour_us AS BIGINT), CAST(class AS BIGINT), CAST(baseline_us AS DOUBLE)", func(t *timeline, c []column, row int) error {
		length := peek[float64](c[3], row)
		*t.usual.at(peek[int64](c[1], row), peek[int64](c[2], row)) = length
		t.shortest = min(t.shortest, length)
		return nil
	}); err != nil {
		return err
	}
	if err := s.each(ctx, "stretched_windows", "replica, CAST(start_us AS BIGINT), CAST(end_us AS BIGINT), CAST(leads AS BOOLEAN)", func(t *timeline, c []column, row int) error {
		if peek[bool](c[3], row) {
			t.windows = append(t.windows, span{peek[int64](c[1], row), peek[int64](c[2], row)})
		}
		return nil
	}); err != nil {
		return err
	}
	for _, t := range s.replicas {
		t.held, t.windows = newStretches(t.windows), nil
	}
	return nil
}

// settled are the timelines of a run with the edges alone, which the sweeps of a query have in common.
type settled struct {
	text  string // of the views
	lines []timeline
}

// edges reads when streams and prefills began and ended.
func (s *sweep) edges(ctx context.Context) error {
	text := s.view("decode_streams") + s.view("prefill_windows")
	if s.engine.settled.text == text {
		for _, t := range s.engine.settled.lines {
			s.replicas[t.name] = &t
		}
		return nil
	}
	s.engine.settled = settled{}
	if err := s.each(ctx, "decode_streams", "replica, CAST(start_us AS BIGINT), CAST(end_us AS BIGINT)", func(t *timeline, c []column, row int) error {
		t.starts, t.ends = append(t.starts, peek[int64](c[1], row)), append(t.ends, peek[int64](c[2], row))
		return nil
	}); err != nil {
		return err
	}
	if err := s.each(ctx, "prefill_windows", "replica, CAST(start_us AS BIGINT), CAST(end_us AS BIGINT), CAST(arrival_us AS BIGINT)", func(t *timeline, c []column, row int) error {
		from, to := peek[int64](c[1], row), peek[int64](c[2], row)
		t.windows, t.waits = append(t.windows, span{from, to}), append(t.waits, span{peek[int64](c[3], row), to})
		return nil
	}); err != nil {
		return err
	}
	lines := make([]timeline, 0, len(s.replicas))
	for _, t := range s.replicas {
		t.settle()
		lines = append(lines, *t)
	}
	s.engine.settled = settled{text, lines}
	return nil
}

// each hands on the rows of a view, the first column of which is a replica; none if the sweep does not read it.
func (s *sweep) each(ctx context.Context, view, columns string, row func(t *timeline, c []column, row int) error) error {
	if s.reads[view] == "" {
		return nil
	}
	return s.engine.chunks(ctx, "SELECT "+columns+" FROM "+s.view(view), 1, s.byReplica(columns, func(_ int, t *timeline, c []column, i int) error {
		return row(t, c, i)
	}))
}

// apart is each for rows that say nothing of others, and of replicas that are known, on as many goroutines as there are workers.
func (s *sweep) apart(ctx context.Context, view, columns string, row func(worker int, t *timeline, c []column, row int) error) error {
	return s.engine.chunks(ctx, "SELECT "+columns+" FROM "+s.view(view), s.workers, s.byReplica(columns, row))
}

func (s *sweep) byReplica(columns string, row func(worker int, t *timeline, c []column, row int) error) func(worker int, c *chunk) error {
	return func(w int, c *chunk) error {
		list := make([]column, strings.Count(columns, ",")+1)
		for i := range list {
			list[i] = c.column(i)
		}
		for i := range c.rows {
			t := s.replicas[list[0].text(i)]
			if t == nil {
				t = &timeline{name: strings.Clone(list[0].text(i)), shortest: math.Inf(1)}
				s.replicas[t.name] = t
			}
			if err := row(w, t, list, i); err != nil {
				return err
			}
		}
		return nil
	}
}

// row adds a row of the table, for one worker.
func (s *sweep) row(worker int, values ...driver.Value) error {
	return s.out[worker].to.AppendRow(values...)
}

// inOrder are the replicas by name.
func (s *sweep) inOrder() []*timeline {
	var out []*timeline
	for _, name := range slices.Sorted(maps.Keys(s.replicas)) {
		out = append(out, s.replicas[name])
	}
	return out
}
