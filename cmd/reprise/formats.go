package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"reprise/ingest"
)

func (a *app) formatsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "formats [NAME]",
		Short:   "what logs are understood, and what each can and cannot contain",
		Example: "  reprise formats\n  reprise formats litellm",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for i := range ingest.Formats {
				f := &ingest.Formats[i]
				if len(args) == 0 {
					fmt.Fprintf(a.out, "%-20s %s\n", f.Name, f.Title)
				} else if f.Name == args[0] {
					fmt.Fprintf(a.out, "%s: %s\n\n%s\n", f.Name, f.Title, f.About)
					return nil
				}
			}
			if len(args) > 0 {
				return hinted(fmt.Errorf("unknown format %q", args[0]), "list them: reprise formats")
			}
			return nil
		},
	}
}
