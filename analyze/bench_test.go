package analyze

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// rawRows makes n requests of a day in the raw layout of a run: 8 models, 50 tenants, log-normal first tokens, no chunk
// times. Only what the queries below read has values.
const rawRows = `COPY (
SELECT 'req-' || lpad(CAST(i AS VARCHAR), 10, '0') AS request_id, 'req-' || lpad(CAST(i AS VARCHAR), 10, '0') AS root_request_id, CAST(1 AS INTEGER) AS attempt,
  CAST(NULL AS VARCHAR) AS response_id, CAST(NULL AS VARCHAR) AS trace_id, CAST(NULL AS VARCHAR) AS span_id, CAST(NULL AS VARCHAR) AS parent_span_id,
  CAST(NULL AS VARCHAR) AS session_id, CAST(NULL AS INTEGER) AS turn, CAST(make_timestamp(1795961911000000 + i * 86400000000 // %[1]d) AS TIMESTAMPTZ) AS arrival,
  first_us, CAST(NULL AS BIGINT) AS first_visible_us, CAST(NULL AS BIGINT) AS headers_us, CAST(first_us + (tokens - 1) * pace + h %% 97 AS BIGINT) AS last_us,
  first_us + (tokens - 1) * pace + 500 AS end_us, CAST(NULL AS BIGINT) AS send_lag_us, CAST(NULL AS BIGINT) AS queue_us, CAST(NULL AS BIGINT) AS prefill_us,
  CAST(NULL AS BIGINT) AS decode_us, CAST(NULL AS INTEGER[]) AS gaps_us, CAST(NULL AS INTEGER[]) AS chunk_tokens, 'first_content_chunk' AS ttft_kind,
  'gateway' AS vantage, 'wall' AS clock_domain, CAST(1 AS BIGINT) AS time_precision_us,
  CASE WHEN h %% 50 = 0 THEN 'rate_limited' WHEN h %% 97 = 0 THEN 'client_cancel' ELSE 'ok' END AS error_class, CAST(200 AS INTEGER) AS http_status,
  'stop' AS finish_reason, 'chat' AS endpoint_kind, TRUE AS stream, CAST(NULL AS BOOLEAN) AS cached_response, 'model-' || (h %% 8) AS model_requested,
  'org/model-' || (h %% 8) AS model_served, 'prov' AS provider, 'dep-' || (h %% 20) AS deployment, 'rep-' || (h %% 32) AS replica,
  'team-' || (h // 64 %% 50) AS tenant, CAST(NULL AS VARCHAR) AS app, CAST(NULL AS VARCHAR) AS route, CAST(NULL AS VARCHAR) AS key_hash,
  CAST(NULL AS VARCHAR) AS user_hash, CAST(100 + h // 7 %% 3000 AS BIGINT) AS input_tokens, CAST(NULL AS BIGINT) AS cached_input_tokens,
  CAST(NULL AS BIGINT) AS cache_write_tokens, tokens AS output_tokens, CAST(NULL AS BIGINT) AS reasoning_tokens, CAST(NULL AS BIGINT) AS max_tokens,
  'usage' AS tokens_source, CAST(NULL AS BIGINT) AS system_prompt_tokens, CAST(NULL AS VARCHAR) AS system_prompt_hash, CAST(NULL AS BIGINT[]) AS prefix_hash_ids,
  CAST(NULL AS INTEGER) AS prefix_block_tokens, 'litellm' AS source_format, 'x.jsonl' AS source_file, i AS source_line, CAST(NULL AS VARCHAR) AS quality
FROM (
  SELECT i, hash(i) AS h, CAST(200000 * exp(sqrt(-2 * ln((hash(i * 7 + 1) %% 1000000 + 1) / 1e6)) * cos((hash(i * 13 + 5) %% 1000000) / 159154.9)) AS BIGINT) AS first_us,
         CAST(1 + hash(i * 17 + 9) %% 600 AS BIGINT) AS tokens, CAST(21000 + hash(i * 19 + 3) %% 30000 AS BIGINT) AS pace
  FROM range(%[1]d) AS r(i))
) TO '%[2]s' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE %[3]d)`

// BenchmarkQueries runs the shipped queries on 10 M requests, one thread, straight from Parquet. "raw" is the least that
// the same figure can cost: a statement over raw columns without any of the rules of base/requests.sql. Set
// BENCH_ROWS for another size.
func BenchmarkQueries(b *testing.B) {
	rows := 10_000_000
	if s := os.Getenv("BENCH_ROWS"); s != "" {
		if _, err := fmt.Sscan(s, &rows); err != nil {
			b.Fatal(err)
		}
	}
	ctx := context.Background()
	path := b.TempDir() + "/part.parquet"
	if _, err := newEngine(b).conn.ExecContext(ctx, fmt.Sprintf(rawRows, rows, path, 100_000)); err != nil {
		b.Fatal(err)
	}
	run, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	e, err := NewEngine(ctx, EngineOptions{Threads: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	slo, err := ParseSLO("ttft<=450ms,tpot<=40ms")
	if err != nil {
		b.Fatal(err)
	}
	hour := map[string]string{"bin_us": "3600000000"}
	one := map[string]string{"bin_us": "3600000000", "metric": "ttft"}
	for _, c := range []struct {
		name, query string
		scope       Scope
		params      map[string]string
	}{
		{"latency_over_time/ttft/model", "latency_over_time", Scope{By: []string{"model"}}, one},
		{"latency_over_time/all/model", "latency_over_time", Scope{By: []string{"model"}}, hour},
		{"goodput/tenant,model", "goodput", Scope{By: []string{"tenant", "model"}, SLO: slo}, nil},
		{"goodput_over_time/model", "goodput_over_time", Scope{By: []string{"model"}, SLO: slo}, hour},
		{"latency/model", "latency", Scope{By: []string{"model"}}, nil},
		{"overview/model", "overview", Scope{By: []string{"model"}}, nil},
		{"errors/tenant", "errors", Scope{By: []string{"tenant"}}, nil},
		{"concurrency/replica", "concurrency", Scope{By: []string{"replica"}}, nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			text, err := e.Text(ctx, run, c.query, c.scope, c.params)
			if err != nil {
				b.Fatal(err)
			}
			benchStatement(b, e, text)
		})
	}
	b.Run("raw/quantiles", func(b *testing.B) {
		benchStatement(b, e, "SELECT model_requested, epoch_us(arrival) // 3600000000 AS h, quantile_cont(first_us, [0.5, 0.9, 0.95, 0.99, 0.999]) FROM "+
			run.scan()+" WHERE error_class = 'ok' GROUP BY ALL")
	})
	b.Run("raw/goodput", func(b *testing.B) {
		benchStatement(b, e, "SELECT tenant, model_requested, count(*), sum(CASE WHEN error_class = 'ok' AND first_us <= 450000 AND "+
			"(last_us - first_us) / (output_tokens - 1) <= 40000 THEN output_tokens END) FROM "+run.scan()+" GROUP BY ALL")
	})
}

func benchStatement(b *testing.B, e *Engine, text string) {
	for b.Loop() {
		rows, err := e.conn.QueryContext(context.Background(), text)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for rows.Next() {
			n++
		}
		if err := rows.Close(); err != nil || n == 0 {
			b.Fatal(n, err)
		}
		b.ReportMetric(float64(n), "rows")
	}
}
