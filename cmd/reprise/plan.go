package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"reprise/ingest/trace"
	"reprise/replay"
)

// planFlags choose what of a run is sent, and when; `plan` and `replay` share them.
type planFlags struct {
	from, to, sample, lengths, arrivals, endpoint string
	speed, rate                                   float64
	maxGap, ramp                                  time.Duration
	seed                                          uint64
	where                                         []string
	probeTokens                                   int64
	probeEvery                                    time.Duration
}

func (p *planFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&p.from, "from", "", "requests that arrived from this time on")
	fs.StringVar(&p.to, "to", "", "and before this time")
	fs.Float64Var(&p.speed, "speed", 1, "2 is twice as fast")
	fs.DurationVar(&p.maxGap, "max-gap", 0, "longest pause between two sends (0: as recorded)")
	fs.StringVar(&p.sample, "sample", "100%", "share of whole sessions")
	fs.Uint64Var(&p.seed, "seed", 1, "chooses the sample, and draws arrivals")
	fs.StringArrayVar(&p.where, "where", nil, "only requests of this KEY=NAME; KEY is model, tenant, app, route or endpoint; may be repeated")
	fs.StringVar(&p.endpoint, "endpoint", "", "chat sends responses and messages as chat completions, too (default: as recorded)")
	fs.Float64Var(&p.rate, "rate", 0, "draw arrivals, so many a second, for a run that has none, such as published lengths")
	fs.StringVar(&p.arrivals, "arrivals", "", "how --rate draws: poisson (default), constant, or gamma:CV with the variation of the gaps, such as gamma:2")
	fs.DurationVar(&p.ramp, "ramp", 0, "let --rate grow from 0 in this time")
	fs.Int64Var(&p.probeTokens, "probe-tokens", 0, "send probes with prompts of so many tokens, and short ones as controls, at random moments beside the requests: query probe_effect then says what a long prompt does to others (0: none)")
	fs.DurationVar(&p.probeEvery, "probe-every", 10*time.Second, "one probe in each such time; at least twice as long as a long prompt takes to read")
	fs.StringVar(&p.lengths, "lengths", replay.LengthsRecorded, "answers: recorded (forced to the recorded length) or natural")
}

func (p *planFlags) options() (o replay.PlanOptions, err error) {
	o = replay.PlanOptions{Speed: p.speed, Rate: p.rate, MaxGap: p.maxGap, Seed: p.seed, Lengths: p.lengths, Arrivals: p.arrivals, Ramp: p.ramp,
		Endpoint: p.endpoint}
	for _, pair := range p.where {
		key, name, ok := strings.Cut(pair, "=")
		if !ok || !slices.Contains(replay.WhereKeys, key) {
			return o, usage(fmt.Errorf("--where: expected KEY=NAME with a key of %s, got %q", strings.Join(replay.WhereKeys, ", "), pair))
		}
		if o.Where == nil {
			o.Where = map[string][]string{}
		}
		o.Where[key] = append(o.Where[key], name)
	}
	if p.speed <= 0 {
		return o, usage(fmt.Errorf("--speed: expected a number above 0, got %g", p.speed))
	}
	if o.From, err = parseTime(p.from); err == nil {
		o.To, err = parseTime(p.to)
	}
	if err == nil {
		if o.Sample, err = share(p.sample); err != nil {
			err = fmt.Errorf("--sample: %w", err)
		}
	}
	if err != nil {
		return o, usage(err)
	}
	return o, nil
}

func (a *app) planCommand() *cobra.Command {
	var p planFlags
	var f ingestFlags
	var out string
	cmd := &cobra.Command{
		Use:   "plan RUN -o PLAN",
		Short: "what would be sent: a plan of requests with due times, no traffic yet",
		Example: `  reprise plan run -o plan.parquet --from 2026-11-24T09:00Z --to 2026-11-24T10:00Z
  reprise plan run -o plan.parquet --sample 10% --seed 7      # a tenth of the sessions, whole
  reprise plan run -o plan.parquet --speed 2                  # twice as fast
  reprise plan run -o plan.parquet --where model=llama-70b --where tenant=acme
  reprise plan lengths.csv -o plan.parquet --rate 20 --arrivals gamma:2 --ramp 60s
  reprise plan ServeGen/data/language/m-large -o plan.parquet --from 1970-01-02T09:00Z --to 1970-01-02T10:00Z   # drawn from descriptions of clients`,
		Args: exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usage(errors.New("expected -o PLAN, the file to write"))
			}
			plan, err := a.plan(cmd.Context(), args[0], &p, &f)
			if err != nil {
				return err
			}
			if err := plan.Save(out); err != nil {
				return err
			}
			a.printPlan(plan)
			a.talk("next: reprise replay %s --target http://HOST:PORT/v1 -o candidate", out)
			return nil
		},
	}
	p.add(cmd)
	f.add(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "file of the plan")
	return cmd
}

// plan makes the plan of a run or log.
func (a *app) plan(ctx context.Context, path string, p *planFlags, f *ingestFlags) (*replay.Plan, error) {
	o, err := p.options()
	if err != nil {
		return nil, err
	}
	if isPlan(path) {
		return nil, hinted(fmt.Errorf("%s: expected a run or a log, got a plan", path), "give the run that the plan was made of, and the --from, --to, --sample and --where that made it")
	}
	plan, err := a.planOf(ctx, path, o, f)
	if err == nil && p.probeTokens > 0 {
		err = plan.AddProbes(replay.Probes{Tokens: p.probeTokens, Every: p.probeEvery, Seed: p.seed})
	}
	return plan, err
}

func (a *app) planOf(ctx context.Context, path string, o replay.PlanOptions, f *ingestFlags) (*replay.Plan, error) {
	if replay.IsServeGen(path) {
		return replay.PlanServeGen(path, o)
	}
	f.window = window{o.From, o.To, true}
	run, err := a.mount(ctx, path, f)
	if err != nil {
		return nil, err
	}
	if o.Body, err = bodies(filepath.Dir(filepath.Dir(run.Parts[0]))); err != nil {
		return nil, err
	}
	return replay.BuildPlan(trace.Read(run.Parts...), o)
}

// bodies gives access to the bodies that a run keeps; nil when it keeps none.
func bodies(run string) (func(string, int32) []byte, error) {
	files, err := filepath.Glob(filepath.Join(run, "bodies", "*.parquet"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	type key struct {
		id      string
		attempt int32
	}
	all := map[key][]byte{}
	for _, name := range files {
		rows, err := trace.ReadTable[trace.Body](name)
		if err != nil {
			return nil, err
		}
		for _, b := range rows {
			all[key{b.RequestID, b.Attempt}] = b.Body
		}
	}
	return func(id string, attempt int32) []byte { return all[key{id, attempt}] }, nil
}

func (a *app) printPlan(p *replay.Plan) {
	s := p.Summary
	line := fmt.Sprintf("%s in %s, %s, peak %d req/s", counted(s.Requests, "request"), counted(s.Sessions, "whole session"),
		time.Duration(s.DurationUS*1000).Round(time.Second), s.PeakRate)
	if s.PeakConcurrency != nil {
		line += fmt.Sprintf(", peak concurrency %d as recorded", *s.PeakConcurrency)
	}
	fmt.Fprintln(a.out, line)
	tokens := fmt.Sprintf("%s input tokens, %s output tokens", count(s.InputTokens), count(s.OutputTokens))
	if s.PrefixShare != nil {
		tokens += fmt.Sprintf(", %.0f %% of input tokens shared as recorded", 100**s.PrefixShare)
	}
	fmt.Fprintln(a.out, tokens)
	if s.Images+s.Tools > 0 {
		fmt.Fprintf(a.out, "recorded bodies: %s with images, %s with tools\n", count(int64(s.Images)), count(int64(s.Tools)))
	}
	if len(s.LeftOut) > 0 {
		left := map[string]int64{}
		for k, n := range maps.All(s.LeftOut) {
			left[strings.ReplaceAll(k, "_", " ")] = int64(n)
		}
		fmt.Fprintf(a.out, "left out: %s\n", reasons(left))
	}
	for _, n := range s.Notices {
		fmt.Fprintf(a.out, "note: %s\n", printable(n.Message))
	}
}

// isPlan says whether a path is a plan file and not a run.
func isPlan(path string) bool {
	st, err := os.Stat(path)
	if err != nil || st.IsDir() {
		return false
	}
	meta, _, _, err := trace.Meta(path)
	return err == nil && meta["reprise.plan"] != ""
}
