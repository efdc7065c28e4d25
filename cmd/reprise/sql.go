package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/queries"
)

// sqlFlags are those of `sql`.
type sqlFlags struct {
	scopeFlags
	engine, table   string
	params          []string
	mount           bool
	joined, grouped bool
	mixed           bool
}

func (a *app) sqlCommand() *cobra.Command {
	var o sqlFlags
	cmd := &cobra.Command{
		Use:   "sql QUERY",
		Short: "the SQL of a query, whole, to paste into the console of an engine",
		Example: `  reprise sql latency --engine trino --table hive.llm.logs --by tenant
  reprise sql goodput --engine trino --table hive.llm.logs --slo 'ttft<=1s,tpot<=60ms@99%' --grouped
  reprise sql latency --engine spark --table logs > latency.sql  # spark-sql -i mount.sql -f latency.sql
  reprise sql overview --engine duckdb --table run | duckdb
  reprise sql --mount s3://bucket/run --table hive.llm.logs      # the table of a run, for Trino's Hive connector
  reprise sql --mount s3a://bucket/run --engine spark --table logs > mount.sql`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.mount {
				if err := exactly("LOCATION")(cmd, args); err != nil {
					return err
				}
				return a.sqlMount(args[0], &o)
			}
			if err := exactly("QUERY")(cmd, args); err != nil {
				return err
			}
			return a.sql(args[0], &o)
		},
	}
	o.scopeFlags.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&o.engine, "engine", "trino", "whose SQL: trino, spark, duckdb")
	fs.StringVar(&o.table, "table", "", "table of the run, CATALOG.SCHEMA.NAME, for Spark also the NAME of a view; its folder for DuckDB")
	fs.StringArrayVar(&o.params, "param", nil, "parameter of the query, NAME=VALUE")
	fs.BoolVar(&o.joined, "joined", false, "several formats, or spans, tell of the same calls: make one row of them")
	fs.BoolVar(&o.grouped, "grouped", false, "calls were tried again: make one call of their attempts")
	fs.BoolVar(&o.mixed, "mixed", false, "some times are of wall clocks and others are not: these have no place in time")
	fs.BoolVar(&o.mount, "mount", false, "print the statements that make the run at LOCATION a table of Trino's Hive connector, or of Spark")
	return cmd
}

func (a *app) sql(name string, o *sqlFlags) error {
	if _, err := queries.Get(name); err != nil {
		return usage(err)
	}
	sc, err := o.scope()
	if err != nil {
		return err
	}
	params, err := keyValues(o.params)
	if err != nil {
		return usage(fmt.Errorf("--param: %w", err))
	}
	c, err := o.console()
	if err != nil {
		return usage(err)
	}
	text, open, err := analyze.Statement(name, c.src, sc, params)
	if err != nil {
		return usage(err)
	}
	if len(open) > 0 {
		fmt.Fprintf(a.out, "-- %s: worked out from the run by reprise query, empty here unless --param gives them.\n", strings.Join(open, ", "))
	}
	a.script(text, c)
	return nil
}

// console is where a statement is pasted: the run as it reads it, what the session needs first, and, of an engine that works
// out a step of a WITH wherever it is read, the name of a table for one and how it is made.
type console struct {
	src          queries.Source
	head, engine string
	create       string // CREATE TABLE %s AS
	table        func(n int) string
}

func (o *sqlFlags) console() (console, error) {
	src := queries.Source{Joined: o.joined, Grouped: o.grouped, Mixed: o.mixed}
	step := func(n int) string { return fmt.Sprintf("reprise_step_%d", n) }
	switch o.engine {
	case "duckdb":
		if o.table == "" {
			return console{}, errors.New("--table: expected the folder of a run")
		}
		pattern := strings.ReplaceAll(filepath.Join(o.table, "day=*", "*.parquet"), "'", "''")
		src.Scan = "read_parquet('" + pattern + "', union_by_name=true, hive_partitioning=false)"
		return console{src: src, head: "SET TimeZone = 'UTC';\n"}, nil
	case "trino":
		t, err := queries.ParseTable(o.table, queries.Table{})
		if err != nil {
			return console{}, fmt.Errorf("--table: %w", err)
		}
		src.Dialect, src.Scan, src.Metrics = queries.Trino, t.Scan(), t.Metrics().String()
		return console{src: src, engine: "Trino", create: "CREATE TABLE %s AS\n", table: func(n int) string {
			return queries.Table{Catalog: t.Catalog, Schema: t.Schema, Name: step(n)}.String()
		}}, nil
	case "spark":
		t, err := queries.ParseSparkTable(o.table)
		if err != nil {
			return console{}, fmt.Errorf("--table: %w", err)
		}
		src.Dialect, src.Scan, src.Metrics = queries.Spark, t.Scan(), t.Metrics().String()
		return console{src: src, engine: "Spark", head: sparkHead, create: "CREATE TABLE %s USING parquet AS\n", table: func(n int) string { return t.Beside(step(n)).String() }}, nil
	}
	return console{}, fmt.Errorf("--engine: expected trino, spark or duckdb, got %q", o.engine)
}

// sparkHead makes an error of what would be a wrong number, such as a sum that overflows, which is the default from Spark 4 on; and keeps the
// planner from deriving conditions of the long CASE expressions of verdicts, which takes minutes.
const sparkHead = "SET spark.sql.ansi.enabled = true;\nSET spark.sql.constraintPropagation.enabled = false;\n"

// script prints a statement with the tables of steps that it needs before it, and their end behind it.
func (a *app) script(text string, c console) {
	var steps []queries.Step
	if c.table != nil {
		names := map[string]string{}
		steps, text = queries.Stage(text, false, func(text string) string {
			if names[text] == "" {
				names[text] = c.table(len(names) + 1)
			}
			return names[text]
		})
	}
	fmt.Fprint(a.out, c.head)
	if len(steps) > 0 {
		fmt.Fprintf(a.out, "-- %s works out each step of a WITH wherever it is read: these steps are kept in tables. Run one statement after the other.\n", c.engine)
	}
	for _, s := range steps {
		fmt.Fprintf(a.out, c.create+"%s;\n\n", s.Table, s.Text)
	}
	fmt.Fprintf(a.out, "%s;\n", text)
	for _, s := range steps {
		fmt.Fprintf(a.out, "\nDROP TABLE %s;", s.Table)
	}
	if len(steps) > 0 {
		fmt.Fprintln(a.out)
	}
}

// sqlMount prints how a run becomes a table. Whether it has metrics of the target is not looked up: their table is in a comment.
func (a *app) sqlMount(location string, o *sqlFlags) error {
	if !strings.Contains(location, "://") {
		return usage(fmt.Errorf("--mount: expected the location as the cluster sees it, such as s3://bucket/run, local:///run (Trino) or s3a://bucket/run, file:///run (Spark), got %q", location))
	}
	var list []string
	var scan string
	again := "The last statement makes the days known: run it again after each ingest."
	switch o.engine {
	case "trino":
		t, err := queries.ParseTable(o.table, queries.Table{})
		if err != nil {
			return usage(fmt.Errorf("--table: %w", err))
		}
		list, scan = queries.Mount(t, location, true), t.String()
	case "spark":
		t, err := queries.ParseSparkTable(o.table)
		if err != nil {
			return usage(fmt.Errorf("--table: %w", err))
		}
		list, scan = queries.MountSpark(t, location, true), t.String()
		fmt.Fprintln(a.out, "-- No setting of the session matters: columns and days have their types here, times are microseconds of UTC in any zone, and each query asks for ANSI mode.")
		if len(list) == 2 {
			again = "The view is of the session, and of the files that are there: run it again after each ingest."
		}
	default:
		return usage(fmt.Errorf("--mount: expected --engine trino or spark, got %q", o.engine))
	}
	for _, s := range list[:len(list)-1] {
		fmt.Fprintf(a.out, "%s;\n", s)
	}
	commented := func(text string) string { return "-- " + strings.ReplaceAll(text, "\n", "\n-- ") + ";\n" }
	fmt.Fprintf(a.out, "-- %s\n-- Which of --joined, --grouped and --mixed its queries need (--joined also where a log was read twice):\n%s", again, commented(queries.Forms(scan)))
	fmt.Fprint(a.out, "-- Only for a run with metrics/ (replay --metrics-url):\n", commented(list[len(list)-1]))
	return nil
}
