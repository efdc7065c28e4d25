package analyze

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"
)

// spool holds the streams of a view, packed, in files of the engine's: the sweeps of a query walk the same lists, and from Parquet each walk costs as much again as what
// is done with them. Each worker writes a file of its own.
type spool struct {
	text   string // the view
	files  []*os.File
	open   [][]byte // by worker: the block that is not written yet
	ends   []int64  // by worker: of what is written
	blocks []block
	mu     sync.Mutex // of blocks
}

// block is a part of a file that holds whole streams.
type block struct {
	file     *os.File
	from, to int64
}

const spoolBlock = 1 << 20

// newSpool takes the place of the engine's one of before.
func (e *Engine) newSpool(text string, workers int) (*spool, error) {
	err := e.streams.close()
	if e.streams = nil; err != nil {
		return nil, err
	}
	p := &spool{text: text, open: make([][]byte, workers), ends: make([]int64, workers)}
	for range workers {
		f, err := os.CreateTemp(e.temp, "streams-")
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
		p.files = append(p.files, f)
	}
	return p, nil
}

// finish is called when all streams are in.
func (p *spool) finish() (err error) {
	for w := range p.files {
		err = cmp.Or(err, p.write(w))
	}
	p.open = nil
	return err
}

func (p *spool) close() error {
	if p == nil {
		return nil
	}
	var errs []error
	for _, f := range p.files {
		errs = append(errs, f.Close(), os.Remove(f.Name()))
	}
	return errors.Join(errs...)
}

// put adds a stream.
func (p *spool) put(worker int, l *listed) error {
	b := p.open[worker]
	for _, s := range []string{l.request, l.grp, l.tenant, l.replica} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	b = binary.AppendVarint(binary.AppendVarint(b, int64(l.attempt)), l.arrival)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(l.usual))
	p.open[worker] = packed(packed(b, l.steps), l.weights)
	if len(p.open[worker]) < spoolBlock {
		return nil
	}
	return p.write(worker)
}

// packed adds numbers: two bytes each, ten where they do not fit.
func packed(b []byte, numbers []int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(numbers)))
	for _, n := range numbers {
		if uint64(n) < math.MaxUint16 {
			b = append(b, byte(n), byte(n>>8))
		} else {
			b = binary.LittleEndian.AppendUint64(append(b, 0xff, 0xff), uint64(n))
		}
	}
	return b
}

func (p *spool) write(worker int) error {
	f, b, from := p.files[worker], p.open[worker], p.ends[worker]
	if _, err := f.Write(b); err != nil {
		return err
	}
	p.open[worker], p.ends[worker] = b[:0], from+int64(len(b))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocks = append(p.blocks, block{f, from, p.ends[worker]})
	return nil
}

// walk hands on the streams, a block to a worker at a time. What a stream holds is gone with the next.
func (p *spool) walk(ctx context.Context, workers int, visit func(worker int, l *listed) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, workers)
	for w := range workers {
		all.Go(func() {
			var buffer []byte
			var l listed
			for errs[w] == nil {
				i := next.Add(1) - 1
				if i >= int64(len(p.blocks)) {
					return
				}
				buffer, errs[w] = p.blocks[i].read(buffer)
				for u := (unpacker{buffer}); len(u.b) > 0 && errs[w] == nil; {
					u.stream(&l)
					errs[w] = visit(w, &l)
				}
				if errs[w] == nil {
					errs[w] = context.Cause(ctx)
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (b block) read(buffer []byte) ([]byte, error) {
	if n := int(b.to - b.from); cap(buffer) < n {
		buffer = make([]byte, n)
	} else {
		buffer = buffer[:n]
	}
	if _, err := b.file.ReadAt(buffer, b.from); err != nil {
		return nil, fmt.Errorf("read streams again: %w", err)
	}
	return buffer, nil
}

// unpacker reads what put has written.
type unpacker struct{ b []byte }

func (u *unpacker) stream(l *listed) {
	l.request, l.grp, l.tenant, l.replica = u.text(), u.text(), u.text(), u.text()
	l.attempt, l.arrival = int32(u.varint()), u.varint()
	l.usual = math.Float64frombits(binary.LittleEndian.Uint64(u.b))
	u.b = u.b[8:]
	l.steps, l.weights = u.numbers(l.steps[:0]), u.numbers(l.weights[:0])
}

func (u *unpacker) uvarint() int {
	n, size := binary.Uvarint(u.b)
	u.b = u.b[size:]
	return int(n)
}

func (u *unpacker) varint() int64 {
	n, size := binary.Varint(u.b)
	u.b = u.b[size:]
	return n
}

func (u *unpacker) text() string {
	n := u.uvarint()
	s := unsafe.String(unsafe.SliceData(u.b), n)
	u.b = u.b[n:]
	return s
}

func (u *unpacker) numbers(into []int64) []int64 {
	n, b := u.uvarint(), u.b
	for range n {
		v := int64(binary.LittleEndian.Uint16(b))
		b = b[2:]
		if v == math.MaxUint16 {
			v = int64(binary.LittleEndian.Uint64(b))
			b = b[8:]
		}
		into = append(into, v)
	}
	u.b = b
	return into
}
