package trace

import (
	"fmt"
	"os"
	"path/filepath"
)

// Sample is one value of a target's own metrics page, read while a replay ran. Values that are not finite are not kept.
type Sample struct {
	AtUS     int64   `parquet:"at_us"`         // when the page was read, microseconds since 1970 on the clock of the run's arrivals
	Endpoint string  `parquet:"endpoint,dict"` // host and port of the page
	Name     string  `parquet:"name,dict"`     // such as vllm:num_requests_running
	Labels   string  `parquet:"labels,dict"`   // as on the page, without braces; "" without
	Value    float64 `parquet:"value"`
}

// SampleWriter stores samples beside the parts of a run, in run/metrics/PART.parquet. They are on disk as they come, so
// memory does not grow, and the file has its name when it is whole. It is not safe for concurrent use.
type SampleWriter struct {
	run, tmp string
	*table[Sample]
	n int
}

// NewSampleWriter prepares a writer into a run folder, which is made when missing.
func NewSampleWriter(run string) (*SampleWriter, error) {
	if err := os.MkdirAll(run, 0o755); err != nil {
		return nil, fmt.Errorf("making run folder: %w", err)
	}
	tmp, err := os.MkdirTemp(run, fmt.Sprintf(".partial-%d-", os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("making temporary folder: %w", err)
	}
	t, err := newTable[Sample](filepath.Join(tmp, "metrics"), 0o644, pageBytes)
	if err != nil {
		os.RemoveAll(tmp)
		return nil, err
	}
	return &SampleWriter{run: run, tmp: tmp, table: t}, nil
}

// Add stores the samples of one reading.
func (w *SampleWriter) Add(s []Sample) error {
	w.n += len(s)
	return w.write(s)
}

// Commit names the file. Without samples nothing is left.
func (w *SampleWriter) Commit(part string) error {
	defer w.Abort()
	if w.n == 0 {
		return nil
	}
	_, _, err := w.commit(filepath.Join(w.run, "metrics"), part, nil)
	return err
}

// Abort removes what is not committed. Safe after Commit.
func (w *SampleWriter) Abort() {
	w.file.Close()
	os.RemoveAll(w.tmp)
}
