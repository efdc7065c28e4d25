package analyze

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"reprise/queries"
)

// EngineOptions bound what the engine takes from the machine. 0 is the default: all cores, DuckDB's own limit.
type EngineOptions struct {
	Threads  int
	MemoryMB int
	Temp     string // folder for what does not fit into memory; "" is the system's for temporary files
}

// Engine is one in-memory database behind one pinned connection, or a cluster behind one. It is not safe for concurrent use.
type Engine struct {
	db       *sql.DB
	conn     *sql.Conn
	temp     string
	threads  int
	mounts   map[*Run]queries.Source
	seen     map[coverageKey]seen
	prefills map[*Run]Prefill
	replayed map[*Run][]Replayed
	kept     []queries.Step // in tables of the database "kept", oldest first
	streams  *spool         // of the statement that was swept last; nil: none yet
	settled  settled        // timelines of the last sweep of the statement
	cluster  *cluster       // nil: DuckDB
	stretch  int64          // see stretchRows
}

// Scope says which requests a query sees and how it groups them. From and To bound the arrival, half open, in
// microseconds since 1970; nil is no bound. By names columns of queries.Dimensions. Hardware fills in parameters of
// queries that params leave open.
type Scope struct {
	From, To *int64
	By       []string
	SLO      SLO
	Hardware Hardware
}

// NewEngine starts an engine. Close it.
func NewEngine(ctx context.Context, o EngineOptions) (*Engine, error) {
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return nil, fmt.Errorf("start DuckDB: %w", err)
	}
	e := engineOn(sql.OpenDB(connector))
	if err := e.prepare(ctx, o); err != nil {
		e.Close()
		return nil, fmt.Errorf("start DuckDB: %w", err)
	}
	return e, nil
}

func engineOn(db *sql.DB) *Engine {
	return &Engine{db: db, mounts: map[*Run]queries.Source{}, seen: map[coverageKey]seen{}, prefills: map[*Run]Prefill{}, replayed: map[*Run][]Replayed{}, stretch: stretchRows}
}

func (e *Engine) prepare(ctx context.Context, o EngineOptions) error {
	var err error
	e.threads = cmp.Or(o.Threads, runtime.NumCPU())
	if e.conn, err = e.db.Conn(ctx); err != nil {
		return err
	}
	if e.temp, err = os.MkdirTemp(o.Temp, "reprise-duckdb-"); err != nil {
		return err
	}
	settings := []string{"SET TimeZone='UTC'", "SET autoinstall_known_extensions=false", "SET autoload_known_extensions=false",
		"SET temp_directory='" + strings.ReplaceAll(e.temp, "'", "''") + "'"}
	// every statement reads the same parts
	settings = append(settings, "SET parquet_metadata_cache=true")
	// estimates of what a deep statement yields are far too low, and a loop over all pairs is never right here
	settings = append(settings, "SET asof_loop_join_threshold=0")
	// steps that are kept do not outlive the engine: nothing of them has to be safe on disk
	settings = append(settings, "SET wal_autocheckpoint='1TB'", "PRAGMA disable_checkpoint_on_shutdown")
	if o.Threads > 0 {
		settings = append(settings, fmt.Sprintf("SET threads=%d", o.Threads))
	}
	if o.MemoryMB > 0 {
		settings = append(settings, fmt.Sprintf("SET memory_limit='%dMB'", o.MemoryMB))
	}
	for _, s := range settings {
		if _, err := e.conn.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return duckdb.RegisterScalarUDF(e.conn, handOver, walker{})
}

// Close frees the database and its temporary files.
func (e *Engine) Close() error {
	errs := []error{e.drop(), e.streams.close()}
	if e.conn != nil {
		errs = append(errs, e.conn.Close())
	}
	errs = append(errs, e.db.Close())
	if e.temp != "" {
		errs = append(errs, os.RemoveAll(e.temp))
	}
	return errors.Join(errs...)
}

// Query runs a query of the catalogue. params are its parameters by name, as text; those of the SLO come from the scope.
func (e *Engine) Query(ctx context.Context, r *Run, name string, sc Scope, params map[string]string) (*Result, error) {
	return e.QueryTo(ctx, nil, r, name, sc, params)
}

// QueryTo is Query that hands the answer to w too. The result keeps its first 10,000 rows, from which its warnings follow.
func (e *Engine) QueryTo(ctx context.Context, w Writer, r *Run, name string, sc Scope, params map[string]string) (*Result, error) {
	q, err := queries.Get(name)
	if err != nil {
		return nil, err
	}
	res, warnings, err := e.statement(ctx, r, q, sc, params)
	out := outlet{to: w}
	if err == nil && name == "latency_ci" && res.Params["method"] == "blocks" {
		if err = e.fill(ctx, r, sc, res, &outlet{}); err == nil {
			err = e.blockIntervals(ctx, r, sc, res)
		}
	} else if err == nil {
		err = e.answer(ctx, r, question{q, sc, params}, res, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", name, err)
	}
	res.Warnings = append(append(res.Warnings, warnings...), hardwareWarnings(res)...)
	if len(r.metrics) == 0 && name == targetMetrics {
		res.Warnings = append(res.Warnings, Warning{"no_target_metrics", noTargetMetrics})
	}
	return res, out.end(res)
}

var leadingComments = regexp.MustCompile(`^(?:\s+|--[^\n]*\n?|/\*(?s:.*?)\*/)+`)

// SQL runs a statement that begins with SELECT or WITH over the base views. It is in DuckDB's words, whatever the engine.
func (e *Engine) SQL(ctx context.Context, r *Run, sc Scope, text string) (*Result, error) {
	return e.sql(ctx, &outlet{}, r, sc, text, false)
}

// SQLTo is SQL with a statement in the words of the engine, one of the user's own, that hands the answer to w as QueryTo does.
func (e *Engine) SQLTo(ctx context.Context, w Writer, r *Run, sc Scope, text string) (*Result, error) {
	return e.sql(ctx, &outlet{to: w}, r, sc, text, true)
}

func (e *Engine) sql(ctx context.Context, out *outlet, r *Run, sc Scope, text string, verbatim bool) (*Result, error) {
	res, warnings, err := e.composed(ctx, r, sc, text, verbatim)
	if err != nil {
		return nil, err
	}
	if err := e.fill(ctx, r, sc, res, out); err != nil {
		return nil, fmt.Errorf("sql: %w", err)
	}
	res.Warnings = append(res.Warnings, warnings...)
	return res, out.end(res)
}

// look is SQL for figures that nobody sees as a result: without its coverage, which is a look at the whole range more.
func (e *Engine) look(ctx context.Context, r *Run, sc Scope, text string) (*Result, error) {
	res, _, err := e.composed(ctx, r, sc, text, false)
	if err != nil {
		return nil, err
	}
	return res, e.ask(ctx, res, &outlet{})
}

// readable is the run under paths that DuckDB reads as they are. When DuckDB 1.5.6 copies a part of a plan it reads the paths that
// a pattern gave as patterns again, so "[*]" would match its neighbours in the copy: a part whose path has such
// characters is read through a link of a plain name.
func (e *Engine) readable(r *Run) (*Run, error) {
	plain := &Run{Path: r.Path, Parts: slices.Clone(r.Parts)}
	for i, part := range r.Parts {
		if !strings.ContainsAny(part, "*?[") {
			continue
		}
		dir, err := os.MkdirTemp(e.temp, "link-")
		if err != nil {
			return nil, err
		}
		plain.Parts[i] = filepath.Join(dir, "part.parquet")
		if err := os.Symlink(part, plain.Parts[i]); err != nil {
			return nil, err
		}
	}
	return plain, nil
}
