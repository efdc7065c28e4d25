package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	var watch followFlags
	to := analyzeOutput{reportOutput: reportOutput{rows: 12}}
	cmd := &cobra.Command{
		Use:   "analyze RUN",
		Short: "the whole picture of a run: what happened, how slow, why",
		Example: `  reprise analyze run
  reprise analyze gateway.jsonl.gz --slo 'ttft<=1s,tpot<=60ms@99%'      # a log works too
  kubectl logs deploy/gateway | reprise analyze -                       # standard input works too
  reprise analyze run --by tenant --from 2026-11-24T14:00Z --to 2026-11-24T15:00Z
  reprise analyze run --html report.html --share                        # names hashed, to send around
  reprise analyze --follow /var/log/gateway.jsonl --from now-15m        # during the incident`,
		Args: exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.analyze(cmd.Context(), args[0], analysis{&to, &s, &f, &watch})
		},
	}
	s.add(cmd)
	cmd.Flags().Lookup("format").Usage = "how the report leaves: text, json, markdown"
	f.add(cmd)
	engineFlag(cmd, &f)
	cmd.Flags().StringVar(&to.html, "html", "", "also write the report as one HTML file that needs no network")
	definitionFlag(cmd, &to.tool)
	shareFlag(cmd, &to.share)
	watch.add(cmd)
	return cmd
}

// analysis is what was asked of `analyze`.
type analysis struct {
	to *analyzeOutput
	*scopeFlags
	f     *ingestFlags
	watch *followFlags
}

// analyzeOutput is where the report goes, and whose definition of latency is shown beside ours; "" for none.
type analyzeOutput struct {
	reportOutput
	tool string
}

func (a *app) analyze(ctx context.Context, path string, x analysis) error {
	sc, err := x.judged()
	if err != nil {
		return err
	}
	x.f.window = window{from: sc.From, to: sc.To}
	if err := checkDefinition(x.to.tool); err != nil {
		return err
	}
	if x.format == "csv" || x.format == "arrow" {
		return usage(fmt.Errorf("--format %s: a whole report has many tables, take one: reprise query NAME %s --format %s", x.format, path, x.format))
	}
	x.to.format = x.format
	if err := x.watch.check(path, x.to, x.f); err != nil {
		return err
	}
	if x.watch.on {
		return a.follow(ctx, path, x.watch, x.f, x.to, x.report)
	}
	return a.writeReport(ctx, path, &x.to.reportOutput, x.f, func(e *analyze.Engine, run *analyze.Run, name string) (reports.Report, error) {
		sc, err := x.judged()
		if err == nil {
			err = checkRange(ctx, e, run, sc)
		}
		if err != nil {
			return reports.Report{}, err
		}
		return x.report(ctx, e, run)
	})
}

// judged is the scope with the objective that was given, or the default.
func (x analysis) judged() (sc analyze.Scope, err error) {
	if sc, err = x.scope(); err == nil && x.slo == "" {
		sc.SLO, err = analyze.ParseSLO(defaultSLO)
	}
	return sc, err
}

// report is the picture of a run. The scope is read anew: now-15m moves on.
func (x analysis) report(ctx context.Context, e *analyze.Engine, run *analyze.Run) (r reports.Report, err error) {
	sc, err := x.judged()
	if err != nil {
		return r, err
	}
	p, err := e.Picture(ctx, run, sc)
	if err == nil && x.to.tool != "" {
		p.Results[latencyAs], err = definition{tool: x.to.tool}.query(ctx, e, run, sc)
	}
	if err != nil {
		return r, err
	}
	return reports.Build(reports.AnalyzeInput{Run: run.Path, Scope: scopeText(x.scopeFlags), SLO: sc.SLO, Results: p.Results, Missing: p.Missing,
		Incidents: p.Incidents, Replays: p.Replays, Next: x.nextAfterAnalyze(run.Path, p)}), nil
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

// nextAfterAnalyze proposes the command that helps most: an objective that the log can be judged by, the report on the worst incident, or
// the same traffic elsewhere.
func (x analysis) nextAfterAnalyze(path string, p *analyze.Picture) (next []string) {
	if x.slo == "" && measured(p.Results["latency"], "e2e") && !measured(p.Results["latency"], "ttft") {
		next = append(next, "reprise analyze "+path+" --slo 'e2e<=10s@99%'")
	}
	where := path
	if len(p.Incidents) > 0 {
		in := slices.MaxFunc(p.Incidents, func(a, b analyze.Incident) int { return cmp.Compare(a.Bad, b.Bad) })
		where += fmt.Sprintf(" --from %s --to %s", rfc3339(in.From), rfc3339(in.To))
		slo := ""
		if x.slo != "" {
			slo = " --slo '" + x.slo + "'"
		}
		next = append(next, "reprise report incident "+where+slo+" -o incident.html")
	}
	return append(next, "reprise replay "+where+" --target http://HOST:PORT/v1 -o candidate")
}

// measured says that some call has the metric.
func measured(latency *analyze.Result, metric string) bool {
	return latency != nil && slices.ContainsFunc(latency.Rows, func(row []any) bool {
		n, _ := row[2].(int64)
		return row[0] == metric && n > 0
	})
}

// writeFile writes a file so that it appears whole or not at all.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".reprise-*")
	if errors.Is(err, fs.ErrNotExist) {
		return hinted(fmt.Errorf("writing %s: there is no folder %s", name, filepath.Dir(name)), "make it first: mkdir -p %s", filepath.Dir(name))
	}
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
