package trace

import "slices"

// batch is rows on their way to a file.
type batch struct {
	*rowFile
	rows []held
}

// flush sorts the rows held back and sends the first n on their way.
func (w *Writer) flush(d *dayFile, n int) error {
	sortRows(d.held)
	rows := slices.Clone(d.held[:n])
	d.held = d.held[:copy(d.held, d.held[n:])]
	select {
	case err := <-w.failed:
		return err
	case w.batches <- batch{d.rowFile, rows}:
		return nil
	}
}

// write writes the batches, with one packer for all files.
func (w *Writer) write(batches <-chan batch) {
	defer close(w.done)
	p, open := newPacker(), []*rowFile(nil)
	for b := range batches {
		if !slices.Contains(open, b.rowFile) {
			open = append(open, b.rowFile)
		}
		err := b.write(p, b.rows)
		if err == nil {
			err = limit(p, open)
		}
		if err != nil {
			w.failed <- err
			for range batches { // nobody sends for ever: flush sees the error next time
			}
			return
		}
		w.reuse(b.rows)
	}
	for _, t := range open {
		if err := t.closeGroup(p); err != nil {
			w.failed <- err
			return
		}
	}
}

// reuse offers rows that are written to Spare.
func (w *Writer) reuse(rows []held) {
	spare := make([]*Request, len(rows))
	for i, r := range rows {
		spare[i] = r.Request
	}
	select {
	case w.spare <- spare:
	default:
	}
}

// maxOpen bounds the open row groups of all days together, in bytes: a little more than one of the usual size.
const maxOpen = 32 << 20

// limit ends the largest row group when all together are too large: days that come to no more rows cost nothing then.
func limit(p *packer, open []*rowFile) error {
	var sum int64
	largest := open[0]
	for _, t := range open {
		n := t.size()
		if sum += n; n > largest.size() {
			largest = t
		}
	}
	if sum < maxOpen {
		return nil
	}
	return largest.closeGroup(p)
}

// finish waits until all batches are written.
func (w *Writer) finish() error {
	if w.batches != nil {
		close(w.batches)
		w.batches = nil
	}
	<-w.done
	select {
	case err := <-w.failed:
		return err
	default:
		return nil
	}
}
