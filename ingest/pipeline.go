package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// blockBytes is how much a decoder takes at a time.
const blockBytes = 1 << 20

// conversion is the work on one input: one reader, Workers decoders, one writer; blocks keep their order.
type conversion struct {
	Options
	in      *input
	found   found
	account *FileAccount
	writer  *trace.Writer
	decode  func(*decode.Context, *decode.Parser, record) error
	spare   chan []byte // buffers of blocks that are done: most of what a conversion would allocate
}

// block is a run of records on their way to a decoder, and what came of them.
type block struct {
	records []record
	buf     []byte
	err     error // why the reader stopped behind this block
	done    chan struct{}

	rows       []*trace.Request
	bodies     []trace.Body
	skipped    map[string]int64
	rejected   []*decode.LineError
	incomplete int64
	read       int64
}

func (c *conversion) run(ctx context.Context) error {
	next, err := c.open()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	workers := max(c.Workers, 1)
	order, work := make(chan *block, workers), make(chan *block)
	c.spare = make(chan []byte, 2*workers+2)
	go c.read(ctx, next, order, work)
	for range workers {
		go func() {
			var p decode.Parser
			for b := range work {
				c.decodeBlock(b, &p)
				close(b.done)
			}
		}()
	}
	for b := range order {
		<-b.done
		if err := c.store(b); err != nil {
			stop()
			for range order { // let the reader see that it must stop
			}
			return err
		}
	}
	return ctx.Err()
}

// open builds the splitter and the decoding function of the container.
func (c *conversion) open() (splitter, error) {
	f := c.found.format
	fromJSON := func(ctx *decode.Context, p *decode.Parser, r record) error {
		v, err := p.ParseBytes(r.data)
		if err != nil {
			return ctx.Reject("bad_json", "expected a JSON object, got %q: %s", head(r.data, 40), head([]byte(err.Error()), 80))
		}
		if v.Type() != decode.TypeObject {
			return ctx.Reject("bad_json", "expected a JSON object, got %s", v.Type())
		}
		return f.JSON(ctx, v)
	}
	fromBinary := func(ctx *decode.Context, _ *decode.Parser, r record) error { return f.Message(ctx, r.data) }
	switch c.found.container {
	case csvRows:
		header, next, err := splitCSV(c.in.Reader)
		if err != nil {
			return nil, err
		}
		row, err := f.CSV(header)
		if err != nil {
			return nil, err
		}
		c.decode = func(ctx *decode.Context, _ *decode.Parser, r record) error { return row(ctx, r.row) }
		return next, nil
	case jsonDocuments:
		c.decode = fromJSON
		return splitDocuments(c.in.Reader), nil
	case jsonFramed:
		c.decode = fromJSON
		return splitFramed(c.in.Reader), nil
	case binaryFramed:
		c.decode = fromBinary
		return splitFramed(c.in.Reader), nil
	case binaryWhole:
		c.decode = fromBinary
		return splitWhole(c.in.Reader), nil
	}
	c.decode = fromJSON
	return splitLines(c.in.Reader), nil
}

// read cuts the input into blocks until it ends or ctx does.
func (c *conversion) read(ctx context.Context, next splitter, order, work chan<- *block) {
	defer close(order)
	defer close(work)
	for {
		b := readBlock(next, c.buffer())
		size := len(b.buf) // b belongs to a decoder once it is sent
		if len(b.records) > 0 || b.err != nil && !errors.Is(b.err, io.EOF) {
			select {
			case order <- b:
			case <-ctx.Done():
				return
			}
			work <- b
		}
		if b.err != nil {
			return
		}
		if c.Progress != nil {
			c.Progress(c.account.File, size)
		}
	}
}

// buffer returns an empty buffer, a used one if there is any.
func (c *conversion) buffer() []byte {
	select {
	case b := <-c.spare:
		return b[:0]
	default:
		return make([]byte, 0, blockBytes+64<<10)
	}
}

// recycle takes back the buffer of a block whose requests have been made: they hold copies.
func (c *conversion) recycle(buf []byte) {
	select {
	case c.spare <- buf:
	default:
	}
}

func readBlock(next splitter, buf []byte) *block {
	b := &block{done: make(chan struct{}), skipped: map[string]int64{}, buf: buf}
	size := 0
	for size < blockBytes {
		rec, err := next()
		if rec.data != nil || rec.row != nil || rec.bad != nil || rec.tail && err == nil {
			start := len(b.buf)
			if len(rec.data) > blockBytes { // too large to copy twice
				rec.data = append([]byte(nil), rec.data...)
			} else {
				b.buf = append(b.buf, rec.data...)
				rec.data = b.buf[start:len(b.buf):len(b.buf)]
			}
			b.records = append(b.records, rec)
			for _, f := range rec.row {
				size += len(f)
			}
			size += len(rec.data) + 16
		}
		if err != nil {
			b.err = err
			return b
		}
	}
	return b
}

// decodeBlock turns records into checked requests and counts the rest.
func (c *conversion) decodeBlock(b *block, p *decode.Parser) {
	emit := func(r *trace.Request, body []byte) {
		trace.Check(r)
		if r.Arrival != nil && (c.Since != nil && *r.Arrival < *c.Since || c.Until != nil && *r.Arrival >= *c.Until) {
			b.skipped["outside_time_range"]++
			return
		}
		b.rows = append(b.rows, r)
		if body != nil && c.KeepBodies {
			b.bodies = append(b.bodies, trace.Body{RequestID: r.RequestID, Attempt: r.Attempt, Body: body})
		}
	}
	ctx := decode.NewContext(c.Options.Options, c.in.base, emit, func(reason string, n int64) { b.skipped[reason] += n })
	for _, rec := range b.records {
		ctx.Line = rec.line
		before := b.units()
		err := c.decodeOne(ctx, p, rec)
		var bad *decode.LineError
		switch {
		case err != nil && rec.tail:
			b.incomplete++
		case errors.As(err, &bad):
			b.rejected = append(b.rejected, bad)
		case err != nil:
			b.rejected = append(b.rejected, &decode.LineError{Line: rec.line, Reason: "bad_record", Detail: err.Error()})
		case b.units() == before:
			b.skipped["empty"]++
		}
	}
	b.read = b.units()
	c.recycle(b.buf)
	b.records, b.buf = nil, nil
}

func (c *conversion) decodeOne(ctx *decode.Context, p *decode.Parser, rec record) error {
	if rec.bad != nil {
		return rec.bad
	}
	if rec.tail && rec.data == nil {
		return io.ErrUnexpectedEOF
	}
	return c.decode(ctx, p, rec)
}

func (b *block) units() int64 {
	return int64(len(b.rows)+len(b.rejected)) + b.incomplete + sum(b.skipped)
}

// store writes the rows of a block and adds its counts to the account.
func (c *conversion) store(b *block) error {
	a := c.account
	a.Read, a.Kept, a.Incomplete = a.Read+b.read, a.Kept+int64(len(b.rows)), a.Incomplete+b.incomplete
	for reason, n := range b.skipped {
		a.Skipped[reason] += n
	}
	for _, bad := range b.rejected {
		a.Rejected[bad.Reason]++
		a.warn(fmt.Sprintf("%s:%d: %s: %s", a.File, bad.Line, bad.Reason, bad.Detail))
	}
	for _, r := range b.rows {
		if err := c.writer.Add(r); err != nil {
			return err
		}
	}
	for _, body := range b.bodies {
		if err := c.writer.AddBody(body); err != nil {
			return err
		}
	}
	switch {
	case b.err == nil || errors.Is(b.err, io.EOF) && !errors.Is(b.err, errCut):
		return nil
	case errors.Is(b.err, errCut):
		if a.Incomplete == 0 { // else the half record before the cut is counted already
			a.Read, a.Incomplete = a.Read+1, 1
		}
		a.warn(fmt.Sprintf("%s: %v; everything before the cut is kept", a.File, b.err))
		return nil
	}
	return b.err
}
