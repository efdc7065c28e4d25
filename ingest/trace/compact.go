package trace

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"reprise/layout"
)

// compactRows bounds a compacted part. A part of half of it or more is left alone, so that what is full stays as it is.
const compactRows = 1_000_000

// Size is how large a run is, its bodies and metrics aside.
type Size struct {
	Parts       int
	Rows, Bytes int64
}

// Compaction says what Compact did.
type Compaction struct {
	Before, After Size
	Days          int      // in which parts became fewer
	Alone         []string // small parts that were left as they are, and why
}

// Compact makes few parts of the many small ones of each day, as package layout says. Rows keep every value; bodies and
// metrics stay where they are. A second call does nothing. The parts of replays stay: what each says of itself is its own.
// Memory is that of a Writer and of the open parts. Another compaction of the run at the same time is an error.
func Compact(ctx context.Context, run string) (c Compaction, err error) {
	lock, err := lockRun(run)
	if err != nil {
		return c, err
	}
	defer lock.Close()
	days, err := layout.Days(run)
	if err != nil {
		return c, err
	}
	if len(days) == 0 {
		return c, fmt.Errorf("no run in %q: expected day=YYYY-MM-DD/PART.parquet, as reprise ingest writes it", run)
	}
	removeStale(run)
	for _, dir := range days {
		if err := c.day(ctx, run, dir); err != nil {
			return c, fmt.Errorf("compacting %s: %w", dir, err)
		}
	}
	return c, nil
}

// lockRun keeps other compactions out as long as the file is open; the system unlocks it when a process dies.
func lockRun(run string) (*os.File, error) {
	f, err := os.Open(run)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: another compaction is at work", run)
		}
		return nil, fmt.Errorf("locking %s: %w", run, err)
	}
	return f, nil
}

func (c *Compaction) day(ctx context.Context, run, dir string) error {
	if err := sweep(dir); err != nil {
		return err
	}
	files, err := layout.Live(dir)
	if err != nil {
		return err
	}
	var small []part
	for _, name := range files {
		p, err := describe(name)
		if err != nil {
			return err
		}
		c.Before.add(p)
		switch {
		case p.rows >= compactRows/2:
		case p.alone != "":
			c.Alone = append(c.Alone, name+": "+p.alone)
		default:
			small = append(small, p)
			continue
		}
		c.After.add(p)
	}
	fewer := 0
	for _, group := range pack(small) {
		became := group[0]
		if len(group) > 1 {
			if became, err = merge(ctx, run, dir, group); err != nil {
				return err
			}
			fewer = 1
		}
		c.After.add(became)
	}
	c.Days += fewer
	return nil
}

func (s *Size) add(p part) {
	s.Parts, s.Rows, s.Bytes = s.Parts+1, s.Rows+p.rows, s.Bytes+p.bytes
}

// pack cuts parts, in order of their first arrivals, into groups of at most compactRows.
func pack(parts []part) (groups [][]part) {
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.from, b.from), strings.Compare(a.path, b.path)) })
	rows := int64(0)
	for _, p := range parts {
		if rows += p.rows; len(groups) == 0 || rows > compactRows {
			groups, rows = append(groups, nil), p.rows
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], p)
	}
	return groups
}

// merge writes the rows of a group as one part, gives it its name and deletes the group.
func merge(ctx context.Context, run, dir string, group []part) (part, error) {
	held, err := heldBy(group)
	if err != nil {
		return part{}, err
	}
	w, err := NewWriter(run)
	if err != nil {
		return part{}, err
	}
	defer w.Abort()
	again, err := mergeRows(ctx, w, group)
	if err != nil {
		return part{}, err
	}
	meta := map[string]string{}
	if again {
		meta[Repeated] = "1"
	}
	file, err := w.seal(filepath.Base(dir), meta)
	if err == nil {
		err = sameRows(file, group)
	}
	if err != nil {
		return part{}, err
	}
	names := slices.Sorted(maps.Keys(held))
	id := sha256.Sum256([]byte(strings.Join(names, "\n")))
	final := filepath.Join(dir, fmt.Sprintf("%s%x.parquet", layout.Compacted, id[:8]))
	if err := writeList(w.tmp, layout.ListOf(final), names, held); err != nil {
		return part{}, err
	}
	if err := os.Rename(file, final); err != nil {
		return part{}, fmt.Errorf("naming part: %w", err)
	}
	if err := syncDir(dir); err != nil {
		return part{}, err
	}
	if err := sweep(dir); err != nil {
		return part{}, err
	}
	return describe(final)
}

// heldBy gives all names that the compacted part answers for, with their metadata: the group's and what those hold.
func heldBy(group []part) (map[string]string, error) {
	held := map[string]string{}
	for _, p := range group {
		inner, err := layout.Held(p.path)
		if err != nil {
			return nil, err
		}
		maps.Copy(held, inner)
		meta, err := json.Marshal(p.meta)
		if err != nil {
			return nil, err
		}
		held[strings.TrimSuffix(filepath.Base(p.path), ".parquet")] = string(meta)
	}
	return held, nil
}

// seal closes the file of the one day that the rows must belong to, and gives its temporary path.
func (w *Writer) seal(day string, meta map[string]string) (string, error) {
	for _, d := range w.sortedDays() {
		if "day="+d.day != day {
			return "", fmt.Errorf("a row of %s stands in the folder %s", d.day, day)
		}
		if err := w.flush(d, len(d.held)); err != nil {
			return "", err
		}
	}
	if err := w.finish(); err != nil {
		return "", err
	}
	for _, d := range w.days {
		if err := d.close(meta); err != nil {
			return "", err
		}
		return d.file.Name(), d.file.Sync()
	}
	return "", errors.New("the parts hold no rows")
}

// sameRows compares what the file knows, column by column, with what the group knows, before anything is deleted.
func sameRows(file string, group []part) error {
	_, rows, known, err := Meta(file)
	if err != nil {
		return err
	}
	want, wantRows := map[string]int64{}, int64(0)
	for _, p := range group {
		wantRows += p.rows
		for column, n := range p.known {
			want[column] += n
		}
	}
	for column, n := range known {
		if n != want[column] {
			return fmt.Errorf("merging lost values of %s: expected %d, got %d; nothing was changed", column, want[column], n)
		}
	}
	if rows != wantRows {
		return fmt.Errorf("merging lost rows: expected %d, got %d; nothing was changed", wantRows, rows)
	}
	return nil
}

// writeList writes the list of a compacted part; it says nothing as long as the part is not there.
func writeList(tmp, list string, names []string, held map[string]string) error {
	f, err := createPart(filepath.Join(tmp, "list"), 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, name := range names {
		if _, err := fmt.Fprintln(f, name, held[name]); err != nil {
			return err
		}
	}
	if err := cmp.Or(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), list); err != nil {
		return err
	}
	return syncDir(filepath.Dir(list))
}

// sweep deletes the parts of a folder that do not count, and lists without their part.
func sweep(dir string) error {
	live, err := layout.Live(dir)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, name := range live {
		keep[name], keep[layout.ListOf(name)] = true, true
	}
	for _, doomed := range []func(string) bool{func(n string) bool { return strings.HasSuffix(n, ".parquet") }, layout.IsList} { // a list goes after its part
		for _, e := range entries {
			if name := filepath.Join(dir, e.Name()); doomed(e.Name()) && !keep[name] {
				if err := os.Remove(name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
