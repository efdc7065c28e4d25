package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/reports"
)

// defaultSLO judges a run when nobody said what is good: it is named in the output, so that it can be doubted.
const defaultSLO = "ttft<=1s,tpot<=60ms@99%"

func (a *app) analyzeCommand() *cobra.Command {
	var s scopeFlags
	var f ingestFlags
	to := analyzeOutput{reportOutput: reportOutput{rows: 12}}
	cmd := &cobra.Command{
		Use:   "analyze RUN",
		Short: "the whole picture of a run: what happened, how slow, why",
		Example: `  reprise analyze run
  reprise analyze gateway.jsonl.gz --slo 'ttft<=1s,tpot<=60ms@99%'      # a log works too
  reprise analyze run --by tenant --from 2026-11-24T14:00Z --to 2026-11-24T15:00Z
  reprise analyze run --html report.html --share                        # names hashed, to send around`,
		Args: exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.analyze(cmd.Context(), args[0], to, &s, &f)
		},
	}
	s.add(cmd)
	f.add(cmd)
	cmd.Flags().StringVar(&to.html, "html", "", "also write the report as one HTML file that needs no network")
	definitionFlag(cmd, &to.tool)
	shareFlag(cmd, &to.share)
	return cmd
}

// analyzeOutput is where the report goes, and whose definition of latency is shown beside ours; "" for none.
type analyzeOutput struct {
	reportOutput
	tool string
}

func (a *app) analyze(ctx context.Context, path string, to analyzeOutput, s *scopeFlags, f *ingestFlags) error {
	sc, err := s.scope()
	if err != nil {
		return err
	}
	if err := checkDefinition(to.tool); err != nil {
		return err
	}
	if s.format == "csv" || s.format == "arrow" {
		return usage(fmt.Errorf("--format %s: a whole report has many tables, take one: reprise query NAME %s --format %s", s.format, path, s.format))
	}
	if s.slo == "" {
		if sc.SLO, err = analyze.ParseSLO(defaultSLO); err != nil {
			return err
		}
	}
	to.format = s.format
	return a.writeReport(ctx, path, &to.reportOutput, f, func(e *analyze.Engine, run *analyze.Run, name string) (r reports.Report, err error) {
		p, err := e.Picture(ctx, run, sc)
		if err == nil && to.tool != "" {
			p.Results[latencyAs], err = definition{tool: to.tool}.query(ctx, e, run, sc)
		}
		if err != nil {
			return r, err
		}
		return reports.Build(reports.AnalyzeInput{Run: name, Scope: scopeText(s), SLO: sc.SLO, Results: p.Results, Missing: p.Missing,
			Incidents: p.Incidents, Replays: p.Replays, Next: nextAfterAnalyze(name, p)}), nil
	})
}

func scopeText(s *scopeFlags) string {
	var parts []string
	if s.from != "" {
		parts = append(parts, "from "+s.from)
	}
	if s.to != "" {
		parts = append(parts, "to "+s.to)
	}
	if len(s.by) > 0 {
		parts = append(parts, "by "+strings.Join(s.by, ", "))
	}
	return strings.Join(parts, " ")
}

// nextAfterAnalyze proposes the command that helps most: look into the incident, or try the same traffic elsewhere.
func nextAfterAnalyze(path string, p *analyze.Picture) []string {
	if len(p.Incidents) == 0 {
		return []string{"reprise replay " + path + " --target http://HOST:PORT/v1 -o candidate"}
	}
	in := p.Incidents[0]
	for _, other := range p.Incidents {
		if other.Bad > in.Bad {
			in = other
		}
	}
	window := fmt.Sprintf("--from %s --to %s", rfc3339(in.From), rfc3339(in.To))
	return []string{"reprise query stall_culprits " + path + " " + window,
		"reprise replay " + path + " " + window + " --target http://HOST:PORT/v1 -o candidate"}
}

// writeFile writes a file so that it appears whole or not at all.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".reprise-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	defer os.Remove(f.Name())
	if err := write(f); err != nil {
		f.Close()
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := os.Chmod(f.Name(), 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return os.Rename(f.Name(), name)
}
