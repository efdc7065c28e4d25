package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"reprise/replay"
)

// trimFlags cut the beginning and the end off a replay before it is measured: the target warms up, then drains.
type trimFlags struct {
	warmUpText, drainText string
	warmUp, drain         float64 // shares of the planned duration
}

func (t *trimFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&t.warmUpText, "warm-up", "10%", "share of each replay that is cut off at its start")
	fs.StringVar(&t.drainText, "drain", "10%", "and at its end")
}

// read reads what the flags say.
func (t *trimFlags) read() (err error) {
	if t.warmUp, err = share(t.warmUpText); err != nil {
		return fmt.Errorf("--warm-up: %w", err)
	}
	if t.drain, err = share(t.drainText); err != nil {
		return fmt.Errorf("--drain: %w", err)
	}
	if t.warmUp+t.drain > .8 {
		return errors.New("--warm-up and --drain: expected at most 80 % together, there would be nothing left to measure")
	}
	return nil
}

// window is the middle of a replay of a plan, microseconds since 1970.
func (t *trimFlags) window(r *replay.Report, p *replay.Plan) (from, to int64) {
	at := func(share float64) int64 { return r.StartUS + int64(share*float64(p.Summary.DurationUS)) }
	return at(t.warmUp), at(1 - t.drain)
}

// severalReplays prepares the flags of a command that replays more than once: the hidden ones it sets itself.
func severalReplays(cmd *cobra.Command, folder string, hidden ...string) {
	for _, name := range hidden {
		cmd.Flags().MarkHidden(name)
	}
	cmd.Flags().Lookup("output").Usage = "folder to write to: " + folder
}
