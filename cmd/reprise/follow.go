package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/ingest"
	"reprise/reports"
)

// followFlags are those of `analyze --follow`.
type followFlags struct {
	on    bool
	run   string
	every time.Duration
}

func (o *followFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&o.on, "follow", false, "go on reading a log, or a folder of logs, that grows, and show the picture anew; Ctrl-C ends it and leaves a run")
	fs.DurationVar(&o.every, "every", 5*time.Second, "with --follow: how long to wait between two looks")
	fs.StringVarP(&o.run, "output", "o", "", "with --follow: folder of the run that grows (default: a new one in your cache)")
}

// check says what does not go with --follow.
func (o *followFlags) check(path string, to *analyzeOutput, f *ingestFlags) error {
	switch {
	case !o.on && o.run != "":
		return usage(errors.New("-o goes with --follow; a page is written with --html FILE"))
	case !o.on:
		return nil
	case o.every < time.Second:
		return usage(fmt.Errorf("--every: expected 1s or more, got %s", o.every))
	case to.format != "text" || to.share || to.tool != "":
		return usage(errors.New("--follow goes with neither --format, --share nor --definition: stop it, then analyze the run that it leaves"))
	case f.engine != "":
		return usage(errors.New("--follow makes a run on this machine: it does not go with --engine"))
	case isRun(path):
		return usage(fmt.Errorf("--follow: expected a log or a folder of logs that grows, got a run: %s", path))
	}
	return nil
}

// picture makes the report of a run as it is now.
type picture func(context.Context, *analyze.Engine, *analyze.Run) (reports.Report, error)

// follow shows the picture anew whenever the log has grown, until it is interrupted: that is its ordinary end.
func (a *app) follow(ctx context.Context, path string, o *followFlags, f *ingestFlags, to *analyzeOutput, show picture) error {
	if f.engine != "" {
		return usage(errors.New("--follow reads a log on this machine: it does not go with --engine"))
	}
	if _, err := os.Stat(path); err != nil {
		return noPath(path, err)
	}
	run, err := followFolder(o.run, path)
	if err != nil {
		return err
	}
	opt, err := f.options(run, a)
	if err != nil {
		return err
	}
	fl := ingest.Follow(opt, path)
	defer fl.Close()
	a.talk("following %s as the run %s; Ctrl-C ends", path, run)
	waiting := false
	for ctx.Err() == nil {
		changed, err := fl.Step(ctx)
		if err == nil && changed {
			err = a.followed(ctx, run, path, to, show)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		if !isRun(run) && !waiting {
			waiting = true
			a.talk("no request yet in %s%s", path, whyNone(fl.Why))
		}
		select {
		case <-ctx.Done():
		case <-time.After(o.every):
		}
	}
	if !isRun(run) {
		a.talk("stopped: no request was written meanwhile")
		return nil
	}
	a.talk("stopped; what was read is the run %s\nnext: reprise analyze %s", run, run)
	return nil
}

// followFolder is where the run grows: a folder that holds none yet.
func followFolder(run, path string) (string, error) {
	if run != "" {
		if isRun(run) {
			return "", hinted(fmt.Errorf("%s: there is a run already", run), "choose another folder")
		}
		return run, nil
	}
	return newInCache("follow-" + filepath.Base(path) + "-")
}

// newInCache makes a folder of a new name in the person's cache.
func newInCache(prefix string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", hinted(fmt.Errorf("no cache folder: %w", err), "say where the run shall be: -o RUN")
	}
	cache = filepath.Join(cache, "reprise")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp(cache, prefix)
}

func whyNone(why map[string]string) string {
	names := slices.Sorted(maps.Keys(why))
	if len(names) == 0 {
		return ""
	}
	text := fmt.Sprintf(" (%s: %s", filepath.Base(names[0]), why[names[0]])
	if n := len(names) - 1; n > 0 {
		text += fmt.Sprintf("; %d more files", n)
	}
	return text + ")"
}

// followed shows the first screen of the run as it is now.
func (a *app) followed(ctx context.Context, dir, path string, to *analyzeOutput, show picture) error {
	run, err := openAs(dir, path)
	if err != nil {
		return err
	}
	e, err := a.openEngine(ctx, &ingestFlags{})
	if err != nil {
		return err
	}
	defer e.Close()
	report, err := show(ctx, e, run)
	if err != nil {
		return err
	}
	if to.html != "" {
		if err := writeFile(to.html, func(w io.Writer) error { return reports.WriteHTML(w, report) }); err != nil {
			return err
		}
	}
	width, height := a.width, 0
	if a.size != nil {
		width, height = a.size()
	}
	report.Sections = slices.DeleteFunc(report.Sections, func(s reports.Section) bool { return !s.PageOnly })
	report.Title, report.Next = report.Title+" at "+time.Now().UTC().Format("2006-01-02 15:04:05")+" UTC", nil
	var text bytes.Buffer
	if err := reports.WriteText(&text, report, reports.TextOptions{Colour: a.colour, Width: width}); err != nil {
		return err
	}
	return a.redraw(text.String(), width, height)
}

// redraw shows a text: on a terminal in place of the one before, as much of it as there is room for; else below it.
func (a *app) redraw(text string, width, height int) error {
	if height == 0 {
		_, err := fmt.Fprintln(a.out, text)
		return err
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for line := range strings.Lines(text) {
		rows := 1 + max(0, visible(line)-1)/cmp.Or(width, 80)
		if height -= rows; height < 1 { // the last line stays empty, else the screen would move up
			break
		}
		b.WriteString(strings.TrimSuffix(line, "\n") + "\x1b[K\r\n")
	}
	b.WriteString("\x1b[J")
	_, err := io.WriteString(a.out, b.String())
	return err
}

// visible counts what a line shows: its runes without colours and newline.
func visible(line string) (n int) {
	for {
		before, rest, found := strings.Cut(line, "\x1b[")
		n += utf8.RuneCountInString(strings.TrimSuffix(before, "\n"))
		if !found {
			return n
		}
		_, line, _ = strings.Cut(rest, "m")
	}
}
