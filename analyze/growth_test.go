package analyze

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/queries"
)

// BenchmarkGrowth runs every query of the catalogue on 30 days of requests, in parts by day, and says what each takes: CPU
// seconds and the peak of the memory of this process, within 4 GB for DuckDB. To be set beside another size:
//
//	BENCH_ROWS=10000000 go test ./analyze -timeout 2h -run '^$' -bench Growth -benchtime 1x
func BenchmarkGrowth(b *testing.B) {
	rows, err := strconv.Atoi(os.Getenv("BENCH_ROWS"))
	if err != nil {
		rows = 1_000_000
	}
	dir := b.TempDir()
	writeMonth(b, dir, rows)
	run, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	slo, err := ParseSLO("ttft<=450ms,tpot<=40ms@99%")
	if err != nil {
		b.Fatal(err)
	}
	for _, q := range queries.List() {
		b.Run(q.Name, func(b *testing.B) { benchGrowth(b, run, q.Name, Scope{SLO: slo}) })
	}
}

// benchGrowth gives a query five minutes.
func benchGrowth(b *testing.B, run *Run, name string, sc Scope) {
	for b.Loop() {
		e, err := NewEngine(context.Background(), EngineOptions{MemoryMB: 4000})
		if err != nil {
			b.Fatal(err)
		}
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
		resetPeak(b)
		cpu := cpuTime()
		_, err = e.Query(ctx, run, name, sc, nil)
		b.ReportMetric((cpuTime() - cpu).Seconds(), "CPU-s")
		b.ReportMetric(peakMB(b), "peak-MB")
		stop()
		if err := errors.Join(err, e.Close()); err != nil {
			line, _, _ := strings.Cut(err.Error(), "\n")
			b.Fatal(line)
		}
	}
}

// writeMonth writes a run of 30 days as parts by day.
func writeMonth(b *testing.B, dir string, rows int) {
	e := newEngine(b)
	day := filepath.Join(dir, "all.parquet")
	text := fmt.Sprintf(strings.Replace(rawRows, "i * 86400000000 // %[1]d", "i * (2592000000000 // %[1]d)", 1), rows, day, 100_000)
	for _, text := range []string{text, fmt.Sprintf("COPY (SELECT *, strftime(arrival, '%%Y-%%m-%%d') AS day FROM read_parquet('%s')) TO '%s' (FORMAT parquet, PARTITION_BY (day), COMPRESSION zstd, OVERWRITE_OR_IGNORE)", day, dir)} {
		if _, err := e.conn.ExecContext(context.Background(), text); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.Remove(day); err != nil {
		b.Fatal(err)
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resetPeak lets the peak begin at what is used now (Linux; elsewhere the peak is that of the whole process).
func resetPeak(b *testing.B) {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Log(err)
	}
}

func peakMB(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Log(err)
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kb, _ := strconv.Atoi(strings.Fields(rest)[0])
	return float64(kb) / 1024
}
