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
}

func (a *app) sqlCommand() *cobra.Command {
	var o sqlFlags
	cmd := &cobra.Command{
		Use:   "sql QUERY",
		Short: "the SQL of a query, whole, to paste into the console of an engine",
		Example: `  reprise sql latency --engine trino --table hive.llm.logs --by tenant
  reprise sql goodput --engine trino --table hive.llm.logs --slo 'ttft<=1s,tpot<=60ms@99%' --grouped
  reprise sql overview --engine duckdb --table run | duckdb
  reprise sql --mount s3://bucket/run --table hive.llm.logs      # the table of a run, for Trino's Hive connector`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.mount {
				if err := exactly("LOCATION")(cmd, args); err != nil {
					return err
				}
				return a.sqlMount(args[0], o.table)
			}
			if err := exactly("QUERY")(cmd, args); err != nil {
				return err
			}
			return a.sql(args[0], &o)
		},
	}
	o.scopeFlags.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&o.engine, "engine", "trino", "whose SQL: trino, duckdb")
	fs.StringVar(&o.table, "table", "", "table of the run, CATALOG.SCHEMA.NAME; its folder for DuckDB")
	fs.StringArrayVar(&o.params, "param", nil, "parameter of the query, NAME=VALUE")
	fs.BoolVar(&o.joined, "joined", false, "several formats, or spans, tell of the same calls: make one row of them")
	fs.BoolVar(&o.grouped, "grouped", false, "calls were tried again: make one call of their attempts")
	fs.BoolVar(&o.mount, "mount", false, "print the statements that make the run at LOCATION a table of Trino's Hive connector")
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
	src, table, err := o.source()
	if err != nil {
		return usage(err)
	}
	text, open, err := analyze.Statement(name, src, sc, params)
	if err != nil {
		return usage(err)
	}
	if len(open) > 0 {
		fmt.Fprintf(a.out, "-- %s: worked out from the run by reprise query, empty here unless --param gives them.\n", strings.Join(open, ", "))
	}
	if src.Dialect == queries.DuckDB {
		fmt.Fprintln(a.out, "SET TimeZone = 'UTC';")
		fmt.Fprintln(a.out, text+";")
		return nil
	}
	a.script(text, table)
	return nil
}

// source is the run as a statement reads it.
func (o *sqlFlags) source() (queries.Source, queries.Table, error) {
	src := queries.Source{Joined: o.joined, Grouped: o.grouped}
	switch o.engine {
	case "duckdb":
		if o.table == "" {
			return src, queries.Table{}, errors.New("--table: expected the folder of a run")
		}
		pattern := strings.ReplaceAll(filepath.Join(o.table, "day=*", "*.parquet"), "'", "''")
		src.Scan = "read_parquet('" + pattern + "', union_by_name=true, hive_partitioning=false)"
		return src, queries.Table{}, nil
	case "trino":
		table, err := queries.ParseTable(o.table, queries.Table{})
		if err != nil {
			return src, table, fmt.Errorf("--table: %w", err)
		}
		src.Dialect, src.Scan, src.Metrics = queries.Trino, table.Scan(), table.Metrics().String()
		return src, table, nil
	case "spark":
		return src, queries.Table{}, errors.New("--engine spark: the queries are written out for trino and duckdb only")
	}
	return src, queries.Table{}, fmt.Errorf("--engine: expected trino or duckdb, got %q", o.engine)
}

// script prints a statement for Trino, with the tables of steps that it needs before it, and their end behind it.
func (a *app) script(text string, table queries.Table) {
	n := 0
	names := map[string]string{}
	steps, final := queries.Stage(text, false, func(text string) string {
		if names[text] == "" {
			n++
			names[text] = queries.Table{Catalog: table.Catalog, Schema: table.Schema, Name: fmt.Sprintf("reprise_step_%d", n)}.String()
		}
		return names[text]
	})
	if len(steps) > 0 {
		fmt.Fprintln(a.out, "-- Trino works out each step of a WITH wherever it is read: these steps are kept in tables. Run one statement after the other.")
	}
	for _, s := range steps {
		fmt.Fprintf(a.out, "CREATE TABLE %s AS\n%s;\n\n", s.Table, s.Text)
	}
	fmt.Fprintf(a.out, "%s;\n", final)
	for _, s := range steps {
		fmt.Fprintf(a.out, "\nDROP TABLE %s;", s.Table)
	}
	if len(steps) > 0 {
		fmt.Fprintln(a.out)
	}
}

// sqlMount prints how a run becomes a table. A folder of this machine is looked at for metrics of the target, elsewhere its table is in a comment.
func (a *app) sqlMount(location, name string) error {
	table, err := queries.ParseTable(name, queries.Table{})
	if err != nil {
		return usage(fmt.Errorf("--table: %w", err))
	}
	if !strings.Contains(location, "://") {
		return usage(fmt.Errorf("--mount: expected the location as the cluster sees it, such as s3://bucket/run or local:///run, got %q", location))
	}
	list := queries.Mount(table, location, true)
	for _, s := range list[:len(list)-1] {
		fmt.Fprintf(a.out, "%s;\n", s)
	}
	fmt.Fprintf(a.out, "-- The last statement makes the days known: run it again after each ingest.\n-- Only for a run with metrics/ (replay --metrics-url):\n-- %s;\n",
		strings.ReplaceAll(list[len(list)-1], "\n", "\n-- "))
	return nil
}
