package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"reprise/analyze"
	"reprise/ingest/decode"
	"reprise/queries"
)

var (
	unknownCommand = regexp.MustCompile(`^unknown command "([^"]*)" for `)
	unknownFlag    = regexp.MustCompile(`^unknown flag: --(.*)$`)
	flagName       = regexp.MustCompile(`(?m)^ +(?:-., )?--([a-z0-9-]+)`) // in the help
)

// meant proposes what a command or flag that does not exist was probably meant to be; "" for other errors.
func meant(cmd *cobra.Command, text string) string {
	var word, before string
	var names []string
	if m := unknownCommand.FindStringSubmatch(text); m != nil {
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, c.Name())
			}
		}
		word, before = m[1], cmd.CommandPath()+" "
	} else if m := unknownFlag.FindStringSubmatch(text); m != nil {
		for _, flag := range flagName.FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
			names = append(names, flag[1])
		}
		word, before = m[1], "--"
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("did you mean %s%s? see: %s --help", before, decode.Nearest(word, names), cmd.CommandPath())
}

// noPath says that there is nothing at a path, and what lies in its folder under a similar name.
func noPath(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: expected a run or a log that can be read: %w", path, err)
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: a link to what is not there", path)
	}
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return hinted(fmt.Errorf("%s: no such run or log: there is no folder %s", path, filepath.Clean(dir)), "a run is a folder that reprise ingest wrote, a log a file or a folder of files")
	}
	var names []string
	for _, e := range entries {
		if n := e.Name(); !strings.HasPrefix(n, ".") {
			names = append(names, n)
		}
	}
	hint := "a run is a folder that reprise ingest wrote, a log a file or a folder of files"
	if near := decode.Nearest(name, names); near != "" {
		hint = "did you mean " + dir + near + "? " + hint
	}
	return &coded{exitError, fmt.Errorf("%s: no such run or log", path), hint}
}

// notRuns explains why an ingest found nothing when one of its inputs is a run.
func notRuns(inputs []string, err error) error {
	for _, in := range inputs {
		if info, bad := os.Stat(in); bad == nil && info.IsDir() {
			if _, bad := analyze.Open(in); bad == nil {
				return hinted(fmt.Errorf("%s: expected logs, got a run", in), "it is ready: reprise analyze %s", in)
			}
		}
	}
	return err
}

// noQuery says which query was probably meant.
func noQuery(name string) error {
	var names []string
	for _, q := range queries.List() {
		names = append(names, q.Name)
	}
	return &coded{exitUsage, fmt.Errorf("no query %q; did you mean %q?", name, decode.Nearest(name, names)), "list them: reprise query --list"}
}

// checkBy refuses a dimension that does not exist.
func checkBy(by []string) error {
	known := queries.Dimensions()
	for _, name := range by {
		found := false
		for _, k := range known {
			found = found || k == name
		}
		if !found {
			return &coded{exitUsage, fmt.Errorf("--by: cannot group by %q; did you mean %q?", name, decode.Nearest(name, known)), "there are: " + strings.Join(known, ", ")}
		}
	}
	return nil
}

// checkParams refuses parameters that a query does not have.
func checkParams(q queries.Query, values map[string]string) error {
	var names []string
	known := map[string]bool{}
	for _, p := range queries.Parameters(q) {
		names, known[p.Name] = append(names, p.Name), true
	}
	for name := range values {
		switch {
		case known[name]:
		case len(names) == 0:
			return usage(fmt.Errorf("--param: the query %s has no parameters, got %q", q.Name, name))
		default:
			return &coded{exitUsage, fmt.Errorf("--param: the query %s has no parameter %q; did you mean %q?", q.Name, name, decode.Nearest(name, names)), "there are: " + strings.Join(names, ", ")}
		}
	}
	return nil
}

// checkTarget refuses an address without a scheme, or with one that is not HTTP.
func checkTarget(target string) error {
	u, err := url.Parse(target)
	if target == "" || err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		return nil
	}
	_, rest, found := strings.Cut(target, "://")
	if !found {
		rest = target
	}
	return &coded{exitUsage, fmt.Errorf("target: expected an address such as http://host:8000/v1, got %q", target), "write the scheme: http://" + rest}
}

// checkRange refuses a time range that holds no request of a run, and says what the run covers. A scope without bounds passes.
func checkRange(ctx context.Context, e *analyze.Engine, run *analyze.Run, sc analyze.Scope) error {
	if sc.From == nil && sc.To == nil {
		return nil
	}
	res, err := e.SQL(ctx, run, analyze.Scope{From: sc.From, To: sc.To}, "SELECT count(*) AS n FROM requests")
	if err != nil || res.Rows[0][0].(int64) > 0 {
		return err
	}
	id, err := e.Identify(ctx, run)
	if err != nil {
		return err
	}
	hint := "its requests have no time of arrival, so that --from and --to leave nothing"
	if id.FirstUS != nil {
		hint = fmt.Sprintf("the run covers %s to %s", rfc3339(*id.FirstUS), rfc3339(*id.LastUS))
	}
	return hinted(fmt.Errorf("%s: no request arrived in the time asked for%s", run.Path, rangeText(sc)), "%s", hint)
}

func rangeText(sc analyze.Scope) (text string) {
	if sc.From != nil {
		text += " from " + rfc3339(*sc.From)
	}
	if sc.To != nil {
		text += " to " + rfc3339(*sc.To)
	}
	return text
}
