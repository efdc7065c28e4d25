package ingest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"reprise/ingest/decode"
)

// maxRecord bounds one line, document or message. Longer ones are refused by their length and the file goes on.
const maxRecord = 64 << 20

// record is one unit of a container. data is valid until the next call of the splitter.
type record struct {
	line int64
	data []byte
	row  []string          // CSV
	bad  *decode.LineError // refused before decoding
	tail bool              // the input ends right behind it, without a newline: it may be half written
}

// splitter returns the next record, io.EOF at the end, errCut (wrapped) where compressed data ends too early.
type splitter func() (record, error)

func refuse(line int64, reason, format string, args ...any) record {
	return record{line: line, bad: &decode.LineError{Line: line, Reason: reason, Detail: fmt.Sprintf(format, args...)}}
}

// splitLines gives the non-empty lines.
func splitLines(r io.Reader) splitter { return splitRuns(&lineReader{r: r}, blockBytes) }

// splitRuns gives the lines of runs of want bytes.
func splitRuns(l *lineReader, want int) splitter {
	var run lineRun
	return func() (record, error) {
		for {
			if rec, ok := run.take(); ok {
				return rec, nil
			}
			if run.err != nil {
				return record{}, run.err
			}
			run = l.next(nil, want)
		}
	}
}

// readLine returns a line with its newline and its length; err says that the input ended behind it. Of a line that is
// too long only the length is kept.
func readLine(r *bufio.Reader) (line []byte, n int, err error) {
	part, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, len(part), err
	}
	for ; ; part, err = r.ReadSlice('\n') {
		if n += len(part); n <= maxRecord {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, n, err
		}
	}
}

// splitDocuments gives the JSON objects of an array, of a pretty-printed file, or of objects back to back.
func splitDocuments(r *bufio.Reader) splitter {
	var buf []byte
	line := int64(1)
	return func() (record, error) {
		for {
			c, err := r.ReadByte()
			if err != nil {
				return record{}, err
			}
			switch c {
			case '\n':
				line++
			case ' ', '\t', '\r', ',', '[', ']':
			case '{':
				start := line
				var lines int64
				buf, lines, err = readObject(r, append(buf[:0], c))
				line += lines
				if len(buf) > maxRecord {
					return refuse(start, "too_long", "expected at most %d MiB in an object, got more", maxRecord>>20), nil
				}
				return record{line: start, data: buf, tail: err != nil}, nil
			default:
				junk, _, _ := readLine(r)
				line++
				return refuse(line-1, "bad_json", "expected an object, got %q", append([]byte{c}, head(junk, 20)...)), nil
			}
		}
	}
}

// readObject reads up to the brace that closes the object, skipping strings. One that is too long is read and dropped.
func readObject(r *bufio.Reader, buf []byte) (_ []byte, lines int64, err error) {
	depth, quoted, escaped := 1, false, false
	for depth > 0 {
		c, err := r.ReadByte()
		if err != nil {
			return buf, lines, err
		}
		if len(buf) <= maxRecord {
			buf = append(buf, c)
		}
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == '\n':
			lines++
		}
	}
	return buf, lines, nil
}

// splitCSV gives the rows behind the header row.
func splitCSV(r *bufio.Reader, comma rune) (header []string, next splitter, err error) {
	limit := &limitReader{r: r}
	cr := csv.NewReader(limit)
	cr.ReuseRecord, cr.Comma = false, comma
	cr.LazyQuotes = comma == '\t' // database dumps quote nothing, and their cells hold JSON
	if header, err = cr.Read(); err != nil {
		return nil, nil, fmt.Errorf("reading CSV header: %w", err)
	}
	return header, func() (record, error) {
		limit.n = 0
		row, err := cr.Read()
		line, _ := cr.FieldPos(0)
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			return refuse(int64(bad.StartLine), "bad_csv", "expected %d fields, got %d: %v", len(header), len(row), bad.Err), nil
		}
		return record{line: int64(line), row: row}, err
	}, nil
}

// limitReader stops a quote that is never closed from reading the whole file into one field.
type limitReader struct {
	r io.Reader
	n int
}

func (l *limitReader) Read(p []byte) (int, error) {
	if l.n > maxRecord {
		return 0, fmt.Errorf("CSV row is longer than %d MiB: a quote that is never closed?", maxRecord>>20)
	}
	n, err := l.r.Read(p)
	l.n += n
	return n, err
}

// splitFramed gives length-framed messages, each possibly compressed on its own (formats.md 5.1, ING-17).
func splitFramed(r *bufio.Reader) splitter {
	message := int64(0)
	z, zerr := newZstd(nil)
	return func() (record, error) {
		message++
		var size [4]byte
		if n, err := io.ReadFull(r, size[:]); err != nil {
			return record{line: message, tail: true}, ifPart(n, err)
		}
		n := binary.BigEndian.Uint32(size[:])
		if n > maxRecord {
			skipped, err := io.CopyN(io.Discard, r, int64(n))
			if err != nil {
				return record{line: message, tail: true}, ifPart(int(skipped), err)
			}
			return refuse(message, "too_long", "expected at most %d MiB in a message, got %d bytes", maxRecord>>20, n), nil
		}
		data := make([]byte, n)
		if _, err := io.ReadFull(r, data); err != nil {
			return record{line: message, tail: true}, ifPart(1, err)
		}
		if bytes.HasPrefix(data, zstdMagic) && zerr == nil {
			plain, err := z.DecodeAll(data, nil)
			if err != nil {
				return refuse(message, "bad_zstd", "expected a zstd frame: %v", err), nil
			}
			data = plain
		}
		return record{line: message, data: data}, nil
	}
}

// ifPart turns the end of the input inside a record into a half-written record (nil error), and keeps a clean end.
func ifPart(n int, err error) error {
	if n > 0 && errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// splitWhole gives the whole input as one message.
func splitWhole(r *bufio.Reader) splitter {
	done := false
	return func() (record, error) {
		if done {
			return record{}, io.EOF
		}
		done = true
		data, err := io.ReadAll(io.LimitReader(r, maxRecord+1))
		if err != nil {
			return record{}, err
		}
		if len(data) > maxRecord {
			return refuse(1, "too_long", "expected at most %d MiB in a message, got more", maxRecord>>20), nil
		}
		return record{line: 1, data: data}, nil
	}
}

func head(b []byte, n int) []byte { return b[:min(n, len(b))] }
