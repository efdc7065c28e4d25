package trace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	type row struct {
		ID   string  `parquet:"id,zstd"`
		N    *int64  `parquet:"n,optional,zstd"`
		List []int64 `parquet:"list,list,optional"`
	}
	rows := []row{{"a", Ptr(int64(0)), []int64{1, -2}}, {"b", nil, nil}}
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := WriteTable(path, rows, map[string]string{"k": "v"}, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTable[row](path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(rows, got); d != "" {
		t.Error(d)
	}
	if meta, n, _, err := Meta(path); err != nil || n != 2 || meta["k"] != "v" {
		t.Errorf("meta %v, %d rows, %v", meta, n, err)
	}
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", st.Mode())
	}
	if err := WriteTable(path, rows, nil, 0o600); err == nil {
		t.Error("a file that is there must not be replaced")
	}
	if err := WriteTable(filepath.Join(t.TempDir(), "x.pq"), rows, nil, 0o600); err == nil {
		t.Error("want an error for another ending")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("leftovers: %v", left)
	}
	if _, err := ReadTable[row](filepath.Join(t.TempDir(), "none.parquet")); err == nil {
		t.Error("want an error for a missing file")
	}
}
