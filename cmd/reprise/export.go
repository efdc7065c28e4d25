package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reprise/export"
	"reprise/ingest"
	"reprise/ingest/decode"
	"reprise/ingest/trace"
	"reprise/replay"
)

// exportFlags choose what leaves and in which form.
type exportFlags struct {
	to, out, shift string
	since, until   string
	relative       bool
	block, rare    int
}

const exportLong = `a trace of a run that may be shared: names and ids are keyed hashes, no text, only lengths, times and what prompts share

  jsonl      our own JSON lines: every row and column; reprise ingest makes the same run of it
  mooncake   a line a request: timestamp (ms), input_length, output_length, hash_ids of --block tokens; reprise ingest reads it
             again when --block is 16, 32, 64, 128, 256, 512 or 1024
  aiperf     the same: aiperf profile --input-file FILE --custom-dataset-type mooncake_trace --fixed-schedule --isl-block-size BLOCK
  guidellm   the same in seconds: data kind mooncake, hash_id_block_size BLOCK (trace_synthetic when no prompt shape is known)
  evalscope  whole chat bodies of made-up words: evalscope perf --dataset workload_trace --open-loop --dataset-path FILE
             (its body names a model: keep it with --plain model, or set model_override there)

All but jsonl hold one line a call (attempts and views are one), as reprise plan would send it. Blocks of another size than
the run's are cut where a whole block is shared: sharing is rounded down, never up. --plain keeps names; users, API keys and
ids are hashed always. The same key gives the same hashes (--key-file); without it they cannot be turned back.`

func (a *app) exportCommand() *cobra.Command {
	var x exportFlags
	var f ingestFlags
	cmd := &cobra.Command{
		Use:   "export RUN --to FORMAT -o FILE",
		Short: "a shareable trace: names hashed, no text; for us, Mooncake readers, AIPerf, GuideLLM, evalscope",
		Long:  exportLong,
		Example: `  reprise export run --to mooncake -o trace.jsonl
  reprise export run --to jsonl -o - --relative | gzip > shared.jsonl.gz
  reprise export run --to aiperf --block 64 -o trace.jsonl --since 2026-11-24T09:00Z --until 2026-11-24T10:00Z`,
		Args: exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := x.check(cmd.Flags().Changed("block")); err != nil {
				return usage(err)
			}
			plain := f.plain
			f.plain = nil // of an export, not of an ingest on the way to it
			return a.export(cmd.Context(), args[0], plain, &x, &f)
		},
	}
	f.add(cmd)
	fs := cmd.Flags()
	fs.Lookup("plain").Usage = "names to keep: " + strings.Join(trace.NameFields(), ", ")
	fs.StringVar(&x.to, "to", "", "format: jsonl, mooncake, aiperf, guidellm, evalscope")
	fs.StringVarP(&x.out, "output", "o", "", "file to write, - for standard output")
	fs.IntVar(&x.block, "block", 512, "tokens a prefix block")
	fs.IntVar(&x.rare, "rare", 5, "warn of prefixes that fewer requests than this share")
	fs.StringVar(&x.since, "since", "", "requests that arrived from this time on")
	fs.StringVar(&x.until, "until", "", "and before this time")
	fs.StringVar(&x.shift, "shift-to", "", "jsonl: move all times so that the first request arrives then")
	fs.BoolVar(&x.relative, "relative", false, "jsonl: times from the first request on (the other formats always are)")
	return cmd
}

func (x *exportFlags) check(blockGiven bool) error {
	lines := x.to == "jsonl"
	switch {
	case !slices.Contains([]string{"jsonl", "mooncake", "aiperf", "guidellm", "evalscope"}, x.to):
		return fmt.Errorf("--to: expected jsonl, mooncake, aiperf, guidellm or evalscope, got %q", x.to)
	case x.out == "":
		return errors.New("expected -o FILE, the file to write (- for standard output)")
	case x.block < 1:
		return fmt.Errorf("--block: expected tokens, got %d", x.block)
	case lines && blockGiven:
		return errors.New("--block: jsonl keeps the blocks of the run")
	case !lines && x.shift != "":
		return fmt.Errorf("--shift-to: the times of %s begin at 0", x.to)
	case x.shift != "" && x.relative:
		return errors.New("expected one of --shift-to and --relative")
	}
	return nil
}

// export writes the file and says what is in it.
func (a *app) export(ctx context.Context, path string, plain []string, x *exportFlags, f *ingestFlags) error {
	names, err := leaving(f, plain)
	if err != nil {
		return err
	}
	var o replay.PlanOptions
	if o.From, err = parseTime(x.since); err == nil {
		o.To, err = parseTime(x.until)
	}
	if err != nil {
		return usage(err)
	}
	f.window = window{from: o.From, to: o.To}
	run, err := a.mount(ctx, path, f)
	if err != nil {
		return err
	}
	rows := names.Rows(until(ctx, trace.Read(run.Parts...)))
	write := a.exportTrace
	if x.to == "jsonl" {
		write = a.exportRows
	}
	return write(rows, o, x)
}

// leaving gives the names that leave this machine.
func leaving(f *ingestFlags, plain []string) (*export.Names, error) {
	key, _, err := loadKey(f.keyFile)
	if err != nil {
		return nil, err
	}
	var formats []string
	for _, known := range ingest.Formats() {
		formats = append(formats, known.Name)
	}
	formats = append(formats, replay.Format)
	names, err := export.NewNames(decode.NewHasher(key).Name, formats, plain)
	if err != nil {
		return nil, usage(fmt.Errorf("--plain: %w", err))
	}
	return names, nil
}

// until ends the rows with an error when ctx ends.
func until(ctx context.Context, rows iter.Seq2[trace.Request, error]) iter.Seq2[trace.Request, error] {
	return func(yield func(trace.Request, error) bool) {
		for r, err := range rows {
			if !yield(r, cmp.Or(err, ctx.Err())) {
				return
			}
		}
	}
}

// writeOut writes a file whole or not at all, or to standard output.
func (a *app) writeOut(name string, write func(io.Writer) error) error {
	buffered := func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		if err := write(b); err != nil {
			return err
		}
		return b.Flush()
	}
	if name == "-" {
		return buffered(a.out)
	}
	return writeFile(name, buffered)
}

// sayBeside writes what is said of a file to standard output, unless the file goes there.
func (a *app) sayBeside(name string) func(format string, args ...any) {
	if name == "-" {
		return a.talk
	}
	return func(format string, args ...any) { fmt.Fprint(a.out, printable(fmt.Sprintf(format, args...)), "\n") }
}

// warnRare lists the prefixes that few requests share.
func (a *app) warnRare(ids [][]int64, x *exportFlags) {
	const most = 5
	rare, alone := export.FindRare(ids, x.rare)
	if len(rare) == 0 {
		return
	}
	requests := 0
	for _, r := range rare {
		requests += r.Requests
	}
	slices.SortStableFunc(rare, func(a, b export.Rare) int { return cmp.Compare(a.Requests, b.Requests) })
	fmt.Fprintf(a.err, "reprise: warning: %d prefixes are shared by fewer than %d requests each (%d requests; %d more share nothing): who knows one of their prompts can tell the others. The rarest:\n",
		len(rare), x.rare, requests, alone)
	for _, r := range rare[:min(most, len(rare))] {
		fmt.Fprintf(a.err, "  line %d: requests %d, shared blocks %d\n", r.Line, r.Requests, r.Blocks)
	}
}

// withCounts writes counts behind a text; nothing without counts.
func withCounts(text string, counts map[string]int64) string {
	if len(counts) == 0 {
		return ""
	}
	return text + reasons(counts)
}
