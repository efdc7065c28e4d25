package ingest

import (
	"errors"
	"io"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// block is a run of lines or of other records on their way to a decoder, and what came of them.
type block struct {
	lines   lineRun
	records []record
	buf     []byte // what lines or records point into
	size    int
	err     error // why the reader stopped behind this block
	done    chan struct{}

	rows       []*trace.Request
	bodies     []trace.Body
	skipped    map[string]int64
	rejected   []*decode.LineError
	incomplete int64
	seen       Seen
	read       int64 // rows, skipped, rejected and incomplete ones
}

func newBlock(lines lineRun) *block {
	return &block{done: make(chan struct{}), skipped: map[string]int64{}, seen: newSeen(), lines: lines, buf: lines.data, size: len(lines.data), err: lines.err}
}

func (b *block) empty() bool { return len(b.records) == 0 && b.lines.empty() }

// take returns the next record of the block.
func (b *block) take() (record, bool) {
	if len(b.records) == 0 {
		return b.lines.take()
	}
	rec := b.records[0]
	b.records = b.records[1:]
	return rec, true
}

// blocksOf gathers the records of a splitter into blocks.
func blocksOf(next splitter) func(buf []byte) *block {
	return func(buf []byte) *block {
		b := newBlock(lineRun{data: buf[:0]})
		for b.size < blockBytes && b.err == nil {
			rec, err := next()
			if b.err = err; rec.data != nil || rec.row != nil || rec.bad != nil || rec.tail && err == nil {
				b.add(rec)
			}
		}
		return b
	}
}

func (b *block) add(rec record) {
	if len(rec.data) > blockBytes { // too large to copy twice
		rec.data = append([]byte(nil), rec.data...)
	} else {
		start := len(b.buf)
		b.buf = append(b.buf, rec.data...)
		rec.data = b.buf[start:len(b.buf):len(b.buf)]
	}
	b.records = append(b.records, rec)
	for _, f := range rec.row {
		b.size += len(f)
	}
	b.size += len(rec.data) + 16
}

func (b *block) skip(reason string, n int64) {
	b.skipped[reason] += n
	b.read += n
}

func (b *block) reject(bad *decode.LineError) {
	b.rejected = append(b.rejected, bad)
	b.read++
}

// failed counts a record that could not be decoded, or those of its rows that could not.
func (b *block) failed(rec record, err error) {
	var rows rowErrors
	switch {
	case errors.As(err, &rows):
		for _, err := range rows {
			b.refused(rec.line, err)
		}
	case rec.tail:
		b.incomplete++
		b.read++
	default:
		b.refused(rec.line, err)
	}
}

// refused counts a record that a decoder refused.
func (b *block) refused(line int64, err error) {
	var bad *decode.LineError
	if !errors.As(err, &bad) {
		bad = &decode.LineError{Line: line, Reason: "bad_record", Detail: err.Error()}
	}
	b.reject(bad)
}

// worker decodes blocks, one after the other.
type worker struct {
	*conversion
	ctx    *decode.Context
	parser decode.Parser
	b      *block
	rows   int // of the block before
}

func (c *conversion) newWorker() *worker {
	w := &worker{conversion: c}
	w.ctx = decode.NewContext(c.Options.Options, c.in.base, w.emit, func(reason string, n int64) { w.b.skip(reason, n) })
	w.ctx.Spare = c.writer.Spare
	return w
}

func (w *worker) work(blocks <-chan *block) {
	for w.b = range blocks {
		w.block()
		close(w.b.done)
	}
}

// emit checks a request and puts it into the block.
func (w *worker) emit(r *trace.Request, body []byte) {
	trace.Check(r)
	if w.Zone != nil && w.Zone != time.UTC && r.Arrival != nil && r.HasQuality(trace.QNaiveTime) && shownTwice(*r.Arrival, w.Zone) {
		r.AddQuality(trace.QHourTwice)
	}
	if r.Arrival != nil && (w.Since != nil && *r.Arrival < *w.Since || w.Until != nil && *r.Arrival >= *w.Until) {
		w.b.skip("outside_time_range", 1)
		return
	}
	w.ctx.Scrub(r)
	for _, field := range w.HashNames {
		for _, name := range r.Names(field) {
			*name = w.Hash.Name(field, *name)
		}
	}
	w.b.rows = append(w.b.rows, r)
	w.b.seen.see(r)
	w.b.read++
	if body != nil && w.KeepBodies {
		w.b.bodies = append(w.b.bodies, trace.Body{RequestID: r.RequestID, Attempt: r.Attempt, Body: body})
	}
}

// block turns the block's records into checked requests and counts the rest.
func (w *worker) block() {
	b := w.b
	b.rows = make([]*trace.Request, 0, w.rows)
	for rec, ok := b.take(); ok; rec, ok = b.take() {
		w.ctx.Line = rec.line
		before := b.read
		if err := w.record(rec); err != nil {
			b.failed(rec, err)
		} else if b.read == before && w.end == nil { // a group may hold it back
			b.skip("empty", 1)
		}
	}
	if b.err != nil && w.end != nil { // the last block
		w.end(w.ctx)
	}
	w.rows = len(b.rows)
	w.recycle(b.buf)
	b.lines, b.records, b.buf = lineRun{}, nil, nil
}

func (w *worker) record(rec record) error {
	if rec.bad != nil {
		return rec.bad
	}
	if rec.tail && rec.data == nil {
		return io.ErrUnexpectedEOF
	}
	return w.decode(w.ctx, &w.parser, rec)
}
