package main

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"reprise": main})
}

// TestScripts runs every command as a person would, from testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("..", "..", "testdata", "script"),
		UpdateScripts: os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			root, err := filepath.Abs(filepath.Join("..", ".."))
			env.Setenv("TESTDATA", filepath.Join(root, "testdata"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			env.Setenv("NO_COLOR", "1")
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"lines":     linesOf,
			"sametree":  sameTree,
			"makebytes": makeBytes,
			"hex":       hexFile,
			"chop":      chop,
		},
	})
}

// exits CODE COMMAND... runs the command and checks its exit code, which `!` alone does not.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// linesOf N FILE checks the number of lines.
func linesOf(ts *testscript.TestScript, _ bool, args []string) {
	if n := strings.Count(ts.ReadFile(args[1]), "\n"); args[0] != strconv.Itoa(n) {
		ts.Fatalf("%s has %d lines, want %s", args[1], n, args[0])
	}
}

// sameTree A B checks that two folders hold the same files with the same bytes; ! that they do not.
func sameTree(ts *testscript.TestScript, neg bool, args []string) {
	a, b := tree(ts, args[0]), tree(ts, args[1])
	if (a == b) == neg {
		ts.Fatalf("%s and %s: same is %v", args[0], args[1], a == b)
	}
}

func tree(ts *testscript.TestScript, dir string) string {
	var all strings.Builder
	root := ts.MkAbs(dir)
	ts.Check(filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		b, err := os.ReadFile(path)
		all.WriteString(rel + "\x00" + string(b) + "\x00")
		return err
	}))
	return all.String()
}

// makeBytes FILE PREFIX N SUFFIX writes PREFIX, N times the letter x, SUFFIX and a newline; \n in them is a newline.
func makeBytes(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	line := func(s string) string { return strings.ReplaceAll(s, `\n`, "\n") }
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(line(args[1])+strings.Repeat("x", n)+line(args[3])+"\n"), 0o644))
}

// hexFile FILE HEX writes bytes given in hexadecimal.
func hexFile(ts *testscript.TestScript, _ bool, args []string) {
	b, err := hex.DecodeString(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o644))
}

// chop FILE N cuts the last N bytes off.
func chop(ts *testscript.TestScript, _ bool, args []string) {
	b := ts.ReadFile(args[0])
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b[:len(b)-n]), 0o644))
}
