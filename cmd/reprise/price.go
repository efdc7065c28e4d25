package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"reprise/analyze"
)

// priceFlags say what the GPUs behind a run cost.
type priceFlags struct {
	prefix      string // of the flags' names
	hardware    string
	price, gpus float64
}

// add takes a prefix of the flags' names ("cand-") and what the GPUs served.
func (p *priceFlags) add(cmd *cobra.Command, prefix, served string) {
	p.prefix = prefix
	fs := cmd.Flags()
	fs.StringVar(&p.hardware, prefix+"hardware", "", "YAML file with the price of a GPU and how many a replica has, for the cost of tokens")
	fs.Float64Var(&p.price, prefix+"gpu-price", 0, "or the price of a GPU an hour")
	fs.Float64Var(&p.gpus, prefix+"gpus", 0, "and how many GPUs served "+served)
}

// read is nil when nothing was given.
func (p *priceFlags) read() (analyze.Hardware, error) {
	switch {
	case p.price < 0 || p.gpus < 0 || (p.price > 0) != (p.gpus > 0):
		return nil, fmt.Errorf("--%[1]sgpu-price and --%[1]sgpus: expected both, above 0", p.prefix)
	case p.hardware != "" && p.gpus > 0:
		return nil, errors.New("--hardware: expected it or --gpus and --gpu-price, got both")
	case p.gpus > 0:
		return analyze.Hardware{"price_gpu_hour": p.price, "gpus_per_replica": p.gpus, "replicas": 1}, nil
	case p.hardware != "":
		return analyze.LoadHardware(p.hardware)
	}
	return nil, nil
}
