package ingest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// pairs is a text log in which "+ID" begins a request and "-ID" ends it; anything else is another line.
func pairs() decode.Format {
	return decode.Format{Name: "pairs", Group: func() decode.Group {
		open := map[string]*trace.Request{}
		var order []string
		return decode.Group{
			Line: func(c *decode.Context, line []byte) error {
				id := string(line[1:])
				switch r := open[id]; {
				case line[0] == '+':
					r = c.New("pairs", trace.Engine)
					r.RequestID, open[id], order = id, r, append(order, id)
					c.Skip("begin")
				case line[0] == '-' && r != nil:
					delete(open, id)
					r.ErrorClass = trace.ClassOK
					c.Emit(r, nil)
				default:
					c.Skip("other_line")
				}
				return nil
			},
			End: func(c *decode.Context) {
				for _, id := range order {
					if r := open[id]; r != nil {
						r.ErrorClass = trace.ClassInFlight
						c.Emit(r, nil)
					}
				}
			},
		}
	}}
}

// TestGroup: requests whose lines are blocks apart meet, whatever the number of workers; what is open at the end is kept
// too; the account adds up.
func TestGroup(t *testing.T) {
	text := strings.Builder{}
	text.WriteString("+a\n+b\n")
	for text.Len() < 3*blockBytes {
		text.WriteString("filler, with a comma\n")
	}
	text.WriteString("-b\n")
	file := filepath.Join(t.TempDir(), "in.log")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	f := pairs()
	run := t.TempDir()
	o := Options{Run: run, Map: &f, Workers: 4, Options: decode.Options{Hash: decode.NewHasher(bytes.Repeat([]byte{1}, 16))}}
	a, err := Run(context.Background(), o, file)
	if err != nil {
		t.Fatal(err)
	}
	got := a.Inputs[0]
	other := int64(strings.Count(text.String(), "filler"))
	if got.Kept != 2 || got.Read != 2+2+other || !cmp.Equal(got.Skipped, map[string]int64{"begin": 2, "other_line": other}) {
		t.Errorf("account %+v", got)
	}
	var rows []string
	for r, err := range trace.Read(got.Parts...) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r.RequestID+" "+r.ErrorClass)
	}
	if want := []string{"a in_flight", "b ok"}; !cmp.Equal(rows, want) {
		t.Errorf("got %q, want %q", rows, want)
	}
}
