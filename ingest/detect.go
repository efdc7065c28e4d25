package ingest

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"reprise/ingest/decode"
)

// container is how records stand in a file.
type container int

const (
	jsonLines container = iota
	jsonDocuments
	jsonFramed
	csvRows
	binaryFramed
	binaryWhole
	plainText
)

// found is the outcome of detection.
type found struct {
	format    *decode.Format
	container container
	signs     int
	runnerUp  string // the next best format, "" without one
}

// minSigns is how many independent signs a format must see: one key alone is a coincidence.
const minSigns = 2

// maxSample is how many records detection looks at: the first may be a health check or an error.
const maxSample = 50

// detect finds the container and the format of the input by its content, or only the container when the options say the
// format.
func detect(in *input, o Options) (found, error) {
	sampleHead, err := in.Peek(peekBytes)
	if len(sampleHead) == 0 {
		if err != nil && !errors.Is(err, io.EOF) {
			return found{}, err
		}
		return found{}, errEmpty
	}
	s := sample(sampleHead, in)
	switch {
	case o.Map != nil:
		if c, ok := s.containerOf(o.Map); ok {
			return found{format: o.Map, container: c}, nil
		}
		return found{}, fmt.Errorf("mapping %q does not read this kind of file: %s", o.Map.Name, s.describe())
	case o.Format != "":
		return byName(o.Format, &s)
	}
	best := found{container: s.container}
	second := 0
	for i := range Formats {
		f := &Formats[i]
		c, ok := s.containerOf(f)
		if !ok {
			continue
		}
		switch n := f.Detect(&s.Sample); {
		case n > best.signs:
			if best.format != nil {
				best.runnerUp, second = best.format.Name, best.signs
			}
			best.format, best.container, best.signs = f, c, n
		case n > second:
			best.runnerUp, second = f.Name, n
		}
	}
	if best.signs < minSigns {
		return best, &HintError{fmt.Errorf("unknown format: %s", s.describe()), "list what is understood: reprise formats; name it: -f NAME"}
	}
	return best, nil
}

var errEmpty = errors.New("file is empty")

func fits(f *decode.Format, c container) bool {
	if f.Group != nil {
		g := f.Group()
		return g.JSON != nil && (c == jsonLines || c == jsonDocuments) || g.Line != nil && c == plainText
	}
	switch c {
	case jsonLines, jsonDocuments, jsonFramed:
		return f.JSON != nil
	case csvRows:
		return f.CSV != nil
	case binaryFramed, binaryWhole:
		return f.Message != nil
	case plainText:
		return f.Line != nil
	}
	return false
}

// containerOf says how the records of a format would stand in the input. A text log may look like another container: its
// first line may have commas, or begin with a bracket.
func (s *sampled) containerOf(f *decode.Format) (container, bool) {
	if s.Message == nil && fits(f, plainText) {
		return plainText, true
	}
	return s.container, fits(f, s.container)
}

func byName(want string, s *sampled) (found, error) {
	var names []string
	for i := range Formats {
		if f := &Formats[i]; f.Name == want {
			c, ok := s.containerOf(f)
			if !ok {
				return found{}, fmt.Errorf("format %q does not come in this kind of file", want)
			}
			return found{format: f, container: c}, nil
		}
		names = append(names, Formats[i].Name)
	}
	return found{}, &HintError{fmt.Errorf("unknown format %q", want), "one of: " + strings.Join(names, ", ")}
}

type sampled struct {
	decode.Sample
	container container
	keys      []string
}

// sample parses the head of the input into what Detect functions look at. A first record that is longer than the head
// is read whole and put back.
func sample(headBytes []byte, in *input) sampled {
	s := sampled{Sample: decode.Sample{Head: headBytes}}
	switch first := bytes.TrimLeft(headBytes, " \t\r\n"); {
	case framed(headBytes):
		s.container = binaryFramed
		if rec, err := splitFramed(bufio.NewReader(bytes.NewReader(headBytes)))(); err == nil && rec.bad == nil && !rec.tail {
			s.Message = rec.data
			if rec.data[0] == '{' {
				s.container = jsonFramed
				s.addJSON(rec.data)
			}
		}
	case len(first) > 0 && (first[0] == '{' || first[0] == '['):
		s.sampleJSON(headBytes, in)
	case isBinary(headBytes):
		s.container, s.Message = binaryWhole, headBytes
	default:
		s.container = plainText
		line, _, _ := bytes.Cut(headBytes, []byte("\n"))
		if row, err := csv.NewReader(bytes.NewReader(line)).Read(); err == nil && len(row) > 1 {
			s.container, s.Header = csvRows, row
		}
	}
	return s
}

func (s *sampled) sampleJSON(headBytes []byte, in *input) {
	s.container = jsonLines
	if !bytes.ContainsRune(headBytes, '\n') && len(headBytes) == peekBytes && headBytes[0] == '{' {
		long, _, _ := readLine(in.Reader)
		headBytes = bytes.Clone(long)
		in.unread(headBytes)
	}
	s.take(splitLines(bufio.NewReader(bytes.NewReader(headBytes))))
	if len(s.Records) == 0 || headBytes[0] == '[' {
		s.container, s.Records = jsonDocuments, nil
		s.take(splitDocuments(bufio.NewReader(bytes.NewReader(headBytes))))
	}
}

func (s *sampled) take(next splitter) {
	for range maxSample {
		rec, err := next()
		if err != nil {
			return
		}
		s.addJSON(rec.data)
	}
}

func (s *sampled) addJSON(data []byte) {
	v, err := decode.Parse(data)
	if err != nil || v.Type() != decode.TypeObject {
		return
	}
	s.Records = append(s.Records, v)
	if len(s.Records) == 1 {
		v.GetObject().Visit(func(k []byte, _ *decode.Value) { s.keys = append(s.keys, string(head(k, 40))) })
	}
}

// describe says what the file looks like, for the error about an unknown format.
func (s *sampled) describe() string {
	switch s.container {
	case csvRows:
		return fmt.Sprintf("a CSV file with the columns %q", s.Header[:min(len(s.Header), 8)])
	case jsonLines, jsonDocuments, jsonFramed:
		if len(s.Records) == 0 {
			return "looks like JSON but no object of it parses"
		}
		return fmt.Sprintf("JSON objects with the keys %q", s.keys[:min(len(s.keys), 8)])
	case plainText:
		line, _, _ := bytes.Cut(s.Head, []byte("\n"))
		return fmt.Sprintf("text that begins %q", head(line, 60))
	}
	return "binary data (" + http.DetectContentType(s.Head) + ")"
}

// isBinary looks for bytes that no text log holds.
func isBinary(b []byte) bool {
	for _, c := range head(b, 512) {
		if c < 0x09 || c > 0x0d && c < 0x20 && c != 0x1b {
			return true
		}
	}
	return false
}
