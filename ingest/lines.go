package ingest

import (
	"bytes"
	"io"
)

// lineReader cuts an input into runs of whole lines. It reads straight into the buffers that decoders work on: only a
// line that begins in one run and ends in the next is copied.
type lineReader struct {
	r     io.Reader
	rest  []byte // the begin of the next line
	line  int64  // lines given so far
	lines int    // in the run before
}

// lineRun is a run of lines, or the refusal of one that was too long.
type lineRun struct {
	data []byte
	ends []int32 // in data, of the lines that are not taken yet; the last may have none
	at   int     // where the first of them begins
	line int64   // number of the line before it
	bad  record  // in place of data, when its reason is set
	err  error   // why nothing comes behind data; its last line may be half written then
}

// next returns at least want bytes of lines in buf, fewer at the end of the input. Of a line longer than maxRecord only
// the length is kept.
func (l *lineReader) next(buf []byte, want int) lineRun {
	buf, l.rest = append(buf[:0], l.rest...), l.rest[:0]
	for end := 0; ; {
		if cap(buf)-len(buf) <= want/32 {
			buf = append(make([]byte, 0, min(2*cap(buf), maxRecord)+want+want/16), buf...)
		}
		had := len(buf)
		n, err := l.r.Read(buf[had:min(had+want, cap(buf))])
		buf = buf[:had+n]
		if i := bytes.LastIndexByte(buf[had:], '\n'); i >= 0 {
			end = had + i + 1
		}
		switch {
		case err != nil:
			return l.give(buf, err)
		case end > 0 && len(buf) >= want:
			l.rest = append(l.rest, buf[end:]...)
			return l.give(buf[:end], nil)
		case end == 0 && len(buf) > maxRecord:
			return l.skip(buf)
		}
	}
}

func (l *lineReader) give(data []byte, err error) lineRun {
	run := lineRun{data: data, line: l.line, err: err, ends: make([]int32, 0, l.lines+l.lines/8)}
	for at := 0; ; {
		n := bytes.IndexByte(data[at:], '\n') + 1
		if n == 0 {
			break
		}
		at += n
		run.ends = append(run.ends, int32(at))
	}
	l.lines = len(run.ends)
	l.line += int64(l.lines)
	return run
}

// skip drops the line that begins with buf.
func (l *lineReader) skip(buf []byte) lineRun {
	for size := len(buf); ; {
		n, err := l.r.Read(buf[:min(cap(buf), blockBytes)])
		end := bytes.IndexByte(buf[:n], '\n') + 1
		if end == 0 && err == nil {
			size += n
			continue
		}
		if l.line++; end == 0 {
			return lineRun{bad: tooLong(l.line, size+n), line: l.line, err: err}
		}
		l.rest = append(l.rest, buf[end:n]...) // err comes again
		return lineRun{bad: tooLong(l.line, size+end), line: l.line}
	}
}

func tooLong(line int64, bytes int) record {
	return refuse(line, "too_long", "expected at most %d MiB in a line, got %d bytes", maxRecord>>20, bytes)
}

// empty says that there is no record in the run.
func (r *lineRun) empty() bool { return r.at == len(r.data) && r.bad.bad == nil }

// take cuts the next line that is not empty off the run; false when there is none.
func (r *lineRun) take() (rec record, ok bool) {
	if rec, r.bad = r.bad, rec; rec.bad != nil {
		return rec, true
	}
	for r.at < len(r.data) {
		to, half := len(r.data), len(r.ends) == 0
		if !half {
			to, r.ends = int(r.ends[0]), r.ends[1:]
		}
		line := r.data[r.at:to]
		n := len(line)
		r.at, r.line = to, r.line+1
		if n > maxRecord {
			return tooLong(r.line, n), true
		}
		if line[0] == 0 { // a file that was emptied under its writer
			line = bytes.TrimLeft(line, "\x00")
		}
		if line = bytes.TrimSpace(line); len(line) > 0 || half {
			return record{line: r.line, data: line, tail: half}, true
		}
	}
	return record{}, false
}
