package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"reprise/ingest"
	"reprise/ingest/mapping"
)

func (a *app) formatsCommand() *cobra.Command {
	var show string
	cmd := &cobra.Command{
		Use:   "formats [NAME]",
		Short: "what logs are understood, and what each can and cannot contain",
		Example: `  reprise formats
  reprise formats litellm
  reprise formats --show caddy > mine.yaml     # a mapping to start your own from: reprise ingest --map mine.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if show != "" {
				text, err := mapping.Text(show)
				if err == nil {
					_, err = a.out.Write(text)
				}
				return err
			}
			return a.formats(args)
		},
	}
	cmd.Flags().StringVar(&show, "show", "", "print the mapping of a gateway")
	return cmd
}

func (a *app) formats(args []string) error {
	for _, f := range ingest.Formats() {
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
}
