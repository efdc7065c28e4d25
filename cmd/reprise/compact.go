package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"reprise/ingest/trace"
)

func (a *app) compactCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compact RUN",
		Short: "make few large files of the many small ones of a run",
		Long: `Makes few Parquet files of the many small ones that ingesting often leaves, a day at a time, of at most a million requests
each. No row changes, and an input that is ingested again still adds nothing. It may be stopped or killed at any point: the
run reads the same, and the next call goes on. A second call does nothing. Files of replays stay as they are.`,
		Example: `  reprise compact run`,
		Args:    exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			boundMemory()
			c, err := trace.Compact(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			for _, why := range c.Alone {
				a.talk("left as it is: %s", why)
			}
			if c.Days == 0 {
				fmt.Fprintf(a.out, "nothing to do: %s\n", size(c.Before))
			} else {
				fmt.Fprintf(a.out, "before: %s\nafter:  %s\n", size(c.Before), size(c.After))
			}
			a.talk("next: reprise analyze %s", args[0])
			return nil
		},
	}
}

func size(s trace.Size) string {
	return fmt.Sprintf("%s files, %s requests, %.1f MB", count(int64(s.Parts)), count(s.Rows), float64(s.Bytes)/1e6)
}
