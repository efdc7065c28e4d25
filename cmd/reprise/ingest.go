package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"reprise/ingest"
	"reprise/ingest/decode"
	"reprise/ingest/mapping"
	"reprise/ingest/trace"
)

// ingestFlags are the choices that `ingest` and the commands that ingest on the fly share.
type ingestFlags struct {
	format, vantage, keyFile string
	mapping                  string
	plain, hash              []string
	zone                     string
	year                     int
	since, until             string
	keepBodies               bool
	window                   window // of what is looked at, in a run that lies in a bucket
	maxRejects               string
	engine                   string // where queries run, of the commands that have engineFlag; "" is DuckDB
}

func (f *ingestFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVarP(&f.format, "from-format", "f", "", "name of the input's format (default: found by content)")
	fs.StringVar(&f.mapping, "map", "", "YAML file that describes a log of your own (see: reprise formats --show caddy)")
	fs.StringVar(&f.vantage, "vantage", "", "who measured: client, gateway, engine (default: as the format says)")
	fs.StringVar(&f.keyFile, "key-file", "", "file with the key for hashes (default: reprise/key in your configuration folder, made on first use)")
	fs.StringSliceVar(&f.plain, "plain", nil, "keep in clear: user")
	fs.StringSliceVar(&f.hash, "hash", nil, "store as keyed hashes: "+strings.Join(trace.NameFields(), ", "))
	fs.StringVar(&f.zone, "assume-tz", "UTC", "zone of times that carry none")
	fs.IntVar(&f.year, "assume-year", 0, "year of times that carry none (vLLM's log); without it they are of a clock of their own")
	fs.StringVar(&f.maxRejects, "max-rejects", "1%", "share of refused lines above which the exit code is 4")
}

func (f *ingestFlags) options(run string, a *app) (o ingest.Options, err error) {
	o = ingest.Options{Run: run, Format: f.format, Workers: runtime.GOMAXPROCS(0), Stdin: a.in, Remote: a.remoteInputs}
	if o.Year = f.year; f.year != 0 && (f.year < 2000 || f.year > 2200) {
		return o, usage(fmt.Errorf("--assume-year: expected a year such as 2026, got %d", f.year))
	}
	if o.Zone, err = time.LoadLocation(f.zone); err != nil {
		return o, usage(fmt.Errorf("--assume-tz: expected a zone such as Europe/Berlin, got %q", f.zone))
	}
	for _, field := range f.plain {
		if field != "user" {
			return o, usage(fmt.Errorf("--plain: expected user, got %q", field))
		}
		o.PlainUser = true
	}
	for _, field := range f.hash {
		if !slices.Contains(trace.NameFields(), field) {
			return o, usage(fmt.Errorf("--hash: expected %s, got %q", strings.Join(trace.NameFields(), ", "), field))
		}
	}
	o.HashNames = f.hash
	switch f.vantage {
	case "", "client", "gateway", "engine":
		o.Vantage = f.vantage
	default:
		return o, usage(fmt.Errorf("--vantage: expected client, gateway or engine, got %q", f.vantage))
	}
	o.KeepBodies = f.keepBodies
	if f.mapping != "" {
		m, id, err := mapping.Load(f.mapping)
		if err != nil {
			return o, err
		}
		o.Map, o.MapID = &m, id
	}
	if o.Since, err = parseTime(f.since); err == nil {
		o.Until, err = parseTime(f.until)
	}
	if err != nil {
		return o, usage(err)
	}
	key, id, err := loadKey(f.keyFile)
	o.Hash, o.KeyID = decode.NewHasher(key), id
	return o, err
}

// boundMemory has the collector run seldom while there is little memory in use and often from 128 MiB on: what an ingest
// takes is then the same for any length of its inputs. GOGC and GOMEMLIMIT of the caller count more.
func boundMemory() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(200)
		debug.SetMemoryLimit(128 << 20)
	}
}

func (a *app) ingestCommand() *cobra.Command {
	var f ingestFlags
	var run string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ingest INPUT... -o RUN",
		Short: "turn logs and spans into a run (Parquet)",
		Example: `  reprise ingest litellm.jsonl.gz spans.jsonl.gz -o run
  reprise ingest /var/log/gateway -o run --since 2026-11-24 --until 2026-11-25
  kubectl logs gateway | reprise ingest - -o run`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if run == "" {
				return usage(errors.New("expected -o RUN, the folder to write to"))
			}
			limit, err := share(f.maxRejects)
			if err != nil {
				return usage(fmt.Errorf("--max-rejects: %w", err))
			}
			o, err := f.options(run, a)
			if err != nil {
				return err
			}
			boundMemory()
			bar := a.ingestProgress(args)
			o.Progress = bar.add
			acc, err := ingest.Run(cmd.Context(), o, args...)
			bar.done()
			if err != nil {
				return notRuns(args, err)
			}
			if asJSON {
				if err := json.NewEncoder(a.out).Encode(acc); err != nil {
					return err
				}
			} else {
				a.printAccount(acc, run)
			}
			return accountError(acc, limit)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&run, "output", "o", "", "folder of the run")
	cmd.Flags().StringVar(&f.since, "since", "", "keep requests from this time on")
	cmd.Flags().StringVar(&f.until, "until", "", "keep requests before this time")
	cmd.Flags().BoolVar(&f.keepBodies, "keep-bodies", false, "also store request bodies (prompt text!) in a file of mode 0600")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the account as JSON")
	return cmd
}

// accountError turns an incomplete or badly refused input into exit code 4: what was good is stored all the same.
func accountError(acc *ingest.Account, limit float64) error {
	for _, in := range acc.Inputs {
		if s := in.RejectShare(); s > limit {
			return &coded{exitIncomplete, fmt.Errorf("%s: %.1f %% of %d records refused (%s), expected at most %g %%", in.File, 100*s, in.Read, reasons(in.Rejected), 100*limit),
				"the account of reprise ingest names lines and reasons; another format: -f NAME, another bound: --max-rejects"}
		}
	}
	if acc.Cut() {
		return &coded{exitIncomplete, errors.New("input ends in the middle of a record"), "if it is still being written, run the same command again later"}
	}
	if acc.Totals.Kept == 0 && acc.Totals.Duplicates == 0 {
		return &coded{code: exitError, err: errors.New("no request found in the input")}
	}
	return nil
}

// printAccount ends every ingest: what was read, what became of it, what can be said with it.
func (a *app) printAccount(acc *ingest.Account, run string) {
	out := func(format string, args ...any) { fmt.Fprint(a.out, printable(fmt.Sprintf(format, args...)), "\n") }
	for _, in := range acc.Inputs {
		out("%s: %s, read %s = kept %s + rejected %s + incomplete %s + skipped %s", in.File, in.Format, count(in.Read), count(in.Kept),
			count(total(in.Rejected)), count(in.Incomplete), count(total(in.Skipped)))
		if len(in.Rejected) > 0 {
			out("  rejected: %s", reasons(in.Rejected))
		}
		if len(in.Skipped) > 0 {
			out("  skipped: %s", reasons(in.Skipped))
		}
		if in.DuplicateOf != "" {
			out("  same content as %s: not stored twice", in.DuplicateOf)
		}
		for _, w := range in.Warnings {
			out("  %s", w)
		}
	}
	for i, f := range acc.NotLogs {
		const most = 8
		if i == most {
			a.talk("left out: %d more files, named by --json", len(acc.NotLogs)-most)
			break
		}
		a.talk("left out: %s: %s", f.File, f.Why)
	}
	t := acc.Totals
	if len(acc.Inputs) > 1 {
		out("total: read %s = kept %s + rejected %s + incomplete %s + skipped %s", count(t.Read), count(t.Kept),
			count(total(t.Rejected)), count(t.Incomplete), count(total(t.Skipped)))
	}
	if t.Kept > 0 {
		out("known%s: %s", whose(acc), coverage(acc))
		for i, l := range acc.Limits() {
			if i == 0 {
				out("what limits most:")
			}
			out("  %s", l)
		}
	}
	if t.Kept > 0 && t.Added == 0 {
		out("nothing new: the run had all of it")
	}
	a.talk("next: reprise analyze %s", run)
}

// coverage names the fields that decide what can be said, with the share of rows that know them.
func coverage(acc *ingest.Account) string {
	var parts []string
	for _, c := range []struct{ column, name string }{
		{"arrival", "arrival"}, {"first_us", "first token"}, {"end_us", "end"}, {"gaps_us", "chunk times"}, {"input_tokens", "input tokens"},
		{"output_tokens", "output tokens"}, {"cached_input_tokens", "cached tokens"}, {"replica", "replica"}, {"tenant", "tenant"},
		{"session_id", "session"}, {"system_prompt_hash", "system prompt"}, {"prefix_hash_ids", "prefix"}, {"queue_us", "engine stages"},
	} {
		parts = append(parts, fmt.Sprintf("%s %d %%", c.name, ingest.Percent(acc.Coverage[c.column], acc.Totals.Kept)))
	}
	return strings.Join(parts, ", ")
}

// whose remarks that shares are of rows, where several formats may tell of one call.
func whose(acc *ingest.Account) string {
	formats := map[string]bool{}
	for _, in := range acc.Inputs {
		if in.Kept > 0 {
			formats[in.Format] = true
		}
	}
	if len(formats) < 2 {
		return ""
	}
	return " of the single rows, before those of one call are joined"
}

func total(m map[string]int64) (n int64) {
	for _, v := range m {
		n += v
	}
	return n
}

// share reads "1%" or "0.01".
func share(s string) (float64, error) {
	num, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(num, 64)
	if percent {
		v /= 100
	}
	if err != nil || v < 0 || v > 1 {
		return 0, fmt.Errorf("expected a share such as 1%%, got %q", s)
	}
	return v, nil
}
