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
	return a.writeReportOf(ctx, []role{{"run", path}}, o, f, func(m *mounted) (reports.Report, error) {
		return build(m.Engine, m.runs[0], m.runs[0].Path)
	})
}

// writeReportOf is [app.writeReport] for several runs.
func (a *app) writeReportOf(ctx context.Context, runs []role, o *reportOutput, f *ingestFlags, build func(*mounted) (reports.Report, error)) error {
	if err := o.check(); err != nil {
		return err
	}
	m, err := a.mountAll(ctx, runs, o.share, f)
	if err != nil {
		return err
	}
	defer m.close()
	report, err := build(m)
	if err != nil {
		return err
	}
	if report.Facts, err = m.facts(ctx); err != nil {
		return err
	}
	m.shared.clean(&report)
	m.shared.close() // before anything is written: a closed pipe would end the program here
	return a.emit(report, o)
}

func (o *reportOutput) check() error {
	if !slices.Contains([]string{"text", "json", "markdown"}, o.format) {
		return usage(fmt.Errorf("--format: expected text, json or markdown, got %q", o.format))
	}
	return nil
}

// emit writes the page, if one was asked for, and the report in its format.
func (a *app) emit(report reports.Report, o *reportOutput) error {
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

// role is a run by what it is in a report, which is its name when names are hashed.
type role struct{ name, path string }

// mounted are runs, with names hashed when they are to be shared, and an engine for them. Close it.
type mounted struct {
	*analyze.Engine
	roles  []string
	runs   []*analyze.Run
	shared *sharing
}

// facts say what the report was made from and with.
func (m *mounted) facts(ctx context.Context) ([]reports.Fact, error) {
	var list []analyze.Identity
	for i, run := range m.runs {
		id, err := m.Identify(ctx, run)
		if err != nil {
			return nil, err
		}
		if len(m.runs) > 1 {
			id.Role = m.roles[i]
		}
		list = append(list, id)
	}
	return reports.FactsOf(list, version()), nil
}

func (m *mounted) close() {
	m.shared.close()
	if m.Engine != nil {
		m.Engine.Close()
	}
}

func (a *app) mountAll(ctx context.Context, runs []role, share bool, f *ingestFlags) (_ *mounted, err error) {
	m := &mounted{}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	if err := f.noShare(share); err != nil {
		return nil, err
	}
	if m.shared, err = newSharing(share, f); err != nil {
		return nil, err
	}
	for i, r := range runs {
		flags := *f
		if i > 0 {
			flags.window = window{} // bounds of time are those of the first run: a candidate may have run on another day
		}
		run, err := a.mount(ctx, r.path, &flags)
		if err != nil {
			return nil, err
		}
		if run, err = m.shared.copy(ctx, run, r.name); err != nil {
			return nil, err
		}
		m.roles, m.runs = append(m.roles, r.name), append(m.runs, run)
	}
	m.Engine, err = a.openEngine(ctx, f)
	return m, err
}
