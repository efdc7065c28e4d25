package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"reprise/analyze"
)

// passwordVariable holds the password for a cluster: a flag would be seen by everyone on the machine.
const passwordVariable = "REPRISE_TRINO_PASSWORD"

// engineFlag says where the queries of a command run.
func engineFlag(cmd *cobra.Command, f *ingestFlags) {
	cmd.Flags().StringVar(&f.engine, "engine", "", "run the queries on a cluster: trino://USER@HOST:PORT/CATALOG/SCHEMA (trino+https:// for TLS, password in "+passwordVariable+
		"); RUN is then a table, see reprise sql --mount")
}

// openEngine is DuckDB, or the cluster that was asked for.
func (a *app) openEngine(ctx context.Context, f *ingestFlags) (*analyze.Engine, error) {
	if f.engine == "" {
		o, err := a.limits.options()
		if err != nil {
			return nil, err
		}
		return analyze.NewEngine(ctx, o)
	}
	if strings.HasPrefix(f.engine, "spark") {
		return nil, usage(hinted(errors.New("--engine: queries are not run on Spark"), "print them to paste: reprise sql QUERY --engine spark --table NAME"))
	}
	o := analyze.TrinoOptions{URL: f.engine, Password: os.Getenv(passwordVariable)}
	if a.terminal && !a.quiet {
		o.Progress = a.trinoProgress()
	}
	e, err := analyze.NewTrino(ctx, o)
	if err != nil {
		return nil, usage(fmt.Errorf("--engine: %w", err))
	}
	return e, nil
}

// trinoProgress draws what the cluster says of its work; a finished statement leaves nothing.
func (a *app) trinoProgress() func(analyze.TrinoProgress) {
	p := progressbar.NewOptions64(1, progressbar.OptionSetWriter(a.err), progressbar.OptionThrottle(100e6), progressbar.OptionClearOnFinish())
	return func(t analyze.TrinoProgress) {
		if t.State == "FINISHED" || t.State == "FAILED" {
			p.Clear()
			return
		}
		what := "trino"
		if t.Steps > 0 {
			what = fmt.Sprintf("trino, step %d of %d", t.Step, t.Steps)
		}
		p.Describe(fmt.Sprintf("%s: %s, %s rows, %.0f s of CPU", what, t.State, count(t.Rows), t.CPU.Seconds()))
		p.ChangeMax64(int64(max(t.Splits, 1)))
		p.Set64(int64(t.Done))
	}
}

// noShare refuses what a cluster cannot do: a copy with names hashed is made of a folder.
func (f *ingestFlags) noShare(share bool) error {
	if share && f.engine != "" {
		return usage(errors.New("--share makes a copy of a run in a folder: it does not go with --engine"))
	}
	return nil
}
