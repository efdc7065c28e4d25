package trace

import (
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// What is added comes back, nothing is seen before Commit, and a writer without samples leaves nothing.
func TestSamples(t *testing.T) {
	run := t.TempDir()
	w, err := NewSampleWriter(run)
	if err != nil {
		t.Fatal(err)
	}
	want := []Sample{{1, "h:1", "vllm:num_requests_running", `engine="0"`, 2}, {1, "h:1", "x", "", 0.5}, {2, "h:1", "x", "", -3}}
	for _, part := range [][]Sample{want[:2], want[2:]} {
		if err := w.Add(part); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(run, "metrics", "part.parquet")
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is there before Commit")
	}
	if err := w.Commit("part"); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTable[Sample](file)
	if diff := gocmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	empty, err := NewSampleWriter(t.TempDir())
	if err != nil || empty.Commit("part") != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(empty.run); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if left, _ := os.ReadDir(run); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
