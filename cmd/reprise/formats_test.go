package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/queries"
)

var update = flag.Bool("update", false, "write what is made from the program into the README")

// TestReadmeFormats: the README's table is the list of formats.
func TestReadmeFormats(t *testing.T) {
	list, err := described(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.NewBufferString("\n| format | what | format | what |\n|---|---|---|---|\n")
	for two := range slices.Chunk(list, 2) { // two to a line, or the table is half of the page
		for _, d := range two {
			fmt.Fprintf(want, "| %s | %s: %s ", d.Name, d.Title, strings.Join(d.Reads, ", "))
		}
		want.WriteString("|\n")
	}
	readmeTable(t, "formats", want.String()+"\n")
}

// TestReadmeMetrics: the README's table is what the queries' headers say, in order of what a log must hold for it, large
// families first.
func TestReadmeMetrics(t *testing.T) {
	list := queries.List()
	slices.SortStableFunc(list, func(a, b queries.Query) int {
		return cmp.Or(strings.Compare(a.Level, b.Level), len(b.Metrics)-len(a.Metrics))
	})
	want := bytes.NewBufferString("\n| metric | unit | formula | query | needs |\n|---|---|---|---|---|\n")
	for _, q := range list {
		for _, m := range q.Metrics {
			fmt.Fprintf(want, "| %s | %s | %s | `%s` | %s |\n", m.Name, m.Unit, m.Formula, q.Name, q.Level)
		}
	}
	readmeTable(t, "metrics", want.String()+"\n")
}

// readmeTable holds what the README has between the marks of a table against what it should have.
func readmeTable(t *testing.T, table, want string) {
	name, end := filepath.Join("..", "..", "README.md"), "<!-- end of "+table+" -->"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), end)
	at := strings.LastIndex(before, "-update -->\n")
	if !ok || at < 0 {
		t.Fatalf("README.md has no %s behind a line that ends with -update -->", end)
	}
	at += len("-update -->\n")
	if before[at:] == want {
		return
	}
	if !*update {
		t.Fatalf("the README's table of %s is out of date: run this test with -update, or paste\n%s", table, want)
	}
	if err := os.WriteFile(name, []byte(before[:at]+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
