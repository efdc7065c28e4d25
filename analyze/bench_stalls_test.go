package analyze

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// rawStreams makes n streams of 200 chunk gaps on 16 replicas, 24 at a time on each: gaps of 18 to 23 ms, one in 60 longer by 60 to 260 ms; prompts of 100 to
// 1,600 tokens, one in 50 of 6,000. Columns as in rawRows.
const rawStreams = `COPY (
SELECT * EXCLUDE (tin, g, first) REPLACE ('rep-' || (source_line %% 16) AS replica, 'all' AS model_requested, 'ok' AS error_class,
  CAST(make_timestamp(1795961911000000 + source_line * 11200) AS TIMESTAMPTZ) AS arrival, list_concat([CAST(first AS INTEGER)], g) AS gaps_us, CAST(first AS BIGINT) AS first_us,
  CAST(first + list_sum(g) AS BIGINT) AS last_us, CAST(first + list_sum(g) + 500 AS BIGINT) AS end_us, CAST(tin AS BIGINT) AS input_tokens, CAST(0 AS BIGINT) AS cached_input_tokens,
  CAST(201 AS BIGINT) AS output_tokens)
FROM (
  SELECT *, 20000 + tin * 40 + hash(source_line) %% 3000 AS first FROM (
    SELECT *, CASE WHEN hash(source_line * 3 + 1) %% 50 = 0 THEN 6000 ELSE 100 + hash(source_line) // 7 %% 1500 END AS tin,
           list_transform(range(200), lambda k: CAST(18000 + hash(source_line * 1000 + k) %% 5000 +
             CASE WHEN hash(source_line * 1000 + k) // 5000 %% 60 = 0 THEN 60000 + hash(source_line * 1000 + k) // 77 %% 200000 ELSE 0 END AS INTEGER)) AS g
    FROM '%s'))
) TO '%s' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20000)`

// BenchmarkStalls says what pooled gaps and stalls take: CPU seconds and the peak of the memory of this process, two threads, 1 GB for DuckDB. BENCH_ROWS streams of 200 gaps,
// 20,000 unless set; 1000000 are 200 M gaps.
func BenchmarkStalls(b *testing.B) {
	rows := 20_000
	if s := os.Getenv("BENCH_ROWS"); s != "" {
		if _, err := fmt.Sscan(s, &rows); err != nil {
			b.Fatal(err)
		}
	}
	ctx := context.Background()
	dir := b.TempDir()
	maker := newEngine(b)
	for _, text := range []string{fmt.Sprintf(rawRows, rows, dir+"/rows.parquet", 20_000), fmt.Sprintf(rawStreams, dir+"/rows.parquet", dir+"/part.parquet")} {
		if _, err := maker.conn.ExecContext(ctx, text); err != nil {
			b.Fatal(err)
		}
	}
	run, err := Open(dir + "/part.parquet")
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		queries []string
	}{
		{"gaps", []string{"token_gaps"}},
		{"stalls", []string{"decode_stalls"}},
		{"section", []string{"decode_stalls", "stall_labels", "stall_culprits", "stall_blame", "gap_counterfactual", ""}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				benchStalls(b, run, c.queries)
			}
		})
	}
}

// benchStalls runs queries on a new engine; "" are the controls.
func benchStalls(b *testing.B, run *Run, names []string) {
	e, err := NewEngine(context.Background(), EngineOptions{Threads: 2, MemoryMB: 1000})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	resetPeak(b)
	cpu := cpuTime()
	for _, name := range names {
		if name == "" {
			_, err = e.StallControls(b.Context(), run, Scope{})
		} else {
			_, err = e.Query(b.Context(), run, name, Scope{}, nil)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cpuTime() - cpu).Seconds(), "CPU-s")
	b.ReportMetric(peakMB(b), "peak-MB")
}
