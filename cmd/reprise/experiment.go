package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/replay"
)

// experimentFlags are those of a replay and of a plan, and what is compared.
type experimentFlags struct {
	r           replayFlags
	p           planFlags
	f           ingestFlags
	base, cand  string
	trim        trimFlags
	slo, margin string
	json        bool
	opt         analyze.CompareOptions
}

func (a *app) experimentCommand() *cobra.Command {
	var x experimentFlags
	cmd := &cobra.Command{
		Use:   "experiment RUN --base URL --cand URL -o FOLDER",
		Short: "is the candidate better? the same traffic to both, twice, in the order ABBA",
		Long: `Replays the run four times: base, candidate, candidate, base. What drifts with time meets both alike, and the two runs of each
target show its own noise. Every replay has a salt of its own, so that none finds the prefix cache that an earlier one left;
beginning and end of each are cut off. The verdict is that of both halves; when they disagree it is inconclusive. The four
runs are kept below FOLDER.`,
		Example: `  reprise experiment run --base http://old:8000/v1 --cand http://new:8000/v1 --slo 'ttft<=1s,tpot<=60ms@99%' -o abba`,
		Args:    exactly("RUN"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.experiment(cmd.Context(), args[0], &x) },
	}
	x.r.add(cmd)
	x.p.add(cmd)
	x.f.add(cmd)
	fs := cmd.Flags()
	severalReplays(cmd, "base-1, cand-1, cand-2, base-2", "target", "dry-run", "metrics-url", "salt")
	fs.StringVar(&x.base, "base", "", "address of the base target")
	fs.StringVar(&x.cand, "cand", "", "address of the candidate")
	fs.StringVar(&x.slo, "slo", "", "objective, such as 'ttft<=1s,tpot<=60ms@99%', the name of a preset, or a YAML file")
	fs.StringVar(&x.margin, "margin", "10%", "how much worse a figure may be before it counts")
	x.trim.add(cmd)
	fs.BoolVar(&x.json, "json", false, "print the result as JSON")
	return cmd
}

func (x *experimentFlags) check() (err error) {
	switch {
	case x.base == "" || x.cand == "":
		err = errors.New("expected --base URL and --cand URL")
	case x.r.out == "":
		err = errors.New("expected -o FOLDER, the folder to write to")
	case x.r.target != "" || x.r.dryRun || x.r.salt != "" || len(x.r.metrics) > 0:
		err = errors.New("expected --base and --cand alone: an experiment sets target and salt, and sends")
	case x.slo != "":
		x.opt.Scope.SLO, err = parseSLO(x.slo)
	}
	if err == nil {
		err = x.trim.read()
	}
	if err == nil {
		if x.opt.Margin, err = share(x.margin); err != nil || x.opt.Margin == 0 {
			err = fmt.Errorf("--margin: %w", cmp.Or(err, errors.New("expected more than 0")))
		}
	}
	if err != nil {
		return usage(err)
	}
	return nil
}

func (a *app) experiment(ctx context.Context, path string, x *experimentFlags) error {
	if err := x.check(); err != nil {
		return err
	}
	plan, err := a.loadOrPlan(ctx, path, &x.p, &x.f)
	if err != nil {
		return err
	}
	var runs [4]analyze.SentRun
	for i, side := range []struct{ name, url string }{{"base-1", x.base}, {"cand-1", x.cand}, {"cand-2", x.cand}, {"base-2", x.base}} {
		a.talk("%s (%d of 4): %s", side.name, i+1, side.url)
		x.r.target = side.url
		if runs[i], err = a.experimentRun(ctx, plan, x, side.name); err != nil {
			return fmt.Errorf("%s: %w", side.name, err)
		}
	}
	e, err := a.openEngine(ctx, &x.f)
	if err != nil {
		return err
	}
	defer e.Close()
	res, err := analyze.CompareABBA(ctx, e, runs, x.opt)
	if err != nil {
		return err
	}
	if x.json {
		err = json.NewEncoder(a.out).Encode(res)
	} else {
		err = a.printExperiment(res)
	}
	if err == nil && res.GateFailed {
		return &coded{code: exitGate, err: errors.New("gate failed: " + res.Verdict)}
	}
	return err
}

// experimentRun replays once, with a salt of its own, and cuts off beginning and end.
func (a *app) experimentRun(ctx context.Context, plan *replay.Plan, x *experimentFlags, name string) (s analyze.SentRun, err error) {
	o, err := x.r.options()
	if err != nil {
		return s, err
	}
	o.Salt = "experiment " + name
	out := filepath.Join(x.r.out, name)
	report, err := a.replay(ctx, plan, o, outlet{run: out})
	if err == nil {
		err = replayError(report, nil)
	}
	if err != nil {
		return s, err
	}
	from, to := x.trim.window(report, plan)
	s.Run, err = analyze.Open(out)
	s.From, s.To = &from, &to
	return s, err
}

func (a *app) printExperiment(x *analyze.Experiment) error {
	fmt.Fprintf(a.out, "%s: base, candidate, candidate, base; first half %s, second half %s\n", x.Verdict, x.Halves[0].Verdict, x.Halves[1].Verdict)
	for i, h := range x.Halves {
		for j, why := range h.WhyNot {
			fmt.Fprintf(a.out, "half %d is not comparable: %s (would help: %s)\n", i+1, printable(why), h.WouldHelp[min(j, len(h.WouldHelp)-1)])
		}
	}
	fmt.Fprintf(a.out, "the same target twice: base %s, candidate %s\n", x.Halves[0].Noise.Verdict, x.Candidate.Verdict)
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "figure\tbase ms\tcandidate ms\tcandidate ms\tbase ms\tratio 1\tratio 2\tbase twice\tverdict\t\n")
	ratio := func(p *float64) string {
		if p == nil {
			return "n/a"
		}
		return fmt.Sprintf("%.3f", *p)
	}
	for _, f := range x.Figures {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%s\t%s\t%s\t%s\t\n", f.Figure, f.Base[0], f.Cand[0], f.Cand[1], f.Base[1], ratio(f.Ratio[0]), ratio(f.Ratio[1]), ratio(f.Noise), f.Verdict)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(a.out, selfCheckLine(a.loadSelfCheck()))
	return nil
}
