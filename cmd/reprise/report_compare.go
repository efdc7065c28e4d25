package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/reports"
)

// migrationFlags are those of `report compare`.
type migrationFlags struct {
	reportOutput
	scopeFlags
	f                    ingestFlags
	base, cand           priceFlags
	baseSweep, candSweep string
	again, margin        string
	seed                 uint64
}

func (a *app) migrationCommand() *cobra.Command {
	var o migrationFlags
	cmd := &cobra.Command{
		Use:   "compare BASE CAND",
		Short: "shall we move? verdict and why, fairness, who gains and loses, capacity and cost, what could still be wrong",
		Example: `  reprise report compare base candidate --slo 'ttft<=1s,tpot<=60ms@99%' -o migration.html
  reprise report compare base candidate --aa base-again --base-sweep sweep-h100 --cand-sweep sweep-mi300x -o migration.html
  reprise report compare base candidate --gpus 8 --gpu-price 2.87 --cand-gpus 8 --cand-gpu-price 2.10 --format markdown > migration.md`,
		Args: exactly("BASE", "CAND"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.migration(cmd.Context(), args, &o) },
	}
	fs := cmd.Flags()
	fs.StringVar(&o.from, "from", "", "requests of the base that arrived from this time on: RFC 3339, date, 2026-W47, now-7d")
	fs.StringVar(&o.to, "to", "", "and before this time")
	fs.StringSliceVar(&o.by, "by", []string{"tenant"}, "compare by group too: model, tenant, route, replica, app ...; of the base's requests")
	fs.StringVar(&o.slo, "slo", "", "objective, such as 'ttft<=1s,tpot<=60ms@99%', the name of a preset, or a YAML file with objectives by tenant and model")
	fs.StringVar(&o.margin, "margin", "10%", "how much worse a figure may be before it counts")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of the bootstrap")
	fs.StringVar(&o.again, "aa", "", "another run of the base's target (A/A): what differs between the two is noise")
	fs.StringVar(&o.baseSweep, "base-sweep", "", "folder of a sweep of the base's target, for its capacity")
	fs.StringVar(&o.candSweep, "cand-sweep", "", "and of the candidate's")
	o.base.add(cmd, "", "the base")
	o.cand.add(cmd, "cand-", "the candidate (what is not given is as for the base)")
	o.reportOutput.add(cmd)
	o.f.add(cmd)
	engineFlag(cmd, &o.f)
	return cmd
}

// options reads what the flags mean.
func (o *migrationFlags) options() (m analyze.MigrationOptions, sweeps [2]*analyze.Sweep, err error) {
	o.scopeFlags.format = "text"
	if m.Scope, err = o.scope(); err != nil {
		return m, sweeps, err
	}
	if m.Margin, err = positiveShare("--margin", o.margin); err != nil {
		return m, sweeps, err
	}
	m.Seed = o.seed
	if m.Hardware[0], err = o.base.read(); err == nil {
		m.Hardware[1], err = o.cand.read()
	}
	if err != nil {
		return m, sweeps, usage(err)
	}
	if m.Hardware[1] == nil {
		m.Hardware[1] = m.Hardware[0]
	}
	for i, folder := range []string{o.baseSweep, o.candSweep} {
		if folder != "" {
			if sweeps[i], err = loadSweep(folder); err != nil {
				return m, sweeps, err
			}
		}
	}
	return m, sweeps, nil
}

// positiveShare reads a share above 0.
func positiveShare(flag, text string) (float64, error) {
	m, err := share(text)
	if err == nil && m == 0 {
		err = errors.New("expected more than 0: nothing is ever proven to be exactly as good")
	}
	if err != nil {
		return 0, usage(fmt.Errorf("%s: %w", flag, err))
	}
	return m, nil
}

func (a *app) migration(ctx context.Context, paths []string, o *migrationFlags) error {
	opt, sweeps, err := o.options()
	if err != nil {
		return err
	}
	o.f.window = window{from: opt.Scope.From, to: opt.Scope.To}
	s := sides{paths, o.again, o.share}
	return a.writeReportOf(ctx, s.roles(), &o.reportOutput, &o.f, func(m *mounted) (r reports.Report, err error) {
		if o.again != "" {
			opt.Again = m.runs[2]
		}
		c, err := analyze.Migrate(ctx, m.Engine, m.runs[0], m.runs[1], opt)
		if err != nil {
			return r, err
		}
		c.Runs[0].Sweep, c.Runs[1].Sweep = sweeps[0], sweeps[1]
		return reports.BuildMigration(reports.MigrationInput{SLO: opt.Scope.SLO, By: o.by, Case: c, Next: nextAfterMigration(c, o.slo)}), nil
	})
}

// nextAfterMigration proposes what the decision lacks most.
func nextAfterMigration(m *analyze.Migration, slo string) (next []string) {
	const target = " --target http://HOST:PORT/v1"
	if !m.Comparable {
		return []string{"reprise plan " + m.Base + " -o plan.parquet", "reprise replay plan.parquet" + target + " -o base-replayed", "reprise replay plan.parquet" + target + " -o candidate-replayed"}
	}
	if m.Noise == nil {
		next = append(next, "reprise replay "+m.Base+target+" --salt again -o base-again", fmt.Sprintf("reprise report compare %s %s --aa base-again -o migration.html", m.Base, m.Cand))
	}
	if m.Runs[0].Sweep == nil || m.Runs[1].Sweep == nil {
		if slo == "" {
			slo = defaultSLO
		}
		next = append(next, fmt.Sprintf("reprise sweep %s%s --slo '%s' -o sweep-candidate", m.Base, target, slo))
	}
	return next
}
