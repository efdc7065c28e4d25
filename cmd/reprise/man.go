package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "write the manual pages of all commands",
		Example: "  reprise man ~/.local/share/man/man1 && man reprise-analyze",
		Args:    exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("writing manual pages: %w", err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // the same program, the same bytes
			root.InitDefaultCompletionCmd()
			date := commitTime()
			if err := doc.GenManTree(root, &doc.GenManHeader{Title: "REPRISE", Section: "1", Source: "reprise " + version(), Manual: "reprise", Date: &date}, args[0]); err != nil {
				return fmt.Errorf("writing manual pages: %w", err)
			}
			a.talk("wrote the manual pages to %s\nnext: man %s/reprise.1", args[0], args[0])
			return nil
		},
	}
}

// commitTime is when what the program was built from was committed; 1970 when the build does not say.
func commitTime() time.Time {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if t, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
				return t.UTC()
			}
		}
	}
	return time.Unix(0, 0).UTC()
}
