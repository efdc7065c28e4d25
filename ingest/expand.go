package ingest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stdin is the input name that reads standard input.
const Stdin = "-"

// file is one input. Files found in a folder may turn out not to be logs; one that was named must be.
type file struct {
	name  string
	named bool
}

// expand resolves files, folders and globs to files in a fixed order, each once.
func expand(inputs []string) ([]file, error) {
	var files []file
	for _, in := range inputs {
		found, err := expandOne(in)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(files, func(f file) bool {
		old := seen[f.name]
		seen[f.name] = true
		return old
	}), nil
}

func expandOne(in string) ([]file, error) {
	if in == Stdin {
		return []file{{in, true}}, nil
	}
	st, err := os.Stat(in)
	if err != nil {
		if matches, _ := filepath.Glob(in); len(matches) > 0 {
			return named(matches), nil
		}
		if strings.ContainsAny(in, "*?[") {
			return nil, fmt.Errorf("%s: no file matches", in)
		}
		return nil, fmt.Errorf("%s: no such file or folder", in)
	}
	if !st.IsDir() {
		return []file{{in, true}}, nil
	}
	return walk(in)
}

func named(names []string) []file {
	var files []file
	for _, n := range names {
		if st, err := os.Stat(n); err == nil && !st.IsDir() {
			files = append(files, file{n, true})
		}
	}
	return files
}

// walk lists the regular files below dir in lexical order, without hidden ones.
func walk(dir string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch hidden := path != dir && strings.HasPrefix(d.Name(), "."); {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return fs.SkipDir
		case !hidden && d.Type().IsRegular():
			files = append(files, file{path, false})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading folder: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: folder has no files", dir)
	}
	return files, nil
}
