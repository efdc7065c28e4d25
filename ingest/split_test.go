package ingest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// all drains a splitter into "line:data" strings; refused records read "line!reason", half-written ones end in "~".
func all(t *testing.T, next splitter) []string {
	t.Helper()
	var got []string
	for {
		rec, err := next()
		s := fmt.Sprintf("%d:%s", rec.line, rec.data)
		if rec.bad != nil {
			s = fmt.Sprintf("%d!%s", rec.line, rec.bad.Reason)
		}
		if rec.row != nil {
			s = fmt.Sprintf("%d:%s", rec.line, strings.Join(rec.row, "|"))
		}
		if rec.tail {
			s += "~"
		}
		if err == nil || rec.data != nil {
			got = append(got, s)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			return got
		}
	}
}

func reader(s string) *bufio.Reader { return bufio.NewReaderSize(strings.NewReader(s), 16) }

func TestSplitLines(t *testing.T) {
	long := strings.Repeat("x", 100) // beyond the reader's buffer
	for in, want := range map[string][]string{
		"a\nb\n":            {"1:a", "2:b"},
		"a\r\n\r\n b \r\n":  {"1:a", "3:b"},
		"a\nhalf":           {"1:a", "2:half~"},
		long + "\n" + "b\n": {"1:" + long, "2:b"},
		"":                  nil,
		"\n\n":              nil,
	} {
		if got := all(t, splitLines(reader(in))); !slices.Equal(got, want) {
			t.Errorf("%.20q: got %q, want %q", in, got, want)
		}
	}
}

func TestSplitLinesRefusesTooLong(t *testing.T) { // ING-22
	in := io.MultiReader(strings.NewReader("a\n"), io.LimitReader(zeros{}, maxRecord+10), strings.NewReader("\nb\n"))
	got := all(t, splitLines(bufio.NewReaderSize(in, peekBytes)))
	if want := []string{"1:a", "2!too_long", "3:b"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestSplitDocuments(t *testing.T) { // ING-30
	for in, want := range map[string][]string{
		`[{"a":1},{"b":"}{"}]`:                {`1:{"a":1}`, `1:{"b":"}{"}`},
		"{\n \"a\": {}\n}\n{\"b\":\"\\\"}\"}": {"1:{\n \"a\": {}\n}", `4:{"b":"\"}"}`},
		"[\n{\"a\":1}\n,junk\n{\"b\":2}]":     {`2:{"a":1}`, "3!bad_json", `4:{"b":2}`},
		`[{"a":1},{"b":`:                      {`1:{"a":1}`, `1:{"b":~`},
		"[]":                                  nil,
	} {
		if got := all(t, splitDocuments(reader(in))); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestSplitCSV(t *testing.T) {
	header, next, err := splitCSV(reader("a,b\r\n1,\"x\ny\"\r\n2\r\n3,z"), ',')
	if err != nil || !slices.Equal(header, []string{"a", "b"}) {
		t.Fatalf("header %q, %v", header, err)
	}
	if got, want := all(t, next), []string{"2:1|x\ny", "4!bad_csv", "5:3|z"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSplitFramed(t *testing.T) { // ING-17
	z, _ := zstd.NewWriter(nil)
	frame := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	plain := slices.Concat(frame([]byte("\x0aone")), frame([]byte("\x0atwo")))
	packed := slices.Concat(frame(z.EncodeAll([]byte("\x0aone"), nil)), frame(z.EncodeAll([]byte("\x0atwo"), nil)))
	want := []string{"1:\x0aone", "2:\x0atwo"}
	for name, in := range map[string][]byte{"plain": plain, "each message compressed": packed} {
		if !framed(in) {
			t.Errorf("%s: not seen as framed", name)
		}
		if got := all(t, splitFramed(bufio.NewReader(bytes.NewReader(in)))); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	cut := all(t, splitFramed(bufio.NewReader(bytes.NewReader(plain[:len(plain)-2]))))
	if want := []string{"1:\x0aone", "2:~"}; !slices.Equal(cut, want) {
		t.Errorf("cut: got %q, want %q", cut, want)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n{\"b\""))
	f.Add([]byte("[{},{}]"))
	f.Add([]byte("a,b\n1,2\n"))
	f.Add([]byte("\x00\x00\x00\x04\x0aabc"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for name, next := range map[string]splitter{
			"lines": splitLines(bufio.NewReader(bytes.NewReader(b))), "documents": splitDocuments(bufio.NewReader(bytes.NewReader(b))),
			"framed": splitFramed(bufio.NewReader(bytes.NewReader(b))), "whole": splitWhole(bufio.NewReader(bytes.NewReader(b))),
		} {
			for n := 0; ; n++ {
				if _, err := next(); err != nil {
					break
				}
				if n > len(b)+2 {
					t.Fatalf("%s: more records than bytes", name)
				}
			}
		}
	})
}
