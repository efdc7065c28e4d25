package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"reprise/analyze"
)

// limitFlags bound what queries take of this machine.
type limitFlags struct{ memory, spill string }

func (l *limitFlags) add(cmd *cobra.Command) {
	fs := cmd.PersistentFlags()
	fs.StringVar(&l.memory, "memory-limit", "", "memory that queries may take, such as 4GB; the rest goes to --spill-folder (default: most of the machine's)")
	fs.StringVar(&l.spill, "spill-folder", "", "folder for what does not fit into memory while a query runs (default: the system's for temporary files)")
}

func (l *limitFlags) options() (o analyze.EngineOptions, err error) {
	o.Temp = l.spill
	if l.memory == "" {
		return o, nil
	}
	n, err := bytesOf(l.memory)
	if err == nil && n < 100e6 {
		err = fmt.Errorf("expected at least 100MB, got %s", l.memory)
	}
	if err != nil {
		return o, usage(fmt.Errorf("--memory-limit: %w", err))
	}
	o.MemoryMB = int(n / 1e6)
	return o, nil
}
