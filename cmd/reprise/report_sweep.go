package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/reports"
)

func (a *app) sweepReportCommand() *cobra.Command {
	var o reportOutput
	var base, cand priceFlags
	cmd := &cobra.Command{
		Use:   "sweep FOLDER [FOLDER2]",
		Short: "how much load does the target carry, and at what cost? of one sweep, or of two targets",
		Example: `  reprise report sweep sweep -o capacity.html
  reprise report sweep sweep-h100 sweep-mi300x --gpus 8 --gpu-price 2.87 --cand-gpu-price 2.10 --cand-gpus 8 -o capacity.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usage(fmt.Errorf("expected FOLDER, or two of them, as reprise sweep wrote them; got %d arguments", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.sweepReport(args, &o, [2]*priceFlags{&base, &cand})
		},
	}
	base.add(cmd, "", "the target")
	cand.add(cmd, "cand-", "the second target (what is not given is as for the first)")
	for _, name := range []string{"hardware", "cand-hardware"} {
		cmd.Flags().MarkHidden(name) // a sweep does not know its replicas
	}
	o.add(cmd)
	cmd.Flags().MarkHidden("share") // a sweep holds no names but those of folders
	return cmd
}

// loadSweep reads what `reprise sweep` left in a folder.
func loadSweep(folder string) (*analyze.Sweep, error) {
	b, err := os.ReadFile(filepath.Join(folder, "sweep.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hinted(fmt.Errorf("%s: expected a folder that reprise sweep wrote (sweep.json), found none", folder), "make one: reprise sweep RUN --target URL --speeds 0.5,1,1.5,2 --slo SLO -o %s", folder)
	}
	if err != nil {
		return nil, err
	}
	s := &analyze.Sweep{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%s: expected what reprise sweep wrote: %w", filepath.Join(folder, "sweep.json"), err)
	}
	return s, nil
}

func (a *app) sweepReport(folders []string, o *reportOutput, prices [2]*priceFlags) error {
	if err := o.check(); err != nil {
		return err
	}
	in := reports.SweepInput{}
	for i, folder := range folders {
		s, err := loadSweep(folder)
		if err != nil {
			return err
		}
		in.Names[i] = folder
		if i == 0 {
			in.Base = s
		} else {
			in.Cand = s
		}
	}
	for i, p := range prices {
		if _, err := p.read(); err != nil {
			return usage(err)
		}
		in.Prices[i] = reports.Price{GPUs: p.gpus, Hour: p.price}
	}
	if prices[1].gpus == 0 {
		in.Prices[1] = in.Prices[0]
	}
	in.Next = []string{"reprise report compare BASE CAND --base-sweep " + folders[0] + " --cand-sweep FOLDER2 -o migration.html"}
	report := reports.BuildSweep(in)
	report.Facts = reports.FactsOf(nil, version())
	return a.emit(report, o)
}
