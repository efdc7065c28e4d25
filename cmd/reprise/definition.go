package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/queries"
)

// latencyAs is the query that computes latency by the rules of other tools.
const latencyAs = "latency_as"

// definitions are the names that --definition takes: the choices of the query's parameter.
func definitions() []string {
	q, _ := queries.Get(latencyAs)
	return strings.Split(q.Params[0].Default, "|")
}

func definitionFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "definition", "", "latency by the rules of a load tool: "+strings.Join(definitions(), ", "))
}

func checkDefinition(name string) error {
	if known := definitions(); name != "" && !slices.Contains(known, name) {
		return usage(fmt.Errorf("--definition: expected %s, got %q", strings.Join(known, ", "), name))
	}
	return nil
}

// definition asks for latency by the rules of the tool.
type definition struct {
	tool   string
	params map[string]string
}

func (d definition) query(ctx context.Context, e *analyze.Engine, run *analyze.Run, sc analyze.Scope) (*analyze.Result, error) {
	params := map[string]string{"definition": d.tool}
	maps.Copy(params, d.params)
	res, err := e.Query(ctx, run, latencyAs, sc, params)
	if err == nil {
		res.Title = "Latency as " + d.tool + " defines it"
	}
	return res, err
}
