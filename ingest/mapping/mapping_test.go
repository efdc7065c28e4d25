package mapping

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// preset finds one by name.
func preset(t *testing.T, name string) decode.Format {
	t.Helper()
	for _, f := range Presets() {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no preset %q", name)
	return decode.Format{}
}

// outcome is what a format made of some records.
type outcome struct {
	rows    []trace.Request
	skipped map[string]int
	errs    []error
}

// read gives every line to f as ingest does.
func read(t *testing.T, f decode.Format, o decode.Options, text []byte) outcome {
	t.Helper()
	if o.Hash == nil {
		o.Hash = decode.NewHasher([]byte("0123456789abcdef"))
	}
	got := outcome{skipped: map[string]int{}}
	c := decode.NewContext(o, "log.jsonl", func(r *trace.Request, _ []byte) {
		trace.Check(r)
		got.rows = append(got.rows, *r)
	}, func(reason string, n int64) { got.skipped[reason] += int(n) })
	decodeLine := lineDecoder(f)
	for line := range bytes.Lines(text) {
		c.Line++
		if err := decodeLine(c, bytes.TrimSpace(line)); err != nil {
			got.errs = append(got.errs, err)
		}
	}
	return got
}

// lineDecoder reads a line in the way that the format does.
func lineDecoder(f decode.Format) func(*decode.Context, []byte) error {
	if f.Group != nil {
		g := f.Group()
		f.JSON, f.Line = g.JSON, g.Line
	}
	if f.Line != nil {
		return f.Line
	}
	return func(c *decode.Context, line []byte) error {
		v, err := decode.Parse(line)
		if err != nil || v.Type() != decode.TypeObject {
			return c.Reject("bad_json", "%v", err)
		}
		return f.JSON(c, v)
	}
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
