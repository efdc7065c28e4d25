package ingest

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"

	"reprise/ingest/decode"
)

// container is how records stand in a file.
type container int

const (
	jsonLines container = iota
	jsonDocuments
	jsonFramed
	jsonBehind // lines with text before the object: what a container runtime or syslog puts there
	csvRows
	textLines
	binaryFramed
	binaryWhole
)

// look is one way to read the head of an input.
type look struct {
	decode.Sample
	container container
	comma     rune     // between the fields of a row
	wrapper   *wrapper // nil when the records are those of the file
	asText    bool     // the wrapper holds lines of text
	keys      []string
}

// lookAt reads the head of the input in the ways it can be read, the likeliest first. A first record that is longer than
// the head is read whole and put back.
func lookAt(headBytes []byte, in *input) []look {
	headBytes = bytes.Clone(headBytes) // reading on overwrites what was peeked at
	l := look{Sample: decode.Sample{Head: headBytes}}
	switch first := bytes.TrimLeft(headBytes, " \t\r\n"); {
	case framed(headBytes):
		l.container = binaryFramed
		if rec, err := splitFramed(bufio.NewReader(bytes.NewReader(headBytes)))(); err == nil && rec.bad == nil && !rec.tail {
			l.Message = rec.data
			if rec.data[0] == '{' {
				l.container = jsonFramed
				l.addJSON(rec.data)
				return append([]look{l}, l.wrapped()...)
			}
		}
	case len(first) > 0 && (first[0] == '{' || first[0] == '['):
		if l.sampleJSON(headBytes, in); len(l.Records) == 0 {
			return append([]look{l}, looksAtText(headBytes)...)
		}
		list := append([]look{l}, l.wrapped()...)
		return append(list, look{Sample: decode.Sample{Head: headBytes}, container: textLines})
	case isBinary(headBytes):
		l.container, l.Message = binaryWhole, headBytes
	default:
		return looksAtText(headBytes)
	}
	return []look{l}
}

func (l *look) sampleJSON(headBytes []byte, in *input) {
	l.container = jsonLines
	if !bytes.ContainsRune(headBytes, '\n') && len(headBytes) == peekBytes && headBytes[0] == '{' {
		long, _, _ := readLine(in.Reader)
		headBytes = bytes.Clone(long)
		in.unread(headBytes)
	}
	l.take(splitLines(bufio.NewReader(bytes.NewReader(headBytes))))
	if lines := l.Records; len(lines) == 0 || headBytes[0] == '[' || !wholeLine(headBytes) {
		l.container, l.Records, l.keys = jsonDocuments, nil, nil
		if l.take(splitDocuments(bufio.NewReader(bytes.NewReader(headBytes)))); len(l.Records) == 0 && len(lines) > 0 {
			l.container, l.Records = jsonLines, lines
		}
	}
	if len(l.Records) == 0 && len(headBytes) == peekBytes && headBytes[0] == '{' {
		l.takeLong(in)
	}
}

// wholeLine says that the first line may be an object by itself: a pretty-printed one may hold lines that are.
func wholeLine(headBytes []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimSpace(headBytes), []byte("\n"))
	return bytes.HasSuffix(bytes.TrimSpace(line), []byte("}"))
}

// takeLong reads an object of many lines that is longer than the head, and puts it back.
func (l *look) takeLong(in *input) {
	var all bytes.Buffer
	r := bufio.NewReaderSize(io.TeeReader(io.LimitReader(in.Reader, maxRecord), &all), 64<<10)
	first, _ := r.ReadByte()
	whole, _, err := readObject(r, []byte{first})
	in.unread(all.Bytes())
	if err == nil {
		l.addJSON(whole)
	}
}

func (l *look) take(next splitter) {
	for range maxSample {
		rec, err := next()
		if err != nil {
			return
		}
		l.addJSON(rec.data)
	}
}

func (l *look) addJSON(data []byte) {
	v, err := decode.Parse(data)
	if err != nil || v.Type() != decode.TypeObject {
		return
	}
	l.Records = append(l.Records, v)
	if len(l.Records) == 1 {
		v.GetObject().Visit(func(k []byte, _ *decode.Value) { l.keys = append(l.keys, string(head(k, 40))) })
	}
}

// looksAtText reads text as JSON behind a prefix, as rows and as lines.
func looksAtText(headBytes []byte) (list []look) {
	plain := decode.Sample{Head: headBytes}
	behind := look{Sample: plain, container: jsonBehind}
	next := splitLines(bytes.NewReader(headBytes))
	var first []byte
	for range maxLines {
		rec, err := next()
		if err != nil || len(behind.Records) == maxSample {
			break
		}
		if rec.bad == nil {
			if first == nil {
				first = rec.data
			}
			behind.addJSON(behindPrefix(rec.data))
		}
	}
	if len(behind.Records) > 0 {
		list = append(append(list, behind), behind.wrapped()...)
	}
	cr := csv.NewReader(bytes.NewReader(first))
	cr.Comma = comma(first)
	if row, err := cr.Read(); err == nil && len(row) > 1 {
		rows := look{Sample: plain, container: csvRows, comma: cr.Comma}
		rows.Header = row
		list = append(list, rows)
	}
	return append(list, look{Sample: plain, container: textLines})
}

// behindPrefix returns the line from the brace of an object on, if it ends with one; else nil.
func behindPrefix(line []byte) []byte {
	i := bytes.Index(line, []byte(`{"`)) // a prefix may hold braces too: request{id=7}: {"a":1}
	if i < 0 {
		i = bytes.IndexByte(line, '{')
	}
	if i >= 0 && line[len(line)-1] == '}' {
		return line[i:]
	}
	return nil
}

// comma returns what separates the fields of a header: the most frequent of comma, tab and semicolon.
func comma(header []byte) rune {
	best, most := ',', bytes.Count(header, []byte{','})
	for _, c := range "\t;" {
		if n := bytes.Count(header, []byte{byte(c)}); n > most {
			best, most = c, n
		}
	}
	return best
}

// describe says what the file looks like, for the error about an unknown format.
func (l *look) describe() string {
	switch l.container {
	case csvRows:
		return fmt.Sprintf("a CSV file with the columns %q", l.Header[:min(len(l.Header), 8)])
	case jsonLines, jsonDocuments, jsonFramed, jsonBehind:
		if len(l.Records) == 0 {
			return "looks like JSON but no object of it parses"
		}
		return fmt.Sprintf("JSON objects with the keys %q", l.keys[:min(len(l.keys), 8)])
	case textLines:
		line, _, _ := bytes.Cut(l.Head, []byte("\n"))
		return decode.Told(fmt.Sprintf("text that begins %q", head(line, 60)))
	}
	return "binary data (" + http.DetectContentType(l.Head) + ")"
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
