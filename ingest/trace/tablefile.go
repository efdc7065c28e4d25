package trace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// WriteTable writes rows as one Parquet file named *.parquet, which must not exist yet and appears whole or not at all. T is
// a struct with parquet tags as in [Request]; meta is stored in the file.
func WriteTable[T any](path string, rows []T, meta map[string]string, mode os.FileMode) error {
	name, ok := strings.CutSuffix(filepath.Base(path), ".parquet")
	if !ok {
		return fmt.Errorf("expected a file name that ends in .parquet, got %q", path)
	}
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("%s: the file is there already", path)
	}
	t, err := newTable[T](fmt.Sprintf("%s.partial-%d", path, os.Getpid()), mode, pageBytes)
	if err != nil {
		return err
	}
	defer os.Remove(t.file.Name())
	defer t.file.Close()
	if err := t.write(rows); err != nil {
		return err
	}
	_, _, err = t.commit(filepath.Dir(path), name, meta)
	return err
}

// ReadTable reads all rows of a file written by WriteTable.
func ReadTable[T any](path string) (rows []T, err error) {
	err = readFile(path, func(r T) bool {
		rows = append(rows, r)
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rows, nil
}
