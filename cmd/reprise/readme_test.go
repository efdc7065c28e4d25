package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/testdata/demo"
)

// TestReadme runs the console blocks of the README in one folder that holds the demo's log as gateway.jsonl.zst and its
// spans as spans.jsonl.zst. A line "..." stands for any lines, "..." inside a line for any text.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n > 300 {
		t.Errorf("README has %d lines, expected at most 300", n)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	for from, to := range map[string]string{"baseline.litellm.jsonl.zst": "gateway.jsonl.zst", "baseline.spans.jsonl.zst": "spans.jsonl.zst"} {
		b, err := demo.Files.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	blocks := regexp.MustCompile("(?s)```console\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) == 0 {
		t.Fatal("README has no console block")
	}
	for _, b := range blocks {
		for _, session := range strings.Split(string(b[1]), "$ ")[1:] {
			command, want, _ := strings.Cut(session, "\n")
			runConsole(t, command, want)
		}
	}
}

func runConsole(t *testing.T, command, want string) {
	t.Helper()
	args := words(command)
	if args[0] != "reprise" {
		return // another program's command is shown, not run
	}
	var out bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, err: &out}
	a.run(context.Background(), args[1:])
	if !wild(want).MatchString(strings.TrimRight(out.String(), "\n")) {
		t.Errorf("$ %s\ngot:\n%s\nwant:\n%s", command, out.String(), want)
	}
}

// words splits a command line at spaces, except inside single quotes.
func words(s string) []string {
	var out []string
	for i, part := range strings.Split(s, "'") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

func wild(want string) *regexp.Regexp {
	var parts []string
	for _, line := range strings.Split(strings.TrimRight(want, "\n"), "\n") {
		parts = append(parts, strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(line, " ")), `\.\.\.`, `(?s:.*)`)+" *")
	}
	return regexp.MustCompile("^" + strings.Join(parts, "\n") + "$")
}
