package analyze

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
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
	cluster  *cluster       // nil: DuckDB
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
	return &Engine{db: db, mounts: map[*Run]queries.Source{}, seen: map[coverageKey]seen{}, prefills: map[*Run]Prefill{}, replayed: map[*Run][]Replayed{}}
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
	q, err := queries.Get(name)
	if err != nil {
		return nil, err
	}
	res, warnings, err := e.statement(ctx, r, q, sc, params)
	if err == nil {
		err = e.fill(ctx, r, sc, res)
	}
	if err == nil && name == "latency_ci" && res.Params["method"] == "blocks" {
		err = e.blockIntervals(ctx, r, sc, res)
	}
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", name, err)
	}
	res.Warnings = append(append(res.Warnings, warnings...), hardwareWarnings(res)...)
	if len(r.metrics) == 0 && name == targetMetrics {
		res.Warnings = append(res.Warnings, Warning{"no_target_metrics", noTargetMetrics})
	}
	return res, nil
}

// Text returns the statement that Query would run.
func (e *Engine) Text(ctx context.Context, r *Run, name string, sc Scope, params map[string]string) (string, error) {
	q, err := queries.Get(name)
	if err != nil {
		return "", err
	}
	res, _, err := e.statement(ctx, r, q, sc, params)
	if err != nil {
		return "", fmt.Errorf("query %s: %w", name, err)
	}
	return res.SQL, nil
}

// statement is the result of a query before it has run: header, parameters and text, and what the parameters that
// analyze works out warn of.
func (e *Engine) statement(ctx context.Context, r *Run, q queries.Query, sc Scope, params map[string]string) (*Result, []Warning, error) {
	values, warnings, err := e.workedOut(ctx, r, q, sc, params)
	if err != nil {
		return nil, nil, err
	}
	src, err := e.mount(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	text, err := queries.Compose(q, src, queries.Scope{From: sc.From, To: sc.To, By: sc.By}, values)
	return &Result{Query: q.Name, Title: q.Title, About: q.About, Level: q.Level, Chart: q.Chart, Params: shown(q, values), SQL: text,
		Columns: headerColumns(q)}, warnings, err
}

// workedOut are all parameters of a query: those given, the SLO's, and those that follow from the run.
func (e *Engine) workedOut(ctx context.Context, r *Run, q queries.Query, sc Scope, params map[string]string) (map[string]string, []Warning, error) {
	params, warnings, err := e.withFits(ctx, r, q, params)
	if err != nil {
		return nil, nil, err
	}
	if params, err = e.withCurves(ctx, r, q, sc, params); err != nil {
		return nil, nil, err
	}
	if params, err = e.withChanges(ctx, r, q, sc, params); err != nil {
		return nil, nil, err
	}
	if hasParam(q, "ranks") {
		if params, err = e.withRanks(ctx, r, sc, params); err != nil {
			return nil, nil, err
		}
	}
	values, err := givenValues(q, sc, params)
	return values, warnings, err
}

var leadingComments = regexp.MustCompile(`^(?:\s+|--[^\n]*\n?|/\*(?s:.*?)\*/)+`)

// SQL runs a statement that begins with SELECT or WITH over the base views. It is in DuckDB's words, whatever the engine.
func (e *Engine) SQL(ctx context.Context, r *Run, sc Scope, text string) (*Result, error) {
	return e.sql(ctx, r, sc, text, false)
}

// SQLAsIs is SQL with a statement in the words of the engine: one of the user's own.
func (e *Engine) SQLAsIs(ctx context.Context, r *Run, sc Scope, text string) (*Result, error) {
	return e.sql(ctx, r, sc, text, true)
}

func (e *Engine) sql(ctx context.Context, r *Run, sc Scope, text string, verbatim bool) (*Result, error) {
	res, warnings, err := e.composed(ctx, r, sc, text, verbatim)
	if err != nil {
		return nil, err
	}
	if err := e.fill(ctx, r, sc, res); err != nil {
		return nil, fmt.Errorf("sql: %w", err)
	}
	res.Warnings = append(res.Warnings, warnings...)
	return res, nil
}

// look is SQL for figures that nobody sees as a result: without its coverage, which is a look at the whole range more.
func (e *Engine) look(ctx context.Context, r *Run, sc Scope, text string) (*Result, error) {
	res, _, err := e.composed(ctx, r, sc, text, false)
	if err != nil {
		return nil, err
	}
	return res, e.ask(ctx, res)
}

// composed is the result of a statement before it has run.
func (e *Engine) composed(ctx context.Context, r *Run, sc Scope, text string, verbatim bool) (*Result, []Warning, error) {
	text = strings.TrimSpace(leadingComments.ReplaceAllString(text, ""))
	if word := strings.ToUpper(firstWord(text)); word != "SELECT" && word != "WITH" {
		return nil, nil, fmt.Errorf("expected a statement that begins with SELECT or WITH, got %q", firstWord(text))
	}
	src, err := e.mount(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	src.Verbatim = verbatim
	values, warnings, err := e.workedOut(ctx, r, queries.Query{Text: text}, sc, nil)
	if err != nil {
		return nil, nil, err
	}
	composed, err := queries.ComposeText(text, src, queries.Scope{From: sc.From, To: sc.To, By: sc.By}, values)
	return &Result{Query: "sql", Title: "SQL", Params: map[string]string{}, SQL: composed}, warnings, err
}

// givenValues are params and, of the SLO's, those that the query reads.
func givenValues(q queries.Query, sc Scope, params map[string]string) (map[string]string, error) {
	values := map[string]string{}
	slo := sc.SLO.Params()
	if sc.SLO.Objective > 0 {
		slo["objective"] = strconv.FormatFloat(sc.SLO.Objective, 'g', -1, 64)
	}
	for _, p := range queries.Parameters(q) {
		if v, ok := slo[p.Name]; ok {
			values[p.Name] = v
		}
	}
	for name := range params {
		if _, ok := values[name]; ok {
			return nil, fmt.Errorf("parameter %q is given by the SLO", name)
		}
		if name == "from_us" || name == "to_us" {
			return nil, fmt.Errorf("parameter %q is given by the time range", name)
		}
	}
	hardware := sc.Hardware.params()
	for _, p := range queries.Parameters(q) {
		if v, ok := hardware[p.Name]; ok {
			values[p.Name] = v
		}
	}
	maps.Copy(values, params)
	return values, nil
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

// shown are the parameters that say how to read the result: the query's own, with their defaults, and those of its views
// that are set.
func shown(q queries.Query, values map[string]string) map[string]string {
	out := map[string]string{}
	for _, p := range queries.Parameters(q) {
		v, given := values[p.Name]
		if !given && slices.Contains(q.Params, p) {
			v = p.Value()
		}
		if v != "" && v != "NULL" && (p.Name == "fits" || !slices.Contains(derived, p.Name)) { // they follow from the samples
			out[p.Name] = v
		}
	}
	return out
}

func headerColumns(q queries.Query) []Column {
	var cols []Column
	for _, k := range q.Keys {
		cols = append(cols, Column{Name: k.Name, Unit: k.Unit, Better: k.Better, Key: true})
	}
	for _, c := range q.Columns {
		cols = append(cols, Column{Name: c.Name, Unit: c.Unit, Better: c.Better})
	}
	return cols
}
