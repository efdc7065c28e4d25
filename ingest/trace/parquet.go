package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

// window is how many rows a Writer holds back to sort them by arrival. Logs are written in order of the end of a call,
// so a row is out of place by a few hundred rows at most; it is sorted exactly when it is not out by more than this.
const window = 16 << 10

// groupRows is the size of a row group: small enough that an engine can read a part in parallel.
const groupRows = 100_000

// Writer turns the rows of one input into one Parquet file a day. Nothing is visible in the run before Commit.
// It is not safe for concurrent use.
type Writer struct {
	run, tmp string
	days     map[string]*dayFile
	buffered int
	bodies   *table[Body]
}

// Body is the request body of one attempt, kept only on explicit demand and in a file of mode 0600.
type Body struct {
	RequestID string `parquet:"request_id,zstd"`
	Attempt   int32  `parquet:"attempt,zstd"`
	Body      []byte `parquet:"body,zstd"` // JSON as sent to the chat or completions endpoint
}

type dayFile struct {
	*table[Request]
	rows []Request
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
	return &Writer{run: run, tmp: tmp, days: map[string]*dayFile{}}, nil
}

// Add stores a copy of r. Check must have been applied.
func (w *Writer) Add(r *Request) error {
	day := Day(r.Arrival)
	d := w.days[day]
	if d == nil {
		t, err := newTable[Request](filepath.Join(w.tmp, day), 0o644)
		if err != nil {
			return err
		}
		d = &dayFile{table: t}
		w.days[day] = d
	}
	d.rows = append(d.rows, *r)
	if w.buffered++; w.buffered < 2*window {
		return nil
	}
	return w.spill()
}

// AddBody stores the body of a request, for --keep-bodies.
func (w *Writer) AddBody(b Body) (err error) {
	if w.bodies == nil {
		if w.bodies, err = newTable[Body](filepath.Join(w.tmp, "bodies"), 0o600); err != nil {
			return err
		}
	}
	return w.bodies.write([]Body{b})
}

// spill writes the older half of the day with most rows held back.
func (w *Writer) spill() error {
	var fullest *dayFile
	for _, day := range w.sortedDays() {
		if d := w.days[day]; fullest == nil || len(d.rows) > len(fullest.rows) {
			fullest = d
		}
	}
	sortRows(fullest.rows)
	half := (len(fullest.rows) + 1) / 2
	if err := fullest.write(fullest.rows[:half]); err != nil {
		return err
	}
	rest := copy(fullest.rows, fullest.rows[half:])
	clear(fullest.rows[rest:])
	fullest.rows = fullest.rows[:rest]
	w.buffered -= half
	return nil
}

// Commit closes the files and gives them their final names, part.parquet in each day's folder. meta is stored in each.
// A part that is already there is left as it is; added counts the new ones. The writer is done afterwards.
func (w *Writer) Commit(part string, meta map[string]string) (files []string, added int, err error) {
	defer w.Abort()
	for _, day := range w.sortedDays() {
		d := w.days[day]
		sortRows(d.rows)
		if err := d.write(d.rows); err != nil {
			return nil, 0, err
		}
		fresh, final, err := d.commit(filepath.Join(w.run, "day="+day), part, meta)
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

// Abort removes everything that is not committed. Safe after Commit.
func (w *Writer) Abort() {
	for _, d := range w.days {
		d.file.Close()
	}
	if w.bodies != nil {
		w.bodies.file.Close()
	}
	os.RemoveAll(w.tmp)
}

func (w *Writer) sortedDays() []string {
	days := make([]string, 0, len(w.days))
	for day := range w.days {
		days = append(days, day)
	}
	slices.Sort(days)
	return days
}

// Day is the UTC day of an arrival, which names the folder of its part; "unknown" without a time.
func Day(arrival *int64) string {
	if arrival == nil {
		return "unknown"
	}
	return time.UnixMicro(*arrival).UTC().Format(time.DateOnly)
}

func sortRows(rows []Request) {
	slices.SortStableFunc(rows, func(a, b Request) int {
		return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.SourceLine, b.SourceLine), strings.Compare(a.RequestID, b.RequestID))
	})
}

func at(r Request) int64 {
	if r.Arrival == nil {
		return math.MinInt64
	}
	return *r.Arrival
}

// Parts lists the Parquet files of a run in order.
func Parts(run string) ([]string, error) {
	parts, err := filepath.Glob(filepath.Join(globEscape(run), "day=*", "*.parquet"))
	slices.Sort(parts)
	return parts, err
}

func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
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
	r := parquet.NewGenericReader[T](f)
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
