package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/reports"
)

func (a *app) incidentCommand() *cobra.Command {
	var o reportOutput
	var f ingestFlags
	var from, to, slo string
	cmd := &cobra.Command{
		Use:   "incident RUN",
		Short: "what happened, who was hit, what explains it, what was ruled out",
		Example: `  reprise report incident gateway.jsonl.gz --slo 'ttft<=1s,tpot<=60ms@99%'          # the worst one, found by itself
  reprise report incident run --from 2026-11-24T14:02Z --to 2026-11-24T14:20Z -o incident.html
  reprise report incident run --format markdown > incident.md                       # for the ticket`,
		Args: exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s := scopeFlags{from: from, to: to, slo: slo, format: "text"}
			sc, err := s.scope()
			if err == nil && (sc.From == nil) != (sc.To == nil) {
				err = usage(errors.New("expected --from and --to, or neither"))
			}
			if err == nil && slo == "" {
				sc.SLO, err = analyze.ParseSLO(defaultSLO)
			}
			if err != nil {
				return err
			}
			var window [2]int64
			if sc.From != nil {
				window = [2]int64{*sc.From, *sc.To}
				sc.From, sc.To = nil, nil // the rest of the run is what the window is held against
			}
			return a.writeReport(cmd.Context(), args[0], &o, &f, func(e *analyze.Engine, run *analyze.Run, name string) (reports.Report, error) {
				v, err := e.Investigate(cmd.Context(), run, sc, window[0], window[1])
				if err != nil {
					return reports.Report{}, err
				}
				return reports.BuildIncident(reports.IncidentInput{Run: name, SLO: sc.SLO, Case: v, Next: nextAfterIncident(name, v)}), nil
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&from, "from", "", "begin of the window: RFC 3339, date, now-7d (default: the worst incident)")
	fs.StringVar(&to, "to", "", "and its end")
	fs.StringVar(&slo, "slo", "", "objective, such as 'ttft<=1s,tpot<=60ms@99%', the name of a preset, or a YAML file with objectives by tenant and model")
	o.add(cmd)
	f.add(cmd)
	engineFlag(cmd, &f)
	return cmd
}

func nextAfterIncident(path string, v *analyze.Investigation) []string {
	window := fmt.Sprintf("--from %s --to %s", rfc3339(v.From), rfc3339(v.To))
	next := []string{"reprise replay " + path + " " + window + " --target http://HOST:PORT/v1 -o candidate"}
	for _, other := range v.Others {
		next = append(next, fmt.Sprintf("reprise report incident %s --from %s --to %s", path, rfc3339(other.From), rfc3339(other.To)))
	}
	return next
}
