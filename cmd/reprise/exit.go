package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reprise/ingest"
	"reprise/store"
)

// Exit codes, the same in every command's help.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitGate        = 3
	exitIncomplete  = 4
	exitInterrupted = 130
)

// coded is an error that ends the program with a code of its own. With an empty message nothing is printed: the
// command has said it already.
type coded struct {
	code int
	err  error
	hint string
}

func (e *coded) Error() string { return e.err.Error() }
func (e *coded) Unwrap() error { return e.err }

// usage marks an error of what was typed. Advice that it carries stays.
func usage(err error) error {
	c := &coded{code: exitUsage, err: err}
	if inner := (*coded)(nil); errors.As(err, &inner) {
		c.hint = inner.hint
	}
	return c
}

// hinted adds advice to an error.
func hinted(err error, format string, args ...any) error {
	return &coded{code: exitError, err: err, hint: fmt.Sprintf(format, args...)}
}

// exit prints the error of a command in the one form all errors have and returns the exit code.
func (a *app) exit(ctx context.Context, cmd *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	code, hint := exitError, ""
	var c *coded
	var h *ingest.HintError
	var s *store.Error
	var own interface{ Hint() string }
	if !a.running {
		code = exitUsage
	}
	if errors.As(err, &own) {
		hint = own.Hint()
	}
	if errors.As(err, &s) {
		hint = s.Hint
	}
	if strings.Contains(err.Error(), "Out of Memory Error") { // DuckDB's
		hint = "allow more (--memory-limit), look at fewer days (--from, --to), or give it a folder with room (--spill-folder)"
	}
	if errors.As(err, &c) {
		code = c.code
		hint = cmp.Or(c.hint, hint)
	}
	if errors.As(err, &h) {
		hint = h.Hint
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		code, err, hint = exitInterrupted, errors.New("interrupted"), ""
	}
	text, _, _ := strings.Cut(err.Error(), "\n\nLINE ") // of SQL that reprise composed: its lines are not those of the reader
	fmt.Fprintf(a.err, "reprise: error: %s\n", printable(text))
	if hint == "" && code == exitUsage {
		hint = cmp.Or(meant(cmd, text), "see: "+cmd.CommandPath()+" --help")
	}
	if hint != "" {
		fmt.Fprintf(a.err, "reprise: hint: %s\n", printable(hint))
	}
	return code
}

// talk writes progress and remarks to stderr, unless -q.
func (a *app) talk(format string, args ...any) {
	if !a.quiet {
		fmt.Fprint(a.err, printable(fmt.Sprintf(format, args...)), "\n")
	}
}

// exactly checks the number of arguments and says what is expected.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		s := "s"
		if len(names) == 1 {
			s = ""
		}
		err := fmt.Errorf("expected %d argument%s %v, got %d", len(names), s, names, len(args))
		if len(args) > len(names) && slices.Contains(names, "RUN") { // a shell that spelt out a pattern
			return &coded{exitUsage, err, "several logs make one run: reprise ingest FILE... -o run"}
		}
		return usage(err)
	}
}
