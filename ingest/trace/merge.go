package trace

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// Repeated is the metadata of a compacted part in which a call stands twice, because its parts told of the same calls: a
// log that was ingested again after it had grown, or copies of a rotation. Who counts must count such calls once.
const Repeated = "reprise.repeated"

// part is what the footer of a part says.
type part struct {
	path        string
	rows, bytes int64
	from, to    int64 // arrivals; from is above to when none is known
	known       map[string]int64
	meta        map[string]string
	alone       string // why it must stay as it is; "" when it need not
}

func describe(path string) (p part, err error) {
	p = part{path: path, from: 1, to: 0}
	if p.meta, p.rows, p.known, err = Meta(path); err != nil {
		return p, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return p, err
	}
	p.bytes = st.Size()
	if _, replayed := p.meta["reprise.replay"]; replayed {
		p.alone = "what a replay says of itself belongs to its part"
	}
	ours := map[string]bool{}
	for _, c := range columnsOf() {
		ours[c.meta.PathInSchema[0]] = true
	}
	for column := range p.known {
		if !ours[column] {
			p.alone = fmt.Sprintf("it has a column %q that this version does not know", column)
		}
	}
	return p, p.arrivals()
}

// arrivals reads the range of arrivals from the statistics.
func (p *part) arrivals() error {
	f, err := os.Open(p.path)
	if err != nil {
		return err
	}
	defer f.Close()
	pf, err := parquet.OpenFile(f, p.bytes, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	for _, g := range pf.Metadata().RowGroups {
		for _, c := range g.Columns {
			s := c.MetaData.Statistics
			if c.MetaData.PathInSchema[0] != "arrival" || len(s.MinValue) != 8 || len(s.MaxValue) != 8 {
				continue
			}
			from, to := int64(binary.LittleEndian.Uint64(s.MinValue)), int64(binary.LittleEndian.Uint64(s.MaxValue))
			if p.from > p.to {
				p.from, p.to = from, to
			}
			p.from, p.to = min(p.from, from), max(p.to, to)
		}
	}
	return nil
}

// maxStreams bounds the parts that are read at once. When more overlap in time, rows come out less sorted.
const maxStreams = 32

// stream is a part being read: its next row, and how to go on.
type stream struct {
	row  Request
	next func() (Request, error, bool)
	stop func()
}

// mergeRows writes the rows of parts in order of arrival; parts are in order of their first. again says that a call stands
// in them twice, as the analysis would find: within the times that two parts or more speak of.
func mergeRows(ctx context.Context, w *Writer, parts []part) (again bool, err error) {
	var open []*stream
	defer func() {
		for _, s := range open {
			s.stop()
		}
	}()
	seen := newRepeats(parts)
	for waiting := parts; len(open)+len(waiting) > 0; {
		first := firstOf(open)
		if len(waiting) > 0 && len(open) < maxStreams && (first < 0 || waiting[0].from > waiting[0].to || waiting[0].from <= at(&open[first].row)) {
			s := &stream{}
			s.next, s.stop = iter.Pull2(Read(waiting[0].path))
			waiting, open = waiting[1:], append(open, s)
			if err := s.advance(&open); err != nil {
				return false, err
			}
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		s := open[first]
		row := s.row
		seen.add(&row)
		if err := w.Add(&row); err != nil {
			return false, err
		}
		if err := s.advance(&open); err != nil {
			return false, err
		}
	}
	return seen.found, nil
}

// advance takes the next row, or the stream out of the open ones.
func (s *stream) advance(open *[]*stream) error {
	row, err, ok := s.next()
	if !ok {
		s.stop()
		*open = slices.DeleteFunc(*open, func(other *stream) bool { return other == s })
		return nil
	}
	s.row = row
	return err
}

// firstOf is the stream with the earliest row, -1 without one.
func firstOf(open []*stream) int {
	first := -1
	for i, s := range open {
		if first < 0 || at(&s.row) < at(&open[first].row) {
			first = i
		}
	}
	return first
}

// repeats looks for calls that stand twice in the times that several parts speak of.
type repeats struct {
	from, to []int64 // those times, in order, apart from each other
	seen     map[uint64]bool
	found    bool
}

// newRepeats takes parts in order of their first arrivals.
func newRepeats(parts []part) *repeats {
	r := &repeats{seen: map[uint64]bool{}}
	till := int64(math.MinInt64)
	for _, p := range parts {
		_, marked := p.meta[Repeated]
		r.found = r.found || marked
		if p.from > p.to {
			continue
		}
		if p.from <= till {
			r.share(p.from, min(p.to, till))
		}
		till = max(till, p.to)
	}
	return r
}

func (r *repeats) share(from, to int64) {
	if n := len(r.to); n > 0 && from <= r.to[n-1] {
		r.to[n-1] = max(r.to[n-1], to)
		return
	}
	r.from, r.to = append(r.from, from), append(r.to, to)
}

func (r *repeats) add(row *Request) {
	if r.found || row.Arrival == nil {
		return
	}
	i, _ := slices.BinarySearch(r.to, *row.Arrival) // the first that ends there or later
	if i == len(r.to) || *row.Arrival < r.from[i] {
		return
	}
	h := fnv.New64a()
	fmt.Fprint(h, row.RequestID, "\x00", row.Attempt, " ", *row.Arrival)
	r.found = r.seen[h.Sum64()]
	r.seen[h.Sum64()] = true
}
