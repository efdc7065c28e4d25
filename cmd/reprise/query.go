package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/queries"
)

func (a *app) queryCommand() *cobra.Command {
	var s scopeFlags
	var f ingestFlags
	var list bool
	var show, text, tool string
	var params []string
	cmd := &cobra.Command{
		Use:   "query NAME RUN",
		Short: "run one query; list them; show their SQL; run your own",
		Example: `  reprise query --list
  reprise query latency run --by tenant
  reprise query latency run --definition vllm      # TTFT, TPOT, ITL, E2E as that tool counts them
  reprise query --show goodput
  reprise query goodput run --slo 'ttft<=450ms,tpot<=40ms@99%' --json
  reprise query run --sql 'SELECT tenant, count(*) AS n FROM requests GROUP BY tenant ORDER BY n DESC'
  reprise query latency logs --engine trino://me@trino:8080/hive/llm        # logs is a table: reprise sql --mount`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case list:
				return a.listQueries(&s)
			case show != "":
				q, err := queries.Get(show)
				if err != nil {
					return noQuery(show)
				}
				fmt.Fprintf(a.out, "-- %s\n-- %s\n%s\n", q.Title, q.About, q.Text)
				return nil
			}
			want := []string{"NAME", "RUN"}
			if text != "" {
				want = []string{"RUN"}
			}
			if err := exactly(want...)(cmd, args); err != nil {
				return err
			}
			values, err := keyValues(params)
			if err != nil {
				return usage(fmt.Errorf("--param: %w", err))
			}
			if tool != "" && (text != "" || args[0] != "latency") {
				return usage(fmt.Errorf("--definition goes with the query latency, got %q", args[0]))
			}
			if err := checkDefinition(tool); err != nil {
				return err
			}
			return a.query(cmd.Context(), args, query{s: &s, f: &f, text: text, tool: tool, params: values})
		},
	}
	s.add(cmd)
	f.add(cmd)
	engineFlag(cmd, &f)
	cmd.Flags().BoolVar(&list, "list", false, "list the queries")
	cmd.Flags().StringVar(&show, "show", "", "print the SQL of a query")
	cmd.Flags().StringVar(&text, "sql", "", "run this statement over the base views (requests, gaps, judged)")
	definitionFlag(cmd, &tool)
	cmd.Flags().StringArrayVar(&params, "param", nil, "parameter of the query, NAME=VALUE")
	return cmd
}

// listQueries prints the catalogue; as text, one line a query.
func (a *app) listQueries(s *scopeFlags) error {
	if _, err := s.scope(); err != nil {
		return err
	}
	res := &analyze.Result{Query: "queries", Title: "Queries", Columns: []analyze.Column{{Name: "name", Unit: "text", Better: "none", Key: true},
		{Name: "title", Unit: "text", Better: "none"}, {Name: "level", Unit: "text", Better: "none"}}}
	for _, q := range queries.List() {
		if s.format == "text" {
			fmt.Fprintf(a.out, "%-20s %s\n", q.Name, q.Title)
		}
		res.Rows = append(res.Rows, []any{q.Name, q.Title, q.Level})
	}
	if s.format == "text" {
		return nil
	}
	return a.print(s.format, res)
}

type query struct {
	s      *scopeFlags
	f      *ingestFlags
	text   string
	tool   string // whose definition of latency; "" is ours
	params map[string]string
}

func (a *app) query(ctx context.Context, args []string, q query) error {
	sc, err := q.s.scope()
	if err != nil {
		return err
	}
	if q.text == "" && q.tool == "" {
		known, err := queries.Get(args[0])
		if err != nil {
			return noQuery(args[0])
		}
		if err := checkParams(known, q.params); err != nil {
			return err
		}
	}
	q.f.window = window{from: sc.From, to: sc.To}
	run, err := a.mount(ctx, args[len(args)-1], q.f)
	if err != nil {
		return err
	}
	e, err := a.openEngine(ctx, q.f)
	if err != nil {
		return err
	}
	defer e.Close()
	if err := checkRange(ctx, e, run, sc); err != nil {
		return err
	}
	var res *analyze.Result
	out := a.writer(q.s.format)
	switch {
	case q.text != "":
		if res, err = e.SQLTo(ctx, out, run, sc, q.text); err != nil && strings.Contains(err.Error(), "Catalog Error: Table with name") {
			first, _, _ := strings.Cut(err.Error(), "\n") // what follows proposes tables of the engine
			err = hinted(errors.New(first), "the views are requests (an attempt a row), calls, judged, gaps and attempts (as stored), and those that reprise query --show NAME reads")
		}
	case q.tool != "":
		if res, err = (definition{q.tool, q.params}).query(ctx, e, run, sc); err == nil {
			return a.print(q.s.format, res)
		}
	default:
		res, err = e.QueryTo(ctx, out, run, args[0], sc, q.params)
	}
	if err != nil || out != nil {
		return err
	}
	return a.print(q.s.format, res)
}

func keyValues(pairs []string) (map[string]string, error) {
	m := map[string]string{}
	for _, p := range pairs {
		k, v, ok := strings.Cut(p, "=")
		if !ok {
			return nil, fmt.Errorf("expected NAME=VALUE, got %q", p)
		}
		m[k] = v
	}
	return m, nil
}
