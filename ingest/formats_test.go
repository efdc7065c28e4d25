package ingest

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"reprise/ingest/decode"
)

// TestExamples reads each format's example line as a file of unknown format.
func TestExamples(t *testing.T) {
	for _, f := range Formats() {
		if f.Example == "" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			acc, err := Run(context.Background(), Options{Run: t.TempDir(), Stdin: example(t, f), Options: decode.Options{Hash: decode.NewHasher(make([]byte, 16))}}, "-")
			if err != nil {
				t.Fatal(err)
			}
			in := acc.Inputs[0]
			kept := in.Kept > 0 && in.Read == in.Kept+in.Skipped["part_of_request"] || in.Skipped["no_requests_in_this_log"] == in.Read
			if in.Format != f.Name || !kept {
				t.Errorf("read as %s (runner-up %q): %+v", in.Format, in.RunnerUp, in)
			}
		})
	}
}

// example gives the bytes of a format's example: those of a binary one are written in hex.
func example(t *testing.T, f decode.Format) io.Reader {
	if f.JSON != nil || f.CSV != nil || f.Line != nil || f.Group != nil {
		return bytes.NewReader([]byte(f.Example + "\n"))
	}
	b, err := hex.DecodeString(f.Example)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b)
}

// Every format says what it is. Two have no example that a file of unknown format could be: ServeGen's files are refused,
// and mooncake-delta looks like mooncake.
func TestDescriptions(t *testing.T) {
	for _, f := range Formats() {
		if f.Title == "" || f.About == "" || f.Units == "" || f.Defects == "" || (f.Example == "") != (f.Name == "servegen" || f.Name == "mooncake-delta") {
			t.Errorf("%s: title %q, %d bytes about, units %q, defects %q, example %q", f.Name, f.Title, len(f.About), f.Units, f.Defects, f.Example)
		}
		if f.Detect == nil || len(f.Containers()) == 0 || strings.Contains(f.Title, "|") {
			t.Errorf("%s: no detection, no container, or a title that breaks a table", f.Name)
		}
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Formats() {
		if seen[f.Name] {
			t.Errorf("two formats are called %q", f.Name)
		}
		seen[f.Name] = true
	}
	own := decode.Format{Name: "caddy", JSON: func(*decode.Context, *decode.Value) error { return nil }}
	_, err := Run(context.Background(), Options{Run: t.TempDir(), Stdin: strings.NewReader("{}\n"), Map: &own}, "-")
	if err == nil || !strings.Contains(err.Error(), `mapping "caddy" has the name of a format`) {
		t.Errorf("got %v, want an error about the name", err)
	}
}
