package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/replay"
	"reprise/reports"
)

// sweepFlags are those of a replay and of a plan, and the ladder.
type sweepFlags struct {
	r      replayFlags
	p      planFlags
	f      ingestFlags
	speeds []float64
	trim   trimFlags
	slo    string
	order  uint64
	json   bool
}

func (a *app) sweepCommand() *cobra.Command {
	var s sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep RUN --target URL --speeds 0.5,1,1.5,2 --slo SLO -o FOLDER",
		Short: "how much load does the target carry? the same traffic at several speeds",
		Long: `Replays the run once at each speed, in an order drawn by seed, and says how many requests met the objective at each, at which
load 90 % and 99 % would, where the wait begins to rise steeply (knee), and where most good tokens are made. The beginning
and the end of each replay are cut off. A load above one that was saturated is not sent. A replay that is INVALID has no
figures. Every replay is kept as a run of its own below FOLDER.`,
		Example: `  reprise sweep run --target http://127.0.0.1:8000/v1 --speeds 0.5,1,1.5,2 --slo 'ttft<=1s,tpot<=60ms@99%' -o sweep
  reprise sweep run --target http://127.0.0.1:8000/v1 --speeds 1,2,4 --slo guidellm-chat --json -o sweep | jq .capacity`,
		Args: exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.sweep(cmd.Context(), args[0], &s) },
	}
	s.r.add(cmd)
	s.p.add(cmd)
	s.f.add(cmd)
	fs := cmd.Flags()
	severalReplays(cmd, "one run a speed, and sweep.json", "speed", "dry-run")
	fs.Float64SliceVar(&s.speeds, "speeds", []float64{.5, 1, 1.5, 2}, "loads, as multiples of the recorded one")
	fs.StringVar(&s.slo, "slo", "", "objective, such as 'ttft<=1s,tpot<=60ms@99%', the name of a preset, or a YAML file")
	s.trim.add(cmd)
	fs.Uint64Var(&s.order, "order-seed", 1, "draws the order of the speeds")
	fs.BoolVar(&s.json, "json", false, "print the result as JSON")
	return cmd
}

// check reads what the flags mean.
func (s *sweepFlags) check() (sw *analyze.Sweep, slo analyze.SLO, err error) {
	sw = &analyze.Sweep{Seed: s.order}
	switch {
	case s.r.target == "":
		err = errors.New("expected --target URL")
	case s.r.out == "":
		err = errors.New("expected -o FOLDER, the folder to write to")
	case s.slo == "":
		err = errors.New("expected --slo: how much load a target carries depends on what it has to meet")
	case s.p.speed != 1 || s.r.dryRun:
		err = errors.New("expected --speeds alone: a sweep sets the speed, and sends")
	case len(s.speeds) == 0 || slices.Min(s.speeds) <= 0:
		err = fmt.Errorf("--speeds: expected numbers above 0, got %v", s.speeds)
	}
	if err == nil {
		slo, err = parseSLO(s.slo)
	}
	if err == nil {
		err = s.trim.read()
	}
	if err != nil {
		err = usage(err)
	}
	sw.Objective, sw.WarmUp, sw.Drain = slo.Text, s.trim.warmUp, s.trim.drain
	return sw, slo, err
}

func (a *app) sweep(ctx context.Context, path string, s *sweepFlags) error {
	sw, slo, err := s.check()
	if err != nil {
		return err
	}
	sw.Base = path
	if _, err := os.Stat(s.resultFile()); err == nil {
		return hinted(fmt.Errorf("%s: there is a sweep already", s.r.out), "choose another folder")
	}
	e, err := a.openEngine(ctx, &s.f)
	if err != nil {
		return err
	}
	defer e.Close()
	failed := a.climb(ctx, e, ladder{s, sw, slo, path})
	if len(sw.Rungs) == 0 {
		return failed
	}
	if err := writeFile(s.resultFile(), func(w io.Writer) error { return json.NewEncoder(w).Encode(sw) }); err != nil {
		return errors.Join(failed, err)
	}
	if s.json {
		return errors.Join(failed, json.NewEncoder(a.out).Encode(sw))
	}
	return errors.Join(failed, a.printSweep(sw, s.r.out))
}

func (s *sweepFlags) resultFile() string { return filepath.Join(s.r.out, "sweep.json") }

// ladder is a sweep under way.
type ladder struct {
	*sweepFlags
	sw   *analyze.Sweep
	slo  analyze.SLO
	path string
}

// climb sends every load that needs to be sent.
func (a *app) climb(ctx context.Context, e *analyze.Engine, l ladder) error {
	speeds := slices.Compact(slices.Sorted(slices.Values(l.speeds)))
	rand.New(rand.NewPCG(l.order, 0)).Shuffle(len(speeds), func(i, j int) { speeds[i], speeds[j] = speeds[j], speeds[i] })
	for n, speed := range speeds {
		if above := l.sw.SkipAbove(); above > 0 && speed > above {
			a.talk("speed %g: not sent, %g was saturated", speed, above)
			l.sw.Add(analyze.SweepRung{Speed: speed, State: analyze.RungSkipped, Why: []string{fmt.Sprintf("%g was saturated", above)}})
			continue
		}
		r, err := a.rung(ctx, e, l, speed)
		if err != nil {
			return fmt.Errorf("speed %g: %w", speed, err)
		}
		l.sw.Add(r)
		a.talk("speed %g (%d of %d): %s%s", speed, n+1, len(speeds), r.State, map[bool]string{true: ", saturated", false: ""}[r.Saturated])
	}
	return nil
}

// rung replays at one speed and measures the middle of it. Prompts are salted by speed, so that no load finds the cache that
// an earlier one left.
func (a *app) rung(ctx context.Context, e *analyze.Engine, l ladder, speed float64) (r analyze.SweepRung, err error) {
	p, out := l.p, filepath.Join(l.r.out, fmt.Sprintf("speed-%g", speed))
	p.speed = speed
	plan, err := a.plan(ctx, l.path, &p, &l.f)
	if err != nil {
		return r, err
	}
	o, err := l.r.options()
	if err != nil {
		return r, err
	}
	if o.Salt == "" {
		o.Salt = fmt.Sprintf("sweep %d at %g", l.order, speed)
	}
	report, err := a.replay(ctx, plan, o, outlet{out, l.r.metrics})
	if err != nil {
		return r, err
	}
	if report.Incomplete == replay.StoppedInterrupt {
		return r, replayError(report, nil)
	}
	run, err := analyze.Open(out)
	if err != nil {
		return r, err
	}
	from, to := l.trim.window(report, plan)
	return e.Rung(ctx, run, analyze.SweepRung{Speed: speed, From: from, To: to}, l.slo)
}

// printSweep writes the report of the sweep.
func (a *app) printSweep(s *analyze.Sweep, folder string) error {
	return a.emit(reports.BuildSweep(reports.SweepInput{Base: s, Names: [2]string{folder}, Notes: []string{selfCheckLine(a.loadSelfCheck())},
		Next: []string{"reprise report sweep " + folder + " -o capacity.html"}}), &reportOutput{})
}
