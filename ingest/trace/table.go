package trace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

	"reprise/layout"
)

// table is a Parquet file being written under a temporary name.
type table[T any] struct {
	file *os.File
	pq   *parquet.GenericWriter[T]
	rows int // in the open row group
}

func createPart(name string, mode os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return nil, fmt.Errorf("making part: %w", err)
	}
	return f, nil
}

// newTable makes a table. page is how many bytes of a column make a page.
func newTable[T any](name string, mode os.FileMode, page int) (*table[T], error) {
	f, err := createPart(name, mode)
	if err != nil {
		return nil, err
	}
	return &table[T]{file: f, pq: parquet.NewGenericWriter[T](f, parquet.CreatedBy("reprise", "1", ""),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), // on our columns as small as the default, in half the time
		parquet.DefaultEncodingFor(parquet.Int64, &parquet.DeltaBinaryPacked),
		parquet.DefaultEncodingFor(parquet.Int32, &parquet.DeltaBinaryPacked),
		parquet.DictionaryMaxBytes(512<<10), // names of users or deployments without end: plain from there on
		parquet.PageBufferSize(page),
		parquet.DataPageStatistics(false))}, nil // the column index has them
}

func (t *table[T]) write(rows []T) error {
	if _, err := t.pq.Write(rows); err != nil {
		return fmt.Errorf("writing part: %w", err)
	}
	if t.rows += len(rows); t.rows >= groupRows {
		t.rows = 0
		return t.pq.Flush()
	}
	return nil
}

// commit closes and syncs the file and moves it to dir/part.parquet, unless that is there already (fresh is 0 then).
func (t *table[T]) commit(dir, part string, meta map[string]string) (fresh int, final string, err error) {
	for _, k := range sortedKeys(meta) {
		t.pq.SetKeyValueMetadata(k, meta[k])
	}
	if err := t.pq.Close(); err != nil {
		return 0, "", fmt.Errorf("closing part: %w", err)
	}
	return commitPart(t.file, dir, part)
}

// commitPart syncs a whole file and gives it its final name. When the folder has its rows already, in a file of that name
// or in a compacted one, final is that file.
func commitPart(file *os.File, dir, part string) (fresh int, final string, err error) {
	if err := file.Sync(); err != nil {
		return 0, "", fmt.Errorf("syncing part: %w", err)
	}
	if err := file.Close(); err != nil {
		return 0, "", fmt.Errorf("closing part: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, "", fmt.Errorf("making day folder: %w", err)
	}
	if final, err = layout.Holder(dir, part); final != "" || err != nil {
		return 0, final, err
	}
	final = filepath.Join(dir, part+".parquet")
	if err := os.Rename(file.Name(), final); err != nil {
		return 0, "", fmt.Errorf("naming part: %w", err)
	}
	return 1, final, syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// removeStale deletes temporary folders of processes that no longer run.
func removeStale(run string) {
	entries, _ := os.ReadDir(run)
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), ".partial-")
		pid, _, _ := strings.Cut(rest, "-")
		if n, err := strconv.Atoi(pid); ours && err == nil && syscall.Kill(n, 0) == syscall.ESRCH {
			os.RemoveAll(filepath.Join(run, e.Name()))
		}
	}
}

// Meta returns the key-value metadata of a part and the number of non-NULL values of each top-level column.
func Meta(name string) (meta map[string]string, rows int64, known map[string]int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, 0, nil, err
	}
	pf, err := parquet.OpenFile(f, st.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, 0, nil, fmt.Errorf("%s: %w", name, err)
	}
	meta, known = map[string]string{}, map[string]int64{}
	for _, kv := range pf.Metadata().KeyValueMetadata {
		meta[kv.Key] = kv.Value
	}
	addKnown(known, pf.Metadata().RowGroups)
	return meta, pf.NumRows(), known, nil
}

// addKnown counts the values that are not NULL, by column.
func addKnown(known map[string]int64, groups []format.RowGroup) {
	for _, g := range groups {
		for _, c := range g.Columns {
			known[c.MetaData.PathInSchema[0]] += g.NumRows - c.MetaData.Statistics.NullCount // a NULL or empty list is one null
		}
	}
}
