package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/reports"
)

func (a *app) compareCommand() *cobra.Command {
	var s scopeFlags
	var f ingestFlags
	var margin, html string
	var seed uint64
	var shared bool
	cmd := &cobra.Command{
		Use:   "compare BASE CAND",
		Short: "is the candidate better? two runs, paired by request",
		Example: `  reprise compare base candidate --slo 'ttft<=1s,tpot<=60ms@99%'
  reprise compare base candidate --margin 5% --html verdict.html
  reprise compare base candidate --json | jq .verdict`,
		Args: exactly("BASE", "CAND"),
		RunE: func(cmd *cobra.Command, args []string) error {
			sc, err := s.scope()
			if err != nil {
				return err
			}
			if s.format == "csv" || s.format == "arrow" {
				return usage(fmt.Errorf("--format: expected text or json, got %q", s.format))
			}
			m, err := share(margin)
			if err == nil && m == 0 {
				err = errors.New("expected more than 0: nothing is ever proven to be exactly as good")
			}
			if err != nil {
				return usage(fmt.Errorf("--margin: %w", err))
			}
			c, err := a.compare(cmd.Context(), sides{args, shared}, &f, analyze.CompareOptions{Scope: sc, Margin: m, Seed: seed})
			if err != nil {
				return err
			}
			if err := a.printComparison(c, s.format, html); err != nil {
				return err
			}
			if c.GateFailed {
				return &coded{code: exitGate, err: errors.New("gate failed: " + c.Verdict)}
			}
			return nil
		},
	}
	s.add(cmd)
	f.add(cmd)
	cmd.Flags().StringVar(&margin, "margin", "10%", "how much worse a figure may be before it counts")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the bootstrap")
	cmd.Flags().StringVar(&html, "html", "", "also write the report as one HTML file that needs no network")
	shareFlag(cmd, &shared)
	return cmd
}

// sides are the two runs, base and candidate.
type sides struct {
	paths []string
	share bool // names are hashed
}

func (a *app) compare(ctx context.Context, s sides, f *ingestFlags, o analyze.CompareOptions) (*analyze.Comparison, error) {
	shared, err := newSharing(s.share, f)
	if err != nil {
		return nil, err
	}
	defer shared.close()
	var runs [2]*analyze.Run
	for i, path := range s.paths {
		run, err := a.mount(ctx, path, f)
		if err != nil {
			return nil, err
		}
		if runs[i], err = shared.copy(ctx, run, []string{"base", "candidate"}[i]); err != nil {
			return nil, err
		}
	}
	e, err := analyze.NewEngine(ctx, analyze.EngineOptions{})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return analyze.Compare(ctx, e, runs[0], runs[1], o)
}

func (a *app) printComparison(c *analyze.Comparison, format, html string) error {
	report := reports.BuildComparison(c)
	if html != "" {
		if err := writeFile(html, func(w io.Writer) error { return reports.WriteHTML(w, report) }); err != nil {
			return err
		}
		a.talk("wrote %s", html)
	}
	if format == "json" {
		return json.NewEncoder(a.out).Encode(c)
	}
	return reports.WriteText(a.out, report, reports.TextOptions{Colour: a.colour, Width: a.width, Rows: 20})
}
