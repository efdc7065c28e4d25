package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/reports"
)

// reportCommand lists the reports that answer one standing question; adding one is adding a line.
func (a *app) reportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report KIND",
		Short: "a page for one question: the week's objectives, an incident, a migration, a load sweep",
		Example: `  reprise report incident run --from 2026-11-24T14:02Z --to 2026-11-24T14:20Z -o incident.html
  reprise report compare base candidate --slo 'ttft<=1s,tpot<=60ms@99%' -o migration.html
  reprise report sweep sweep-h100 sweep-mi300x -o capacity.html
  reprise report weekly run --week 2026-W47 --slo slo.yaml --by route -o weekly.html`,
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(a.weeklyCommand(), a.incidentCommand(), a.migrationCommand(), a.sweepReportCommand())
	return cmd
}

// weeklyFlags are those of `report weekly`.
type weeklyFlags struct {
	reportOutput
	priceFlags
	week, slo string
	by        []string
}

func (a *app) weeklyCommand() *cobra.Command {
	var o weeklyFlags
	var f ingestFlags
	cmd := &cobra.Command{
		Use:   "weekly RUN",
		Short: "did we keep our objectives, how much budget is left, what changed",
		Example: `  reprise report weekly run --week 2026-W47 --slo 'ttft<=1s,tpot<=60ms@99%' --by route
  reprise report weekly run --week 2026-W47 --slo slo.yaml -o weekly.html --format markdown > weekly.md
  reprise report weekly run --slo 'e2e<=60s@95%' --gpus 8 --gpu-price 2.87     # the last whole week of the log`,
		Args: exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.weekly(cmd.Context(), args[0], &o, &f)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.week, "week", "", "ISO week (Monday to Sunday, UTC), such as 2026-W47; the last one of the log without")
	fs.StringVar(&o.slo, "slo", "", "objective, such as 'ttft<=1s,tpot<=60ms@99%', the name of a preset, or a YAML file with objectives by tenant and model")
	fs.StringSliceVar(&o.by, "by", nil, "what makes a service: model, tenant, route, app ...")
	o.priceFlags.add(cmd, "", "the traffic")
	o.reportOutput.add(cmd)
	f.add(cmd)
	engineFlag(cmd, &f)
	return cmd
}

// options checks the flags; From is 0 without --week.
func (o *weeklyFlags) options() (w analyze.WeeklyOptions, err error) {
	w = analyze.WeeklyOptions{By: o.by, Seed: 1}
	if err := checkBy(o.by); err != nil {
		return w, err
	}
	if w.Hardware, err = o.priceFlags.read(); err != nil {
		return w, usage(err)
	}
	if w.From, err = weekStart(o.week); err != nil {
		return w, usage(err)
	}
	if o.slo == "" {
		o.slo = defaultSLO
	}
	if w.SLO, err = parseSLO(o.slo); err != nil {
		return w, usage(err)
	}
	return w, nil
}

// weekStart is the Monday of an ISO week that exists; 0 for "".
func weekStart(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	if monday, ok := parseWeek(s); ok {
		return monday.UnixMicro(), nil
	}
	return 0, fmt.Errorf("--week: expected an ISO week such as 2026-W47, got %q", s)
}

func (a *app) weekly(ctx context.Context, path string, o *weeklyFlags, f *ingestFlags) error {
	w, err := o.options()
	if err != nil {
		return err
	}
	return a.writeReport(ctx, path, &o.reportOutput, f, func(e *analyze.Engine, run *analyze.Run, name string) (reports.Report, error) {
		if w.From == 0 {
			if w.From, err = lastWeek(ctx, e, run); err != nil {
				return reports.Report{}, err
			}
		}
		week, err := e.Weekly(ctx, run, w)
		if err != nil {
			return reports.Report{}, err
		}
		return reports.BuildWeekly(reports.WeeklyInput{Run: name, By: o.by, SLO: w.SLO, Week: week, Next: nextAfterWeekly(name, o.slo, week)}), nil
	})
}

// lastWeek is the week of the last arrival, or the one before when the log ends before that week's Sunday and holds an
// earlier one.
func lastWeek(ctx context.Context, e *analyze.Engine, run *analyze.Run) (int64, error) {
	res, err := e.SQL(ctx, run, analyze.Scope{}, "SELECT min(arrival_us) AS first_us, max(arrival_us) AS last_us FROM requests")
	if err != nil {
		return 0, err
	}
	first, ok1 := res.Rows[0][0].(int64)
	last, ok2 := res.Rows[0][1].(int64)
	if !ok1 || !ok2 {
		return 0, errors.New("this log has no arrival times, so it has no weeks")
	}
	monday := func(us int64) time.Time { return isoWeek(time.UnixMicro(us).UTC().ISOWeek()) }
	week := monday(last)
	if week.AddDate(0, 0, 7).UnixMicro()-last > 86400e6 && monday(first).Before(week) {
		week = week.AddDate(0, 0, -7)
	}
	return week.UnixMicro(), nil
}

// nextAfterWeekly proposes to look into the worst incident.
func nextAfterWeekly(path, slo string, w *analyze.Weekly) []string {
	if len(w.Incidents) == 0 {
		return nil
	}
	in := slices.MaxFunc(w.Incidents, func(a, b analyze.Incident) int { return int(a.Bad - b.Bad) })
	return []string{fmt.Sprintf("reprise report incident %s --slo '%s' --from %s --to %s -o incident.html", path, slo, rfc3339(in.From), rfc3339(in.To))}
}
