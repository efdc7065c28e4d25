package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/ingest"
	"reprise/ingest/decode"
	"reprise/ingest/trace"
	"reprise/replay"
	"reprise/replay/fakellm"
	"reprise/reports"
	"reprise/testdata/demo"
)

// The demo's objective, and the part of the recording that it replays: the start of the incident.
const (
	demoSLO    = "ttft<=1s,tpot<=60ms@99%"
	demoFrom   = 205 * time.Second // after the first request
	demoTo     = 265 * time.Second
	demoSpeed  = 2
	demoKey    = "reprise demo: not a secret, the log is public" // the same hashes everywhere
	demoModel  = "demo-13m"
	demoChunk  = 64
	demoMargin = 0.10
	demoGapMS  = 200
)

// demoEngine is the engine of the recording, a little faster as the replay is: 4 slots, 0.45 ms a prompt token.
func demoEngine(chunk int) fakellm.Config {
	return fakellm.Config{Models: []string{demoModel}, Slots: 4, DecodeBase: 2500 * time.Microsecond, DecodePerRunning: 2500 * time.Microsecond,
		PrefillPerToken: 450 * time.Microsecond, PrefillBase: 5 * time.Millisecond, PrefillChunk: chunk, CacheBlocks: -1, BlockTokens: 16}
}

func (a *app) demoCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "the main job on a real log: find the incident, replay it against two engines, compare",
		Long: `The main job on a real log that comes with the program: LiteLLM in front of llama.cpp, nine minutes, 725 requests, one
incident. The demo ingests log and spans, finds the incident and its cause, replays a minute of it against two model engines
that differ in one scheduling setting, compares them, and writes two HTML pages. It takes about a minute and a half.`,
		Example: "  reprise demo\n  reprise demo -o /tmp/demo",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), out) },
	}
	cmd.Flags().StringVarP(&out, "output", "o", "reprise-demo", "folder for runs and pages (what an earlier demo left there is replaced)")
	return cmd
}

func (a *app) demo(ctx context.Context, dir string) error {
	for _, old := range []string{"baseline", "blocking", "chunked"} {
		if err := os.RemoveAll(filepath.Join(dir, old)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making demo folder: %w", err)
	}
	say := func(format string, args ...any) { fmt.Fprint(a.out, printable(fmt.Sprintf(format, args...)), "\n") }
	run, err := a.demoIngest(ctx, dir, say)
	if err != nil {
		return err
	}
	e, err := analyze.NewEngine(ctx, analyze.EngineOptions{})
	if err != nil {
		return err
	}
	defer e.Close()
	start, err := a.demoAnalyze(ctx, e, run, filepath.Join(dir, "analyze.html"), say)
	if err != nil {
		return err
	}
	var runs [2]*analyze.Run
	for i, engine := range []struct {
		name  string
		chunk int
	}{{"blocking", 0}, {"chunked", demoChunk}} {
		if runs[i], err = a.demoReplay(ctx, run, start, filepath.Join(dir, engine.name), demoEngine(engine.chunk), say); err != nil {
			return err
		}
	}
	return a.demoCompare(ctx, e, runs, filepath.Join(dir, "compare.html"), say)
}

type sayer func(format string, args ...any)

// demoIngest unpacks the recording and ingests log and spans into one run.
func (a *app) demoIngest(ctx context.Context, dir string, say sayer) (*analyze.Run, error) {
	tmp, err := os.MkdirTemp("", "reprise-demo-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	var inputs []string
	for _, name := range []string{"baseline.litellm.jsonl.zst", "baseline.spans.jsonl.zst"} {
		b, err := demo.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, filepath.Join(tmp, name))
		if err := os.WriteFile(inputs[len(inputs)-1], b, 0o600); err != nil {
			return nil, err
		}
	}
	run := filepath.Join(dir, "baseline")
	acc, err := ingest.Run(ctx, ingest.Options{Run: run, KeyID: "demo", Workers: runtime.GOMAXPROCS(0),
		Options: decode.Options{Hash: decode.NewHasher([]byte(demoKey))}}, inputs...)
	if err != nil {
		return nil, err
	}
	say("1. ingest: %s log rows and %s of %s spans of a LiteLLM proxy, as Parquet in %s", count(acc.Inputs[0].Kept), count(acc.Inputs[1].Kept),
		count(acc.Inputs[1].Read), run)
	return analyze.Open(run)
}

// demoAnalyze writes the first page and returns the time of the first request.
func (a *app) demoAnalyze(ctx context.Context, e *analyze.Engine, run *analyze.Run, page string, say sayer) (int64, error) {
	slo, err := analyze.ParseSLO(demoSLO)
	if err != nil {
		return 0, err
	}
	sc := analyze.Scope{SLO: slo}
	p, err := e.Picture(ctx, run, sc)
	if err != nil {
		return 0, err
	}
	report := reports.Build(reports.AnalyzeInput{Run: run.Path, SLO: slo, Results: p.Results, Missing: p.Missing, Incidents: p.Incidents})
	if report.Facts, err = (&mounted{Engine: e, runs: []*analyze.Run{run}}).facts(ctx); err != nil {
		return 0, err
	}
	if err := writeFile(page, func(w io.Writer) error { return reports.WriteHTML(w, report) }); err != nil {
		return 0, err
	}
	for i, line := range report.Answer {
		if i < 3 {
			say("%s", map[bool]string{true: "2. analyze: ", false: "   "}[i == 0]+line)
		}
	}
	res, err := e.SQL(ctx, run, sc, "SELECT min(arrival_us) FROM requests")
	if err != nil {
		return 0, err
	}
	return res.Rows[0][0].(int64), nil
}

// demoReplay sends the window to a model engine of this process.
func (a *app) demoReplay(ctx context.Context, from *analyze.Run, start int64, out string, c fakellm.Config, say sayer) (*analyze.Run, error) {
	o := replay.PlanOptions{From: trace.Ptr(start + demoFrom.Microseconds()), To: trace.Ptr(start + demoTo.Microseconds()), Speed: demoSpeed}
	plan, err := replay.BuildPlan(trace.Read(from.Parts...), o)
	if err != nil {
		return nil, err
	}
	s, url, err := fakellm.Listen(c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	report, err := a.replay(ctx, plan, replay.Options{Target: url + "/v1", Model: demoModel}, outlet{run: out})
	if err := replayErrorOf(report, err); err != nil {
		return nil, err
	}
	setting := "whole prompts block all streams"
	if c.PrefillChunk > 0 {
		setting = fmt.Sprintf("prompts in chunks of %d tokens", c.PrefillChunk)
	}
	say("3. replay: %d requests of the incident, twice as fast, to an engine with %s: %s, %s", report.Sent, setting, lateness(report), report.Fidelity.Verdict)
	return analyze.Open(out)
}

func replayErrorOf(r *replay.Report, err error) error {
	if r == nil && err != nil {
		return err
	}
	return replayError(r, err)
}

func (a *app) demoCompare(ctx context.Context, e *analyze.Engine, runs [2]*analyze.Run, page string, say sayer) error {
	slo, err := analyze.ParseSLO(demoSLO)
	if err != nil {
		return err
	}
	c, err := analyze.Compare(ctx, e, runs[0], runs[1], analyze.CompareOptions{Scope: analyze.Scope{SLO: slo}, Margin: demoMargin})
	if err != nil {
		return err
	}
	report := reports.BuildComparison(c)
	if report.Facts, err = (&mounted{Engine: e, runs: runs[:], roles: []string{"base", "candidate"}}).facts(ctx); err != nil {
		return err
	}
	if err := writeFile(page, func(w io.Writer) error { return reports.WriteHTML(w, report) }); err != nil {
		return err
	}
	for i, line := range report.Answer {
		if i < 2 {
			say("%s", map[bool]string{true: "4. compare: ", false: "   "}[i == 0]+line)
		}
	}
	for _, g := range c.LongGaps {
		if g.Over == demoGapMS {
			say("   chunk gaps over %d ms: %d → %d, %s", demoGapMS, g.Base, g.Cand, g.Verdict)
		}
	}
	dir := filepath.Dir(page)
	say("pages: %s and %s", filepath.Join(dir, "analyze.html"), page)
	say("next: reprise analyze YOUR-LOG.jsonl.gz --slo '%s'", demoSLO)
	return nil
}
