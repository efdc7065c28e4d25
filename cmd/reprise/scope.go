package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/reports"
)

// scopeFlags narrow and group what is looked at, and say how the answer leaves.
type scopeFlags struct {
	from, to, slo string
	hardware      string
	by            []string
	format        string
	asJSON        bool
}

func (s *scopeFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&s.from, "from", "", "requests that arrived from this time on: RFC 3339, date, 2026-W47, now-7d")
	fs.StringVar(&s.to, "to", "", "and before this time")
	fs.StringSliceVar(&s.by, "by", nil, "group by: model, tenant, route, replica, app ...")
	fs.StringVar(&s.slo, "slo", "", "objective, such as 'ttft<=1s,tpot<=60ms@99%', the name of a preset, or a YAML file with objectives by tenant and model")
	fs.StringVar(&s.hardware, "hardware", "", "YAML file that names the GPU and its price and describes the model, for cost, roofline and other queries")
	fs.StringVar(&s.format, "format", "text", "how results leave: text, json, csv, arrow, markdown")
	fs.BoolVar(&s.asJSON, "json", false, "short for --format json")
}

func (s *scopeFlags) scope() (sc analyze.Scope, err error) {
	if s.asJSON {
		s.format = "json"
	}
	if !slices.Contains([]string{"text", "json", "csv", "arrow", "markdown"}, s.format) {
		return sc, usage(fmt.Errorf("--format: expected text, json, csv, arrow or markdown, got %q", s.format))
	}
	if err := checkBy(s.by); err != nil {
		return sc, err
	}
	sc.By = s.by
	if sc.From, err = parseTime(s.from); err == nil {
		sc.To, err = parseTime(s.to)
	}
	if err == nil && sc.From != nil && sc.To != nil && *sc.From >= *sc.To {
		err = errors.New("--from must lie before --to")
	}
	if err == nil && s.slo != "" {
		sc.SLO, err = parseSLO(s.slo)
	}
	if err == nil && s.hardware != "" {
		sc.Hardware, err = analyze.LoadHardware(s.hardware)
	}
	if err != nil {
		return sc, usage(err)
	}
	return sc, nil
}

// parseSLO reads an SLO, or the file that holds it.
func parseSLO(text string) (analyze.SLO, error) {
	if strings.HasSuffix(text, ".yaml") || strings.HasSuffix(text, ".yml") {
		s, err := analyze.LoadSLO(text)
		if errors.Is(err, fs.ErrNotExist) {
			err = hinted(err, "such a file holds default: ttft<=1s,tpot<=60ms@99%% and, if need be, sections: [{tenant: acme, slo: ttft<=500ms}]")
		}
		return s, err
	}
	return analyze.ParseSLO(text)
}

// writer takes an answer of any size; nil for the forms that have to see it whole.
func (a *app) writer(format string) analyze.Writer {
	switch format {
	case "json":
		return reports.JSONWriter(a.out)
	case "csv":
		return reports.CSVWriter(a.out)
	case "arrow":
		return analyze.ArrowWriter(a.out)
	}
	return nil
}

// print writes a result in the form that was asked for.
func (a *app) print(format string, r *analyze.Result) error {
	if w := a.writer(format); w != nil {
		return r.Write(w)
	}
	if format == "markdown" {
		return reports.ResultMarkdown(a.out, r)
	}
	return reports.TableText(a.out, r, reports.TextOptions{Colour: a.colour, Width: a.width})
}
