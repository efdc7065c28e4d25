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
	var margin string
	var out verdictFiles
	var seed uint64
	var shared bool
	var again string
	cmd := &cobra.Command{
		Use:   "compare BASE CAND",
		Short: "is the candidate better? two runs, paired by request",
		Example: `  reprise compare base candidate --slo 'ttft<=1s,tpot<=60ms@99%'
  reprise compare base candidate --margin 5% --html verdict.html
  reprise compare base candidate --aa base-again                   # the same target twice: its noise floor beside every difference
  reprise compare base candidate --slo guidellm-chat --junit verdict.xml
  reprise compare base candidate --json | jq .verdict`,
		Args: exactly("BASE", "CAND"),
		RunE: func(cmd *cobra.Command, args []string) error {
			sc, err := s.scope()
			if err != nil {
				return err
			}
			f.window = window{from: sc.From, to: sc.To}
			if s.format == "csv" || s.format == "arrow" {
				return usage(fmt.Errorf("--format: expected text, json or markdown, got %q", s.format))
			}
			m, err := positiveShare("--margin", margin)
			if err != nil {
				return err
			}
			c, facts, err := a.compare(cmd.Context(), sides{args, again, shared}, &f, analyze.CompareOptions{Scope: sc, Margin: m, Seed: seed})
			if err != nil {
				return err
			}
			report := reports.BuildComparison(c)
			report.Facts = facts
			if err := a.printComparison(c, report, s.format, out); err != nil {
				return err
			}
			if c.GateFailed {
				return &coded{code: exitGate, err: errors.New("gate failed: " + c.Verdict)}
			}
			return nil
		},
	}
	s.add(cmd)
	cmd.Flags().Lookup("format").Usage = "how the comparison leaves: text, json, markdown"
	f.add(cmd)
	engineFlag(cmd, &f)
	cmd.Flags().StringVar(&margin, "margin", "10%", "how much worse a figure may be before it counts")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the bootstrap")
	cmd.Flags().StringVar(&again, "aa", "", "another run of the base's target (A/A): what differs between the two is noise, and a figure that differs by no more is inconclusive")
	cmd.Flags().StringVar(&out.html, "html", "", "also write the report as one HTML file that needs no network")
	cmd.Flags().StringVar(&out.junit, "junit", "", "also write JUnit XML for a CI system: one test case for each figure that decides")
	shareFlag(cmd, &shared)
	return cmd
}

// verdictFiles are written beside what is printed.
type verdictFiles struct{ html, junit string }

// sides are the two runs, base and candidate.
type sides struct {
	paths []string
	again string // another run of the base's target; "" for none
	share bool   // names are hashed
}

func (a *app) compare(ctx context.Context, s sides, f *ingestFlags, o analyze.CompareOptions) (c *analyze.Comparison, facts []reports.Fact, err error) {
	m, err := a.mountAll(ctx, s.roles(), s.share, f)
	if err != nil {
		return nil, nil, err
	}
	defer m.close()
	if s.again != "" {
		c, err = analyze.CompareWithNoise(ctx, m.Engine, [3]*analyze.Run{m.runs[0], m.runs[2], m.runs[1]}, o)
	} else {
		c, err = analyze.Compare(ctx, m.Engine, m.runs[0], m.runs[1], o)
	}
	if err == nil {
		facts, err = m.facts(ctx)
	}
	return c, facts, err
}

// roles are base, candidate and, when given, the other run of the base's target.
func (s sides) roles() []role {
	out := []role{{"base", s.paths[0]}, {"candidate", s.paths[1]}}
	if s.again != "" {
		out = append(out, role{"base-again", s.again})
	}
	return out
}

func (a *app) printComparison(c *analyze.Comparison, report reports.Report, format string, files verdictFiles) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{{files.html, func(w io.Writer) error { return reports.WriteHTML(w, report) }}, {files.junit, func(w io.Writer) error { return reports.WriteJUnit(w, c) }}} {
		if f.name == "" {
			continue
		}
		if err := writeFile(f.name, f.write); err != nil {
			return err
		}
		a.talk("wrote %s", f.name)
	}
	switch format {
	case "json":
		return json.NewEncoder(a.out).Encode(c)
	case "markdown":
		return reports.WriteMarkdown(a.out, report)
	}
	return reports.WriteText(a.out, report, reports.TextOptions{Colour: a.colour, Width: a.width, Rows: 20})
}
