package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"reprise/ingest/trace"
	"reprise/replay"
	"reprise/replay/wire"
	"reprise/store"
)

// replayFlags say where a plan is sent and how.
type replayFlags struct {
	target, model, out, cancel, keyEnv, salt string
	pacing, stopFailures                     string
	threadAnswers                            bool
	retries                                  int
	modelMap, header, metrics                []string
	maxInFlight                              int
	dryRun, noPreflight                      bool
	body                                     bodyFlags
	first, silence, whole                    time.Duration
}

func (r *replayFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&r.target, "target", "", "address of the candidate, such as http://127.0.0.1:8000/v1")
	fs.StringVarP(&r.out, "output", "o", "", "folder of the run to write")
	fs.StringVar(&r.model, "model", "", "model name to ask for (default: as recorded)")
	fs.StringSliceVar(&r.modelMap, "model-map", nil, "RECORDED=NAME, for several models")
	fs.StringVar(&r.keyEnv, "api-key-env", "", "environment variable that holds the key")
	fs.StringArrayVar(&r.header, "header", nil, "NAME=VALUE, sent with each request")
	fs.StringVar(&r.cancel, "cancel", replay.CancelNever, "requests whose client hung up or gave up: recorded (do so again, at that time) or never")
	fs.StringVar(&r.pacing, "pacing", replay.PacingOpen, "open (each request at its time) or sessions (a turn also waits for the answer before it and the recorded think time)")
	fs.BoolVar(&r.threadAnswers, "thread-answers", false, "with --pacing sessions: put what the target answered into the next turn")
	fs.IntVar(&r.retries, "retries", 0, "try a request that failed without an answer so many times more, each attempt a row of its own")
	fs.StringVar(&r.stopFailures, "stop-failures", "90%", "stop when this share of the first 20 to 100 requests, or of any 30 s later on, failed (0: never)")
	fs.StringVar(&r.salt, "salt", "", "words in front of each prompt, so that the target's cache does not know them")
	fs.IntVar(&r.maxInFlight, "max-in-flight", 0, "safety limit; sends above it wait and the run is marked (0: what the system allows)")
	fs.DurationVar(&r.first, "first-byte-timeout", 0, "longest wait for the first byte of an answer")
	fs.DurationVar(&r.silence, "silence-timeout", 0, "longest silence within a stream")
	fs.DurationVar(&r.whole, "timeout", 0, "longest time of a whole answer")
	r.body.add(cmd)
	fs.StringArrayVar(&r.metrics, "metrics-url", nil, "metrics page of the target (Prometheus text), read every second into the run; may be given again")
	fs.BoolVar(&r.noPreflight, "no-preflight", false, "do not try one request before the load")
	fs.BoolVar(&r.dryRun, "dry-run", false, "say what would be sent, send nothing")
}

func (r *replayFlags) options() (o replay.Options, err error) {
	o = replay.Options{Target: r.target, Model: r.model, Header: http.Header{}, Cancel: r.cancel, Salt: r.salt,
		MaxInFlight: r.maxInFlight, NoPreflight: r.noPreflight, Pacing: r.pacing, ThreadAnswers: r.threadAnswers, Retries: r.retries, MaxTokensField: r.body.limitField}
	if err := checkTarget(r.target); err != nil {
		return o, err
	}
	if o.StopShare, err = share(r.stopFailures); err != nil {
		return o, usage(fmt.Errorf("--stop-failures: %w", err))
	}
	if o.StopShare == 0 {
		o.StopShare = -1
	}
	if o.ModelMap, err = keyValues(r.modelMap); err != nil {
		return o, usage(fmt.Errorf("--model-map: %w", err))
	}
	if o.Extra, err = r.body.fields(); err != nil {
		return o, err
	}
	headers, err := keyValues(r.header)
	if err != nil {
		return o, usage(fmt.Errorf("--header: %w", err))
	}
	for k, v := range headers {
		o.Header.Set(k, v)
	}
	if r.keyEnv != "" {
		key := os.Getenv(r.keyEnv)
		if key == "" {
			return o, usage(fmt.Errorf("--api-key-env: the variable %s is not set", r.keyEnv))
		}
		o.Header.Set("Authorization", "Bearer "+key)
	}
	o.Wire.Limits = wire.DefaultLimits()
	l := &o.Wire.Limits
	l.FirstByte, l.Silence, l.Whole = orElse(r.first, l.FirstByte), orElse(r.silence, l.Silence), orElse(r.whole, l.Whole)
	return o, nil
}

func (a *app) replayCommand() *cobra.Command {
	var r replayFlags
	var p planFlags
	var f ingestFlags
	var s shardFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay RUN|PLAN --target URL -o RUN2",
		Short: "send recorded traffic again, each request at its time",
		Example: `  reprise replay run --target http://127.0.0.1:8000/v1 -o candidate
  reprise replay gateway.jsonl.gz --from 2026-11-24T09:00Z --to 2026-11-24T09:10Z --speed 2 --target http://127.0.0.1:8000/v1 -o candidate
  reprise replay plan.parquet --target https://h100.internal/v1 --model llama-70b --api-key-env KEY -o candidate
  reprise replay agents.jsonl --target http://127.0.0.1:8000/v1 --pacing sessions --thread-answers -o candidate
  reprise replay run --target http://127.0.0.1:8000/v1 --dry-run
  reprise replay plan.parquet --shard $JOB_COMPLETION_INDEX/4 --start-at 2026-11-24T14:00:00Z --target http://h100.internal/v1 -o candidate`,
		Args: exactly("RUN|PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.target == "" && !r.dryRun {
				return usage(errors.New("expected --target URL"))
			}
			if r.out == "" && !r.dryRun {
				return usage(errors.New("expected -o RUN2, the folder to write to"))
			}
			plan, err := a.loadOrPlan(cmd.Context(), args[0], &p, &f)
			if err != nil {
				return err
			}
			o, err := r.options()
			if err != nil {
				return err
			}
			plan, out, err := s.apply(plan, &o, r.out)
			if err != nil {
				return err
			}
			if !a.quiet && !asJSON {
				a.printPlan(plan)
			}
			if r.dryRun {
				return nil
			}
			report, err := a.replay(cmd.Context(), plan, o, outlet{out, r.metrics})
			if report != nil {
				if asJSON {
					err = errors.Join(json.NewEncoder(a.out).Encode(report), err)
				} else {
					a.printReplay(report, r.out)
				}
			}
			return replayError(report, err)
		},
	}
	r.add(cmd)
	p.add(cmd)
	f.add(cmd)
	s.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

func (a *app) loadOrPlan(ctx context.Context, path string, p *planFlags, f *ingestFlags) (*replay.Plan, error) {
	local := path
	if store.Remote(path) && strings.HasSuffix(path, ".parquet") {
		c, err := a.find(ctx, path)
		if err == nil {
			local, err = a.fetch(ctx, c, func(store.Object) bool { return true })
		}
		if err != nil {
			return nil, err
		}
	}
	if isPlan(local) {
		return replay.LoadPlan(local)
	}
	return a.plan(ctx, path, p, f)
}

// outlet is where a replay puts what it learns: a run, and which metrics pages to read into it.
type outlet struct {
	run     string
	metrics []string
}

// replay sends the plan and stores what came back as a run. An interrupted replay leaves a valid run of what was sent.
func (a *app) replay(ctx context.Context, plan *replay.Plan, o replay.Options, to outlet) (*replay.Report, error) {
	if isRun(to.run) {
		return nil, hinted(fmt.Errorf("%s: there is a run already", to.run), "choose another folder: two replays in one run would count twice")
	}
	w, err := trace.NewWriter(to.run)
	if err != nil {
		return nil, err
	}
	defer os.Remove(to.run) // unless something stands in it: a target that refuses leaves no empty folder
	defer w.Abort()
	watch, err := startWatch(to, &o)
	if err != nil {
		return nil, err
	}
	o.Sink = w.Add
	bar := a.replayProgress(len(plan.Items))
	o.Progress = bar.show
	report, err := replay.Run(ctx, plan, o)
	bar.done()
	scraped, serr := watch.stop()
	defer watch.abort()
	if report == nil || report.Sent == 0 {
		return report, err
	}
	report.Metrics, report.SelfCheck = scraped, a.loadSelfCheck()
	report.Notices = append(report.Notices, report.SelfCheck.Limits(&plan.Summary)...)
	stored, jerr := json.Marshal(report)
	if jerr != nil {
		return report, jerr
	}
	part := fmt.Sprintf("replay-%x", sha256.Sum256(stored))[:23]
	serr = errors.Join(serr, watch.commit(part))
	_, _, cerr := w.Commit(part, map[string]string{"reprise.replay": string(stored)})
	return report, errors.Join(err, serr, cerr)
}

func replayError(r *replay.Report, err error) error {
	switch {
	case err != nil:
		return err
	case r.Incomplete == replay.StoppedInterrupt:
		return &coded{code: exitInterrupted, err: fmt.Errorf("interrupted: %d of %d requests sent; the run holds those", r.Sent, r.Planned)}
	case r.Incomplete != "":
		return &coded{code: exitError, err: fmt.Errorf("stopped early (%s): %d of %d requests sent", r.Incomplete, r.Sent, r.Planned)}
	}
	return nil
}
