package analyze

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reprise/ingest"
	"reprise/ingest/decode"
)

// BenchmarkIngest reads a LiteLLM log of rows of about 6.8 KB (REPRISE_BENCH_MB, default 100) on one core, in turn with
// DuckDB's read_ndjson with explicit columns into zstd Parquet on one thread. It reports the median of the ratios
// of CPU time (above 1: we take less) of five interleaved pairs.
func BenchmarkIngest(b *testing.B) {
	mb, err := strconv.Atoi(os.Getenv("REPRISE_BENCH_MB"))
	if err != nil {
		mb = 100
	}
	log := filepath.Join(b.TempDir(), "log.jsonl")
	writeBenchLog(b, log, int64(mb)<<20)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(200)) // as the command does
	e, err := NewEngine(context.Background(), EngineOptions{Threads: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	for b.Loop() {
		var ratios, ours []float64
		for range 5 {
			theirs := seconds(b, func() error { return duckDBIngest(e, log, filepath.Join(b.TempDir(), "d.parquet")) })
			us := seconds(b, func() error {
				_, err := ingest.Run(context.Background(), ingest.Options{Run: b.TempDir(), Workers: 1,
					Options: decode.Options{Hash: decode.NewHasher([]byte("a key of the benchmark"))}}, log)
				return err
			})
			ratios, ours = append(ratios, theirs/us), append(ours, us)
		}
		slices.Sort(ratios)
		slices.Sort(ours)
		b.ReportMetric(ratios[2], "x-DuckDB")
		b.ReportMetric(float64(mb)/ours[2], "MB/s")
	}
}

// seconds is the CPU time that f takes: others may use the machine too.
func seconds(b *testing.B, f func() error) float64 {
	start := cpuTime()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return (cpuTime() - start).Seconds()
}

func duckDBIngest(e *Engine, log, out string) error {
	_, err := e.conn.ExecContext(context.Background(), fmt.Sprintf(`COPY (SELECT id, trace_id, call_type, stream, status, custom_llm_provider, startTime, endTime,
  completionStartTime, response_time, model, response_cost, total_tokens, prompt_tokens, completion_tokens, request_tags, end_user, api_base, model_group, model_id,
  metadata.user_api_key_hash AS key_hash, metadata.user_api_key_team_id AS team_id, response.choices[1].finish_reason AS finish_reason,
  response.usage.prompt_tokens_details.cached_tokens AS cached_tokens
FROM read_ndjson('%s', columns={id:'VARCHAR',trace_id:'VARCHAR',call_type:'VARCHAR',stream:'BOOLEAN',status:'VARCHAR',custom_llm_provider:'VARCHAR',startTime:'TIMESTAMP',
  endTime:'TIMESTAMP',completionStartTime:'TIMESTAMP',response_time:'DOUBLE',model:'VARCHAR',response_cost:'DOUBLE',total_tokens:'INTEGER',prompt_tokens:'INTEGER',
  completion_tokens:'INTEGER',request_tags:'VARCHAR[]',end_user:'VARCHAR',api_base:'VARCHAR',model_group:'VARCHAR',model_id:'VARCHAR',
  metadata:'STRUCT(user_api_key_hash VARCHAR, user_api_key_team_id VARCHAR)',
  response:'STRUCT(choices STRUCT(finish_reason VARCHAR)[], usage STRUCT(prompt_tokens_details STRUCT(cached_tokens INTEGER)))'})) TO '%s' (FORMAT parquet, COMPRESSION zstd)`, log, out))
	return err
}

// writeBenchLog writes rows until the file is as long as asked for. Most of a row is message text, as in real logs.
func writeBenchLog(b *testing.B, name string, size int64) {
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	rng := rand.New(rand.NewPCG(11, 0))
	texts := make([]string, 300)
	for i := range texts {
		texts[i] = benchText(rng, 200+rng.IntN(200)) + ` said \"ok\"\nnext line`
	}
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	const layout = "2006-01-02 15:04:05.000000"
	for i, written := 0, int64(0); written < size; i++ {
		start := at.Add(time.Duration(i) * 91 * time.Millisecond)
		in, out := 20+rng.IntN(6000), 1+rng.IntN(900)
		first, end := start.Add(400*time.Millisecond), start.Add(400*time.Millisecond+time.Duration(out)*15*time.Millisecond)
		n, err := fmt.Fprintf(w, benchRow, rng.Uint64(), rng.Uint64(), start.Format(layout), end.Format(layout), first.Format(layout), rng.IntN(6), rng.Uint64(), rng.IntN(40),
			in+out, in, out, rng.IntN(30), rng.IntN(9000), rng.IntN(6), texts[i%7], texts[rng.IntN(300)], texts[rng.IntN(300)], out, in, in+out, in/2)
		if err != nil {
			b.Fatal(err)
		}
		written += int64(n)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
}

func benchText(rng *rand.Rand, words int) string {
	var s strings.Builder
	for range words {
		for range 2 + rng.IntN(7) {
			s.WriteByte(byte('a' + rng.IntN(26)))
		}
		s.WriteByte(' ')
	}
	return s.String()
}

const benchRow = `{"id": "chatcmpl-%016x", "trace_id": "%016x", "call_type": "acompletion", "cache_hit": null, "stream": true, "status": "success", "custom_llm_provider": "openai", "saved_cache_cost": 0.0, "startTime": "%s", "endTime": "%s", "completionStartTime": "%s", "response_time": 0.4, "model": "model-%d", "metadata": {"user_api_key_hash": "%064x", "user_api_key_alias": "key", "user_api_key_team_id": "team-%02d", "user_api_key_user_id": "user", "spend_logs_metadata": null, "requester_ip_address": "10.0.0.1", "applied_guardrails": []}, "cache_key": null, "response_cost": 0.01, "total_tokens": %d, "prompt_tokens": %d, "completion_tokens": %d, "request_tags": ["env:prod", "app-%d"], "end_user": "eu-%d", "api_base": "https://api.example.com", "model_group": "model-%d", "model_id": "m", "messages": [{"role": "system", "content": "%s"}, {"role": "user", "content": "%s"}], "response": {"object": "chat.completion", "choices": [{"finish_reason": "stop", "index": 0, "message": {"content": "%s", "role": "assistant", "tool_calls": null}}], "usage": {"completion_tokens": %d, "prompt_tokens": %d, "total_tokens": %d, "completion_tokens_details": null, "prompt_tokens_details": {"cached_tokens": %d}}}, "model_parameters": {"temperature": 0.7, "max_tokens": 1024, "stream": true}, "hidden_params": {"model_id": null, "api_base": "https://api.example.com", "litellm_overhead_time_ms": 3.5}, "model_map_information": {"model_map_key": "m", "model_map_value": {"key": "m", "max_tokens": 16384, "mode": "chat"}}, "error_str": null, "error_information": {"error_code": "", "error_class": "", "llm_provider": "openai", "traceback": ""}}` + "\n"
