package analyze

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"reprise/layout"
)

// Run is a folder of Parquet parts, as found when it was opened; parts added later are not seen.
type Run struct {
	Path  string
	Parts []string // absolute paths, sorted

	table   string   // the run is a table of a cluster, of this name; "" is a folder
	replay  bool     // the table of a cluster holds a replay; known once it is mounted
	metrics []string // files of the target's own metrics, beside the parts; none for a log
}

// Open lists the parts of a run: path/day=*/*.parquet. path may also be one Parquet file, or a folder of what the clients
// of one replay wrote, which is one run (Shards). It reads no data. A folder without parts is an error; a part may have no rows.
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
		return &Run{Path: path, Parts: []string{abs}}, nil
	}
	run := &Run{Path: path}
	for _, dir := range append([]string{abs}, Shards(abs)...) {
		parts, err := layout.Parts(dir)
		if err != nil {
			return nil, fmt.Errorf("open run %q: %w", path, err)
		}
		metrics, err := layout.Live(filepath.Join(dir, "metrics"))
		if err != nil && !os.IsNotExist(err) {
			return nil, fmt.Errorf("open run %q: %w", path, err)
		}
		run.Parts, run.metrics = append(run.Parts, parts...), append(run.metrics, metrics...)
	}
	if len(run.Parts) == 0 {
		return nil, fmt.Errorf("no run in %q: expected day=YYYY-MM-DD/PART.parquet, as reprise ingest writes it", path)
	}
	return run, nil
}

// Shards are the folders that clients of one sharded replay wrote into a folder, in order.
func Shards(path string) (dirs []string) {
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if e.IsDir() && shardFolder.MatchString(e.Name()) {
			dirs = append(dirs, filepath.Join(path, e.Name()))
		}
	}
	return dirs
}

// shardFolder also knows copies: the same shard twice is told from what the parts say of themselves.
var shardFolder = regexp.MustCompile(`^shard-\d+-of-\d+`)

// scan is the table expression over the parts.
func (r *Run) scan() string {
	return "read_parquet(" + r.partList() + ", union_by_name=true, hive_partitioning=false)"
}

// partList is the list of the parts. DuckDB reads a path as a pattern: special characters are put in brackets. That
// holds for statements that read the list once; see Engine.readable.
func (r *Run) partList() string {
	escape := strings.NewReplacer("'", "''", "[", "[[]", "*", "[*]", "?", "[?]")
	var list []string
	for _, p := range r.Parts {
		list = append(list, "'"+escape.Replace(p)+"'")
	}
	return "[" + strings.Join(list, ", ") + "]"
}
