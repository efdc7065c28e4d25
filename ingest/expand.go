package ingest

import (
	"context"
	"fmt"
	"io"
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
	open  func() (io.ReadCloser, error) // nil for what the system opens
}

// Remote is an input that is no file of this machine. What cannot be read of it ends an ingest, in a folder too: a
// network fails for reasons that have nothing to do with a file.
type Remote struct {
	Name  string
	Named bool // it must be a log, as a file that was named must
	Open  func() (io.ReadCloser, error)
}

// expand resolves files, folders and globs to files in a fixed order, each once.
func expand(ctx context.Context, o Options, inputs []string) ([]file, error) {
	var files []file
	for _, in := range inputs {
		found, err := expandOne(ctx, o, in)
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

func expandOne(ctx context.Context, o Options, in string) ([]file, error) {
	if in == Stdin {
		return []file{{name: in, named: true}}, nil
	}
	if o.Remote != nil {
		if found, err := o.Remote(ctx, in); len(found) > 0 || err != nil {
			return remote(found), err
		}
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
		return []file{{name: in, named: true}}, nil
	}
	return walk(in)
}

func remote(found []Remote) (files []file) {
	for _, r := range found {
		files = append(files, file{r.Name, r.Named, r.Open})
	}
	return files
}

func named(names []string) []file {
	var files []file
	for _, n := range names {
		if st, err := os.Stat(n); err == nil && !st.IsDir() {
			files = append(files, file{name: n, named: true})
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
			files = append(files, file{name: path})
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
