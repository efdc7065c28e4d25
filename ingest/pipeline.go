package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// blockBytes is how much a decoder takes at a time.
const blockBytes = 512 << 10

// conversion is the work on one input: one reader, Workers decoders, one writer; blocks keep their order.
type conversion struct {
	Options
	in      *input
	found   found
	account *FileAccount
	writer  *trace.Writer
	decode  func(*decode.Context, *decode.Parser, record) error
	end     func(*decode.Context) // of a format that groups records; nil for others
	spare   chan []byte           // buffers of blocks that are done: most of what a conversion would allocate
}

func (c *conversion) run(ctx context.Context) error {
	next, err := c.open()
	if err != nil {
		return err
	}
	if c.end != nil {
		c.Workers = 1 // the records of a request must meet, in their order
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	workers := max(c.Workers, 1)
	order, work := make(chan *block, workers), make(chan *block)
	c.spare = make(chan []byte, 2*workers+2)
	go c.read(ctx, next, order, work)
	for range workers {
		go c.newWorker().work(work)
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

// open builds the decoding function of the container and the function that cuts it into blocks, each in the buffer given.
func (c *conversion) open() (func([]byte) *block, error) {
	f := c.grouped()
	fromJSON := func(ctx *decode.Context, p *decode.Parser, r record) error {
		v, err := p.ParseBytes(r.data)
		if err != nil {
			return ctx.Reject("bad_json", "expected a JSON object, got %q: %s", head(r.data, 40), head([]byte(err.Error()), 80))
		}
		if v.Type() != decode.TypeObject {
			return ctx.Reject("bad_json", "expected a JSON object, got %s", v.Type())
		}
		if w := c.found.look.wrapper; w != nil {
			return w.each(ctx, v, f, c.found.look.asText)
		}
		return f.JSON(ctx, v)
	}
	fromBinary := func(ctx *decode.Context, _ *decode.Parser, r record) error { return f.Message(ctx, r.data) }
	lines := lineReader{r: c.in}
	runs := func(buf []byte) *block { return newBlock(lines.next(buf, blockBytes)) }
	c.decode = fromJSON
	switch c.found.look.container {
	case csvRows:
		header, next, err := splitCSV(c.in.Reader, c.found.look.comma)
		if err != nil {
			return nil, err
		}
		row, err := f.CSV(header)
		if err != nil {
			return nil, err
		}
		c.decode = func(ctx *decode.Context, _ *decode.Parser, r record) error { return row(ctx, r.row) }
		return blocksOf(next), nil
	case jsonDocuments:
		return blocksOf(splitDocuments(c.in.Reader)), nil
	case jsonFramed:
		return blocksOf(splitFramed(c.in.Reader)), nil
	case binaryFramed:
		c.decode = fromBinary
		return blocksOf(splitFramed(c.in.Reader)), nil
	case binaryWhole:
		c.decode = fromBinary
		return blocksOf(splitWhole(c.in.Reader)), nil
	case jsonBehind:
		c.decode = func(ctx *decode.Context, p *decode.Parser, r record) error {
			if !bytes.Contains(r.data, []byte(`{"`)) { // what a program says between its records
				ctx.Skip("no_json")
				return nil
			}
			if data := behindPrefix(r.data); data != nil {
				r.data = data
			}
			return fromJSON(ctx, p, r)
		}
	case textLines:
		c.decode = func(ctx *decode.Context, _ *decode.Parser, r record) error { return f.Line(ctx, r.data) }
	}
	return runs, nil
}

// grouped returns the format; of one that groups records, a decoder of this file alone.
func (c *conversion) grouped() *decode.Format {
	f := *c.found.format
	if f.Group == nil {
		return &f
	}
	g := f.Group()
	f.JSON, f.Line = g.JSON, g.Line
	if c.end = g.End; c.end == nil {
		c.end = func(*decode.Context) {}
	}
	return &f
}

// read cuts the input into blocks until it ends or ctx does.
func (c *conversion) read(ctx context.Context, next func([]byte) *block, order, work chan<- *block) {
	defer close(order)
	defer close(work)
	for {
		b := next(c.buffer())
		err, size := b.err, b.size // b belongs to a decoder once it is sent
		if !b.empty() || err != nil && (c.end != nil || !errors.Is(err, io.EOF)) {
			select {
			case order <- b:
			case <-ctx.Done():
				return
			}
			work <- b
		}
		if err != nil {
			return
		}
		if c.Progress != nil {
			c.Progress(c.account.File, size)
		}
	}
}

// buffer returns a buffer, a used one if there is any.
func (c *conversion) buffer() []byte {
	select {
	case b := <-c.spare:
		return b
	default:
		return make([]byte, 0, blockBytes+blockBytes/16)
	}
}

// recycle takes back the buffer of a block whose requests have been made: they hold copies.
func (c *conversion) recycle(buf []byte) {
	if cap(buf) > 2*blockBytes { // of a long record
		return
	}
	select {
	case c.spare <- buf:
	default:
	}
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
		a.warn(fmt.Sprintf("%s:%d: %s: %s", a.File, bad.Line, bad.Reason, c.Hash.Scrub(decode.Told(bad.Detail))))
	}
	a.Seen.add(b.seen)
	for _, r := range b.rows {
		if err := c.writer.Add(r); err != nil {
			return storeError{err}
		}
	}
	for _, body := range b.bodies {
		if err := c.writer.AddBody(body); err != nil {
			return storeError{err}
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
