package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"reprise/layout"
)

// window is how many rows a Writer holds back to sort them by arrival. Logs are written in order of the end of a call,
// so a row is out of place by a few hundred rows at most; it is sorted exactly when it is not out by more than this.
const window = 8 << 10

// step is how many rows beyond the window are gathered before some are written.
const step = 4 << 10

// batchRows is how many rows a column takes at a time: so many that going from column to column costs nothing, so few
// that they stay in the cache until the last column has had them.
const batchRows = 64

// groupRows is the size of a row group: small enough that an engine can read a part in parallel.
const groupRows = 100_000

// Writer turns the rows of one input into one Parquet file a day. Nothing is visible in the run before Commit.
// It is not safe for concurrent use; the files are written beside its caller.
type Writer struct {
	run, tmp string
	days     map[int64]*dayFile
	buffered int
	bodies   *table[Body]

	batches chan batch
	failed  chan error    // at most one
	done    chan struct{} // the last batch is written
	spare   chan []*Request
}

// bodyPage is the size of a page of bodies in bytes: they hold what those before them hold, which only a long page makes small.
const bodyPage = 1 << 20

// Body is the request body of one attempt, kept only on explicit demand and in a file of mode 0600.
type Body struct {
	RequestID string `parquet:"request_id"`
	Attempt   int32  `parquet:"attempt"`
	Body      []byte `parquet:"body"` // JSON as sent to the chat or completions endpoint
}

type dayFile struct {
	*rowFile
	day  string
	held []held
	seen int
}

// held is a row that is held back to be sorted: by arrival, then as sortRows says, last in the order they came.
type held struct {
	at int64
	n  int
	*Request
}

// NewWriter prepares a writer into the run folder, which is made when missing. Leftovers of writers whose process
// is gone are removed.
func NewWriter(run string) (*Writer, error) {
	if err := os.MkdirAll(run, 0o755); err != nil {
		return nil, fmt.Errorf("making run folder: %w", err)
	}
	removeStale(run)
	tmp, err := os.MkdirTemp(run, fmt.Sprintf(".partial-%d-", os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("making temporary folder: %w", err)
	}
	w := &Writer{run: run, tmp: tmp, days: map[int64]*dayFile{}, batches: make(chan batch), failed: make(chan error, 1), done: make(chan struct{}),
		spare: make(chan []*Request, 2)}
	go w.write(w.batches)
	return w, nil
}

// Add stores r, which must not be touched afterwards: Spare gives it to somebody else. Check must have been applied.
func (w *Writer) Add(r *Request) error {
	d := w.days[dayNumber(r.Arrival)]
	if d == nil {
		day := Day(r.Arrival)
		t, err := newRowFile(filepath.Join(w.tmp, day))
		if err != nil {
			return err
		}
		d = &dayFile{rowFile: t, day: day}
		w.days[dayNumber(r.Arrival)] = d
	}
	d.held = append(d.held, held{at(r), d.seen, r})
	d.seen++
	if w.buffered++; w.buffered < window+step {
		return nil
	}
	return w.spill()
}

// Spare returns requests that are written, with what they held: memory to use again; nil while there are none. It may be
// called beside the other methods.
func (w *Writer) Spare() []*Request {
	select {
	case rows := <-w.spare:
		return rows
	default:
		return nil
	}
}

// AddBody stores the body of a request, for --keep-bodies.
func (w *Writer) AddBody(b Body) (err error) {
	if w.bodies == nil {
		if w.bodies, err = newTable[Body](filepath.Join(w.tmp, "bodies"), 0o600, bodyPage); err != nil {
			return err
		}
	}
	return w.bodies.write([]Body{b})
}

// spill writes the older rows of the day with most rows held back.
func (w *Writer) spill() error {
	var fullest *dayFile
	for _, d := range w.sortedDays() {
		if fullest == nil || len(d.held) > len(fullest.held) {
			fullest = d
		}
	}
	n := min(step, (len(fullest.held)+1)/2)
	w.buffered -= n
	return w.flush(fullest, n)
}

// Commit closes the files and gives them their final names, part.parquet in each day's folder. meta is stored in each.
// A part whose rows are there already is left as it is; added counts the new ones. The writer is done afterwards.
func (w *Writer) Commit(part string, meta map[string]string) (files []string, added int, err error) {
	defer w.Abort()
	for _, d := range w.sortedDays() {
		if err := w.flush(d, len(d.held)); err != nil {
			return nil, 0, err
		}
	}
	if err := w.finish(); err != nil {
		return nil, 0, err
	}
	for _, d := range w.sortedDays() {
		fresh, final, err := d.commit(filepath.Join(w.run, "day="+d.day), part, meta)
		if err != nil {
			return nil, 0, err
		}
		files, added = append(files, final), added+fresh
	}
	if w.bodies != nil {
		if _, _, err := w.bodies.commit(filepath.Join(w.run, "bodies"), part, nil); err != nil {
			return nil, 0, err
		}
	}
	return files, added, nil
}

// Known gives the number of values that are not NULL, by column, of all rows. The writer must be done.
func (w *Writer) Known() map[string]int64 {
	known := map[string]int64{}
	for _, d := range w.days {
		addKnown(known, d.groups)
	}
	return known
}

// Abort removes everything that is not committed. Safe after Commit.
func (w *Writer) Abort() {
	w.finish()
	for _, d := range w.days {
		d.file.Close()
	}
	if w.bodies != nil {
		w.bodies.file.Close()
	}
	os.RemoveAll(w.tmp)
}

func (w *Writer) sortedDays() []*dayFile {
	return slices.SortedFunc(maps.Values(w.days), func(a, b *dayFile) int { return strings.Compare(a.day, b.day) })
}

// dayNumber numbers the days that Day names.
func dayNumber(arrival *int64) int64 {
	if arrival == nil {
		return math.MinInt64
	}
	const day = int64(24 * time.Hour / time.Microsecond)
	n := *arrival / day
	if *arrival%day < 0 {
		n--
	}
	return n
}

// Day is the UTC day of an arrival, which names the folder of its part; "unknown" without a time.
func Day(arrival *int64) string {
	if arrival == nil {
		return "unknown"
	}
	return time.UnixMicro(*arrival).UTC().Format(time.DateOnly)
}

func sortRows(rows []held) {
	slices.SortFunc(rows, func(a, b held) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Or(cmp.Compare(a.SourceLine, b.SourceLine), strings.Compare(a.RequestID, b.RequestID), cmp.Compare(a.n, b.n))
	})
}

func at(r *Request) int64 {
	if r.Arrival == nil {
		return math.MinInt64
	}
	return *r.Arrival
}

// Parts lists the Parquet files of a run that count, in order; none when there is no such folder.
func Parts(run string) ([]string, error) {
	parts, err := layout.Parts(run)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return parts, err
}

// Read yields the requests of the files in order, a row group at a time.
func Read(files ...string) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		for _, name := range files {
			if err := readFile(name, func(r Request) bool { return yield(r, nil) }); err != nil {
				if !errors.Is(err, errStop) {
					yield(Request{}, fmt.Errorf("%s: %w", name, err))
				}
				return
			}
		}
	}
}

var errStop = errors.New("stopped")

func readFile[T any](name string, yield func(T) bool) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, st.Size()) // the reader of rows would panic
	if err != nil {
		return fmt.Errorf("expected a Parquet file: %w", err)
	}
	r := parquet.NewGenericReader[T](file)
	defer r.Close()
	for {
		rows := make([]T, 1024) // fresh rows: the caller may keep what it gets
		n, err := r.Read(rows)
		for _, row := range rows[:n] {
			if !yield(row) {
				return errStop
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
