package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/ingest"
	"reprise/queries"
)

// complete gives every command the words that a shell can complete: runs and queries as arguments, what flags take as values.
func complete(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		complete(sub)
	}
	switch {
	case cmd.Name() == "query":
		cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return queryNames(), cobra.ShellCompDirectiveNoFileComp
			}
			return runsBelow(begun), cobra.ShellCompDirectiveDefault
		}
	case strings.Contains(cmd.Use, "RUN") || strings.Contains(cmd.Use, "BASE"):
		cmd.ValidArgsFunction = func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return runsBelow(begun), cobra.ShellCompDirectiveDefault
		}
	case cmd.Name() == "formats":
		cmd.ValidArgsFunction = cobra.FixedCompletions(formatNames(), cobra.ShellCompDirectiveNoFileComp)
	}
	for flag, words := range flagWords {
		if cmd.Flags().Lookup(flag) != nil {
			cmd.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return words(c, begun), cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
}

// flagWords are the words that a flag takes, by its name, whatever the command.
var flagWords = map[string]func(c *cobra.Command, begun string) []string{
	"format":      formatsOf,
	"from-format": func(*cobra.Command, string) []string { return formatNames() },
	"definition":  func(*cobra.Command, string) []string { return definitions() },
	"slo":         func(*cobra.Command, string) []string { return slices.Sorted(maps.Keys(analyze.Presets())) },
	"by":          dimensionsAfter,
	"vantage":     func(*cobra.Command, string) []string { return []string{"client", "gateway", "engine"} },
	"show": func(c *cobra.Command, _ string) []string {
		if c.Name() == "formats" {
			return formatNames()
		}
		return queryNames()
	},
}

// formatsOf are the words that the help of the command's own --format ends with.
func formatsOf(c *cobra.Command, _ string) []string {
	_, list, _ := strings.Cut(c.Flags().Lookup("format").Usage, ": ")
	return strings.Split(list, ", ")
}

// dimensionsAfter completes the last of several names.
func dimensionsAfter(_ *cobra.Command, begun string) (out []string) {
	before := begun[:strings.LastIndexByte(begun, ',')+1]
	for _, d := range queries.Dimensions() {
		out = append(out, before+d)
	}
	return out
}

func queryNames() (out []cobra.Completion) {
	for _, q := range queries.List() {
		out = append(out, cobra.CompletionWithDesc(q.Name, q.Title))
	}
	return out
}

func formatNames() (out []string) {
	for _, f := range ingest.Formats() {
		out = append(out, f.Name)
	}
	return out
}

// runsBelow are the runs in the folder that was begun. Without one the shell offers files: a log will do as well.
func runsBelow(begun string) (out []cobra.Completion) {
	dir, _ := filepath.Split(begun)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if path := dir + e.Name(); strings.HasPrefix(path, begun) && isRun(path) {
			out = append(out, path)
		}
	}
	return out
}
