package analyze

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/trinodb/trino-go-client/trino"

	"reprise/queries"
)

// TrinoOptions say where a cluster is and who asks. URL is trino://USER@HOST:PORT/CATALOG/SCHEMA, or trino+https:// (also ?SSL=true)
// with TLS. Steps of large queries are kept in tables of the schema while the engine is open, else of ?scratch=CATALOG.SCHEMA.
type TrinoOptions struct {
	URL      string
	Password string              // needs TLS; "" is none
	Progress func(TrinoProgress) // nil: none
}

// TrinoProgress is what the cluster says of a statement that runs.
type TrinoProgress struct {
	State        string
	Done, Splits int
	Rows, Bytes  int64
	CPU, Elapsed time.Duration
	Step, Steps  int // of the tables of steps that a query needs: which is being made; 0 of 0 is the query itself
}

// cluster is the other side of an engine that does not run here.
type cluster struct {
	home     queries.Table // catalog and schema of the URL; no name
	scratch  queries.Table
	host     string
	session  string            // in the names of tables of steps, so that two clients do not meet
	kept     map[string]string // tables of steps by statement
	tables   []string          // in order of making
	readOnly bool              // no table can be made
	progress func(TrinoProgress)
}

// NewTrino connects to a cluster. It asks it nothing yet. Close it: that drops the tables of steps.
func NewTrino(ctx context.Context, o TrinoOptions) (*Engine, error) {
	conf, c, err := parseTrino(o)
	if err != nil {
		return nil, err
	}
	connector, err := trino.NewConnector(conf)
	if err != nil {
		return nil, fmt.Errorf("connect to Trino at %s: %w", c.host, err)
	}
	e := engineOn(sql.OpenDB(connector))
	e.cluster = c
	if e.conn, err = e.db.Conn(ctx); err != nil {
		e.Close()
		return nil, c.explain(err)
	}
	return e, nil
}

// parseTrino reads the URL. An error never shows the password.
func parseTrino(o TrinoOptions) (*trino.Config, *cluster, error) {
	fail := func(got string) (*trino.Config, *cluster, error) {
		return nil, nil, fmt.Errorf("expected an engine as trino://USER@HOST:PORT/CATALOG/SCHEMA, got %s", got)
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return fail("what is no URL")
	}
	path := strings.Split(strings.Trim(u.Path, "/"), "/")
	switch {
	case u.Scheme != "trino" && u.Scheme != "trino+https":
		return fail(fmt.Sprintf("the scheme %q", u.Scheme))
	case u.Host == "" || u.User.Username() == "":
		return fail(fmt.Sprintf("%q without a host or a user", u.Redacted()))
	case len(path) != 2 || path[0] == "" || path[1] == "":
		return fail(fmt.Sprintf("%q without a catalog and a schema", u.Redacted()))
	}
	if _, ok := u.User.Password(); ok {
		return nil, nil, errors.New("a password in the URL of an engine is seen by everyone who sees the command: put it into the environment variable REPRISE_TRINO_PASSWORD")
	}
	server := url.URL{Scheme: "http", Host: u.Host, User: url.User(u.User.Username())}
	ssl := u.Query().Get("SSL")
	if u.Scheme == "trino+https" || (ssl != "" && !strings.EqualFold(ssl, "false")) {
		server.Scheme = "https"
	}
	if o.Password != "" {
		if server.Scheme != "https" {
			return nil, nil, errors.New("a password goes over TLS only: write trino+https://")
		}
		server.User = url.UserPassword(u.User.Username(), o.Password)
	}
	c := &cluster{home: queries.Table{Catalog: path[0], Schema: path[1]}, host: u.Host, session: sessionName(), kept: map[string]string{}, progress: o.Progress}
	c.scratch = c.home
	if s := u.Query().Get("scratch"); s != "" {
		if c.scratch, err = queries.ParseTable(s+".x", c.home); err != nil {
			return nil, nil, fmt.Errorf("scratch: expected CATALOG.SCHEMA, got %q", s)
		}
	}
	attempts := 4
	return &trino.Config{ServerURI: server.String(), Source: "reprise", Catalog: path[0], Schema: path[1], TimeZone: "UTC", RequestRetryMaxAttempts: &attempts}, c, nil
}

func sessionName() string {
	var b [4]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// explain says what an error of the cluster means for the one who asked.
func (c *cluster) explain(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var told *trino.ErrTrino
	errors.As(err, &told)
	var dial *net.OpError
	switch {
	case told == nil && errors.As(err, &dial):
		return fmt.Errorf("no Trino answers at %s: %w", c.host, dial)
	case told == nil:
		return fmt.Errorf("Trino at %s: %w", c.host, err)
	case told.ErrorName == "CATALOG_NOT_FOUND":
		return fmt.Errorf("Trino at %s has no such catalog: %s", c.host, told.Message)
	case told.ErrorName == "SCHEMA_NOT_FOUND", told.ErrorName == "TABLE_NOT_FOUND":
		return fmt.Errorf("Trino at %s has no such table: %s; reprise sql --mount prints the statements that make one", c.host, told.Message)
	}
	return fmt.Errorf("Trino at %s: %s: %s", c.host, told.ErrorName, told.Message)
}

// query runs a composed statement after the tables of steps that it needs. Where no table can be made, it does without those that
// only save time.
func (e *Engine) query(ctx context.Context, text string) (*sql.Rows, error) {
	if e.cluster == nil {
		return e.queryHere(ctx, text)
	}
	c := e.cluster
	list, final := queries.Stage(text, !c.readOnly, c.tableOf)
	for i, s := range list {
		if c.kept[s.Text] != "" {
			continue
		}
		if err := e.keep(ctx, s, i+1, len(list)); refused(err) && !c.readOnly {
			c.readOnly = true
			return e.query(ctx, text)
		} else if err != nil {
			return nil, fmt.Errorf("keep a step of the query in %s.%s: %w", c.scratch.Catalog, c.scratch.Schema, c.explain(err))
		}
	}
	rows, err := e.conn.QueryContext(ctx, final, c.watch(0, 0)...)
	if err != nil {
		return nil, c.explain(err)
	}
	return rows, nil
}

// refused says whether the cluster makes no tables there.
func refused(err error) bool {
	var told *trino.ErrTrino
	return errors.As(err, &told) && (told.ErrorName == "PERMISSION_DENIED" || told.ErrorName == "NOT_SUPPORTED")
}

// tableOf names the table of a step.
func (c *cluster) tableOf(text string) string {
	if name := c.kept[text]; name != "" {
		return name
	}
	sum := hash(text)
	return queries.Table{Catalog: c.scratch.Catalog, Schema: c.scratch.Schema, Name: "reprise_" + c.session + "_" + sum}.String()
}

func (e *Engine) keep(ctx context.Context, s queries.Step, i, n int) error {
	c := e.cluster
	c.tables = append(c.tables, s.Table)
	_, err := e.conn.ExecContext(ctx, "CREATE TABLE "+s.Table+" AS\n"+s.Text, c.watch(i, n)...)
	if err == nil {
		c.kept[s.Text] = s.Table
	}
	return err
}

// drop removes the tables of steps, also after the caller was interrupted.
func (e *Engine) drop() error {
	if e.cluster == nil || e.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var errs []error
	for _, table := range e.cluster.tables {
		if _, err := e.conn.ExecContext(ctx, "DROP TABLE IF EXISTS "+table); err != nil {
			errs = append(errs, fmt.Errorf("drop the table of a step, %s: %w", table, e.cluster.explain(err)))
		}
	}
	e.cluster.tables = nil
	return errors.Join(errs...)
}

// watch are the driver's arguments that bring the cluster's statistics.
func (c *cluster) watch(step, of int) []any {
	if c.progress == nil {
		return nil
	}
	return []any{sql.Named("X-Trino-Progress-Callback", watcher{c.progress, step, of}), sql.Named("X-Trino-Progress-Callback-Period", time.Second/2)}
}

type watcher struct {
	tell     func(TrinoProgress)
	step, of int
}

// Update implements the driver's interface.
func (w watcher) Update(info trino.QueryProgressInfo) {
	s := info.QueryStats
	w.tell(TrinoProgress{s.State, s.CompletedSplits, s.TotalSplits, s.ProcessedRows, s.ProcessedBytes,
		time.Duration(s.CPUTimeMillis) * time.Millisecond, time.Duration(s.ElapsedTimeMillis) * time.Millisecond, w.step, w.of})
}
