package analyze

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Run is a folder of Parquet parts, as found when it was opened; parts added later are not seen.
type Run struct {
	Path  string
	Parts []string // absolute paths, sorted
}

// Open lists the parts of a run: path/day=*/*.parquet. path may also be one Parquet file. It reads no data. A folder
// without parts is an error; a part may have no rows.
func Open(path string) (*Run, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open run %q: %w", path, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, fmt.Errorf("open run %q: expected a folder that reprise ingest wrote: %w", path, err)
	}
	if !info.IsDir() {
		return &Run{path, []string{abs}}, nil
	}
	parts, err := partsOf(abs)
	if err != nil {
		return nil, fmt.Errorf("open run %q: %w", path, err)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("no run in %q: expected day=YYYY-MM-DD/PART.parquet, as reprise ingest writes it", path)
	}
	return &Run{path, parts}, nil
}

func partsOf(dir string) ([]string, error) {
	days, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, d := range days {
		if !d.IsDir() || !strings.HasPrefix(d.Name(), "day=") {
			continue
		}
		files, err := os.ReadDir(filepath.Join(dir, d.Name()))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if isPart(f) {
				parts = append(parts, filepath.Join(dir, d.Name(), f.Name()))
			}
		}
	}
	slices.Sort(parts)
	return parts, nil
}

// isPart leaves out temporary files, which begin with a dot, and folders.
func isPart(f fs.DirEntry) bool {
	return !f.IsDir() && strings.HasSuffix(f.Name(), ".parquet") && !strings.HasPrefix(f.Name(), ".")
}

// scan is the table expression over the parts.
func (r *Run) scan() string {
	return "read_parquet(" + r.partList() + ", union_by_name=true, hive_partitioning=false)"
}

// partList is the list of the parts. DuckDB reads a path as a pattern: special characters are put in brackets. That
// holds for statements that read the list once; see Engine.scan.
func (r *Run) partList() string {
	escape := strings.NewReplacer("'", "''", "[", "[[]", "*", "[*]", "?", "[?]")
	var list []string
	for _, p := range r.Parts {
		list = append(list, "'"+escape.Replace(p)+"'")
	}
	return "[" + strings.Join(list, ", ") + "]"
}
