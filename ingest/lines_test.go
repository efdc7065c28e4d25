package ingest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// Lines come out the same however they fall on runs and reads: the oracle is a plain split of the text.
func TestRunsOfLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var text []byte
		for range rng.IntN(40) {
			text = append(append(text, bytes.Repeat([]byte("x"), rng.IntN(80))...), "\n\n\r\n "[rng.IntN(3):]...)
		}
		var want []string
		lines := bytes.SplitAfter(text, []byte("\n"))
		for i, line := range lines {
			if s := strings.TrimSpace(string(line)); i == len(lines)-1 && len(line) > 0 {
				want = append(want, fmt.Sprintf("%d:%s~", i+1, s))
			} else if s != "" {
				want = append(want, fmt.Sprintf("%d:%s", i+1, s))
			}
		}
		for _, size := range []int{1, 33, 100, 5000} {
			for name, r := range map[string]io.Reader{"whole": bytes.NewReader(text), "bytes": iotest.OneByteReader(bytes.NewReader(text)),
				"halves": iotest.HalfReader(bytes.NewReader(text)), "with its end": iotest.DataErrReader(bytes.NewReader(text))} {
				if got := tails(t, splitRuns(&lineReader{r: r}, size)); !slices.Equal(got, want) {
					t.Fatalf("%q in runs of %d, read by %s: got %q, want %q", text, size, name, got, want)
				}
			}
		}
	}
}

// tails is all, but with half lines that are empty.
func tails(t *testing.T, next splitter) (got []string) {
	for {
		rec, err := next()
		if err == io.EOF {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		s := fmt.Sprintf("%d:%s", rec.line, rec.data)
		if rec.tail {
			s += "~"
		}
		got = append(got, s)
	}
}

// A read error behind a line that is too long must not lose what was read with it.
func TestTooLongThenError(t *testing.T) {
	in := io.MultiReader(strings.NewReader("a\n"), io.LimitReader(zeros{}, maxRecord+3*blockBytes), strings.NewReader("\nb\nha"), iotest.ErrReader(errCut))
	next := splitLines(in)
	var got []string
	for {
		rec, err := next()
		if err != nil {
			if err != errCut {
				t.Error(err)
			}
			break
		}
		if rec.bad != nil {
			got = append(got, rec.bad.Detail)
		} else {
			got = append(got, string(rec.data))
		}
	}
	if want := []string{"a", fmt.Sprintf("expected at most 64 MiB in a line, got %d bytes", maxRecord+3*blockBytes+1), "b", "ha"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
