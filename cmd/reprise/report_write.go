package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/reports"
)

// reportOutput says where a report goes.
type reportOutput struct {
	html, format string // html is a file; "" for none
	share        bool   // names are hashed
	rows         int    // of a table on a terminal; 0 is 20
}

func (o *reportOutput) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVarP(&o.html, "output", "o", "", "also write the report as one HTML file that needs no network")
	fs.StringVar(&o.format, "format", "text", "how the report leaves: text, json, markdown")
	shareFlag(cmd, &o.share)
}

// writeReport mounts the run (a copy with names hashed, when it is to be shared), builds the report and writes it.
func (a *app) writeReport(ctx context.Context, path string, o *reportOutput, f *ingestFlags, build func(*analyze.Engine, *analyze.Run, string) (reports.Report, error)) error {
	if !slices.Contains([]string{"text", "json", "markdown"}, o.format) {
		return usage(fmt.Errorf("--format: expected text, json or markdown, got %q", o.format))
	}
	run, err := a.mount(ctx, path, f)
	if err != nil {
		return err
	}
	shared, err := newSharing(o.share, f)
	if err != nil {
		return err
	}
	defer shared.close()
	if run, err = shared.copy(ctx, run, "run"); err != nil {
		return err
	}
	if o.share {
		path = run.Path
	}
	e, err := analyze.NewEngine(ctx, analyze.EngineOptions{})
	if err != nil {
		return err
	}
	defer e.Close()
	report, err := build(e, run, path)
	if err != nil {
		return err
	}
	shared.clean(&report)
	shared.close() // before anything is written: a closed pipe would end the program here
	if o.html != "" {
		if err := writeFile(o.html, func(w io.Writer) error { return reports.WriteHTML(w, report) }); err != nil {
			return err
		}
		a.talk("wrote %s", o.html)
	}
	switch o.format {
	case "json":
		return reports.WriteJSON(a.out, report)
	case "markdown":
		return reports.WriteMarkdown(a.out, report)
	}
	return reports.WriteText(a.out, report, reports.TextOptions{Colour: a.colour, Width: a.width, Rows: cmp.Or(o.rows, 20)})
}
