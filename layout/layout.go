package layout

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Compacted begins the names of parts that stand for others.
const Compacted = "compact-"

const suffix = ".parquet"

// ListOf names the list of a compacted part, both with their folders.
func ListOf(part string) string {
	return filepath.Join(filepath.Dir(part), "_"+strings.TrimSuffix(filepath.Base(part), suffix)+".parts")
}

// IsList says whether a file name is that of a list.
func IsList(name string) bool {
	return strings.HasPrefix(name, "_"+Compacted) && strings.HasSuffix(name, ".parts")
}

// Live gives the paths of the whole Parquet files of a folder that count, in order. A folder that is not there is an
// error that errors.Is fs.ErrNotExist.
func Live(dir string) ([]string, error) {
	names, err := settled(dir)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for _, name := range names {
		held, err := Held(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		for part := range held {
			gone[part+suffix] = true
		}
	}
	var live []string
	for _, name := range names {
		if !gone[name] {
			live = append(live, filepath.Join(dir, name))
		}
	}
	return live, nil
}

// Held gives the parts that stand in the list of a part, by name without suffix, and the metadata of each; none for a part
// that is not compacted, or has lost its list.
func Held(part string) (map[string]string, error) {
	if !strings.HasPrefix(filepath.Base(part), Compacted) {
		return nil, nil
	}
	f, err := os.Open(ListOf(part))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	held := map[string]string{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		name, meta, _ := strings.Cut(lines.Text(), " ")
		held[name] = meta
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return held, nil
}

// Holder gives the path of the file of a folder that holds the rows of a part: its own, or a compacted one; "" for none.
func Holder(dir, part string) (string, error) {
	own := filepath.Join(dir, part+suffix)
	if _, err := os.Stat(own); err == nil { // first: it goes only when the other is there
		return own, nil
	}
	names, err := settled(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, name := range names {
		file := filepath.Join(dir, name)
		held, err := Held(file)
		if err != nil {
			return "", err
		}
		if _, ok := held[part]; ok {
			return file, nil
		}
	}
	return "", nil
}

// Days lists the day folders of a run, in order.
func Days(run string) (days []string, err error) {
	entries, err := os.ReadDir(run)
	for _, e := range entries {
		dir := filepath.Join(run, e.Name())
		if st, err := os.Stat(dir); err == nil && st.IsDir() && strings.HasPrefix(e.Name(), "day=") {
			days = append(days, dir)
		}
	}
	return days, err
}

// Parts lists the parts of a run that count, in order.
func Parts(run string) (parts []string, err error) {
	days, err := Days(run)
	for _, dir := range days {
		live, err := Live(dir)
		if err != nil {
			return nil, err
		}
		parts = append(parts, live...)
	}
	return parts, err
}

// settled lists the Parquet files of a folder. A listing is no snapshot: while parts are compacted it may miss the new and
// the old, so it is taken until two agree.
func settled(dir string) (names []string, err error) {
	for before := []string{"?"}; !slices.Equal(before, names); {
		before = names
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		names = []string{}
		for _, f := range entries {
			if !f.IsDir() && strings.HasSuffix(f.Name(), suffix) && !strings.HasPrefix(f.Name(), ".") {
				names = append(names, f.Name())
			}
		}
	}
	return names, nil
}
