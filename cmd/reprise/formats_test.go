package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is made from the program into the README")

// TestReadmeFormats: the README's table is the list of formats.
func TestReadmeFormats(t *testing.T) {
	const begin, end = "-update -->\n", "<!-- end of formats -->"
	list, err := described(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.NewBufferString("\n| format | what | reads |\n|---|---|---|\n")
	for _, d := range list {
		fmt.Fprintf(want, "| %s | %s | %s |\n", d.Name, d.Title, strings.Join(d.Reads, ", "))
	}
	want.WriteString("\n")
	name := filepath.Join("..", "..", "README.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("README.md has no %q or no %q behind it", strings.TrimSpace(begin), end)
	}
	if got == want.String() {
		return
	}
	if !*update {
		t.Fatalf("the README's table of formats is out of date: run this test with -update, or paste\n%s", want)
	}
	if err := os.WriteFile(name, []byte(before+begin+want.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
