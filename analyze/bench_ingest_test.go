package analyze

import (
	"bufio"
	"context"
	"fmt"
	"math"
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

// duckDBIngest stores 30 columns, message text not among them.
func duckDBIngest(e *Engine, log, out string) error {
	_, err := e.conn.ExecContext(context.Background(), fmt.Sprintf(`COPY (SELECT id, trace_id, call_type, stream, status, custom_llm_provider, startTime, endTime,
  completionStartTime, response_time, model, response_cost, total_tokens, prompt_tokens, completion_tokens, request_tags, end_user, api_base, model_group, model_id,
  requester_ip_address, error_str, metadata.user_api_key_hash AS key_hash, metadata.user_api_key_alias AS key_alias, metadata.user_api_key_team_id AS team_id,
  metadata.user_api_key_user_id AS user_id, response.choices[1].finish_reason AS finish_reason, response.usage.prompt_tokens_details.cached_tokens AS cached_tokens,
  hidden_params.litellm_overhead_time_ms AS overhead_ms, error_information.error_code AS error_code
FROM read_ndjson('%s', columns={id:'VARCHAR',trace_id:'VARCHAR',call_type:'VARCHAR',stream:'BOOLEAN',status:'VARCHAR',custom_llm_provider:'VARCHAR',startTime:'TIMESTAMP',
  endTime:'TIMESTAMP',completionStartTime:'TIMESTAMP',response_time:'DOUBLE',model:'VARCHAR',response_cost:'DOUBLE',total_tokens:'INTEGER',prompt_tokens:'INTEGER',
  completion_tokens:'INTEGER',request_tags:'VARCHAR[]',end_user:'VARCHAR',api_base:'VARCHAR',model_group:'VARCHAR',model_id:'VARCHAR',requester_ip_address:'VARCHAR',
  error_str:'VARCHAR',metadata:'STRUCT(user_api_key_hash VARCHAR, user_api_key_alias VARCHAR, user_api_key_team_id VARCHAR, user_api_key_user_id VARCHAR)',
  response:'STRUCT(choices STRUCT(finish_reason VARCHAR)[], usage STRUCT(prompt_tokens_details STRUCT(cached_tokens INTEGER)))',
  hidden_params:'STRUCT(litellm_overhead_time_ms DOUBLE)', error_information:'STRUCT(error_code VARCHAR)'})) TO '%s' (FORMAT parquet, COMPRESSION zstd)`, log, out))
	return err
}

// writeBenchLog writes rows of about 6.8 KB until the file is as long as asked for, as many kinds of values among them as in real logs: 300 keys, 40 teams,
// 9,000 users, 7 system prompts, one call in a hundred failed. Most of a row is message text.
func writeBenchLog(b *testing.B, name string, size int64) {
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	rng := rand.New(rand.NewPCG(11, 0))
	words := make([]string, 4000)
	for i := range words {
		words[i] = benchWord(rng)
	}
	prompts, answers := benchTexts(rng, words, 120, 331, ` said \"ok\"\nnext line`), benchTexts(rng, words, 40, 201, "")
	keys := make([]string, 300)
	for i := range keys {
		keys[i] = fmt.Sprintf("%016x%016x%016x%016x", rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64())
	}
	for i, written := 0, int64(0); written < size; i++ {
		n, err := w.WriteString(benchRow(rng, i, keys, prompts, answers))
		if err != nil {
			b.Fatal(err)
		}
		written += int64(n)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
}

func benchWord(rng *rand.Rand) string {
	word := make([]byte, 2+rng.IntN(8))
	for i := range word {
		word[i] = byte('a' + rng.IntN(26))
	}
	return string(word)
}

// benchTexts makes 3,000 texts of least to below most words.
func benchTexts(rng *rand.Rand, words []string, least, most int, end string) []string {
	texts := make([]string, 3000)
	for i := range texts {
		some := make([]string, least+rng.IntN(most-least))
		for k := range some {
			some[k] = words[rng.IntN(len(words))]
		}
		texts[i] = strings.Join(some, " ") + end
	}
	return texts
}

func benchRow(rng *rand.Rand, i int, keys, prompts, answers []string) string {
	in, out := 20+rng.IntN(5981), 1+rng.IntN(900)
	start := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i*91_000+rng.IntN(90_000)) * time.Microsecond)
	wait := time.Duration(math.Exp(rng.NormFloat64()*.6-1) * 1e9)
	took := wait + time.Duration(float64(out)*(.008+.022*rng.Float64())*1e9)
	stamp := func(after time.Duration) string { return start.Add(after).Format("2006-01-02 15:04:05.000000") }
	model := []string{"gpt-4o", "gpt-4o-mini", "claude-sonnet-4-5", "llama-3.3-70b", "qwen3-32b", "mistral-large"}[rng.IntN(6)]
	status, problem, code, class, finish, cached := "success", "null", "", "", "stop", 0
	if rng.IntN(100) == 0 {
		status, problem, code, class = "failure", `"timeout"`, "504", "Timeout"
	}
	if rng.IntN(10) < 3 {
		cached = in / 2
	}
	if out >= 850 {
		finish = "length"
	}
	cost, more := float64(in)*2.5e-6, float64(out)*1e-5
	return fmt.Sprintf(benchLine, rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64(), status, stamp(0), stamp(took), stamp(wait), took.Seconds(), model, keys[rng.IntN(300)],
		rng.IntN(300), rng.IntN(40), rng.IntN(5001), rng.IntN(256), rng.IntN(256), cost+more, in+out, in, out, rng.IntN(31), rng.IntN(9001), model, rng.Uint64(), rng.IntN(256), rng.IntN(256),
		prompts[i%7], prompts[rng.IntN(3000)], rng.Uint64(), rng.Uint64(), start.Unix(), model, finish, answers[rng.IntN(3000)], out, in, in+out, cached, cost, rng.Float64()*30, model, problem, code, class)
}

const benchLine = `{"id": "chatcmpl-%016x%016x", "trace_id": "%016x%016x", "call_type": "acompletion", "cache_hit": null, "stream": true, "status": "%s", "custom_llm_provider": "openai", "saved_cache_cost": 0.0, "startTime": "%s", "endTime": "%s", "completionStartTime": "%s", "response_time": %v, "model": "%s", "metadata": {"user_api_key_hash": "%s", "user_api_key_alias": "key-%d", "user_api_key_team_id": "team-%02d", "user_api_key_org_id": null, "user_api_key_user_id": "user-%d", "user_api_key_team_alias": null, "user_api_key_user_email": null, "spend_logs_metadata": null, "requester_ip_address": "10.0.%d.%d", "requester_metadata": null, "user_api_key_end_user_id": null, "prompt_management_metadata": null, "applied_guardrails": [], "mcp_tool_call_metadata": null, "vector_store_request_metadata": null, "guardrail_information": null}, "cache_key": null, "response_cost": %v, "total_tokens": %d, "prompt_tokens": %d, "completion_tokens": %d, "request_tags": ["env:prod", "app-%d"], "end_user": "eu-%d", "api_base": "https://api.openai.com", "model_group": "%s", "model_id": "%016x", "requester_ip_address": "10.0.%d.%d", "messages": [{"role": "system", "content": "%s"}, {"role": "user", "content": "%s"}], "response": {"id": "chatcmpl-%016x%016x", "created": %d, "model": "%s", "object": "chat.completion", "system_fingerprint": null, "choices": [{"finish_reason": "%s", "index": 0, "message": {"content": "%s", "role": "assistant", "tool_calls": null, "function_call": null, "provider_specific_fields": null}}], "usage": {"completion_tokens": %d, "prompt_tokens": %d, "total_tokens": %d, "completion_tokens_details": null, "prompt_tokens_details": {"cached_tokens": %d}}}, "model_parameters": {"temperature": 0.7, "max_tokens": 1024}, "hidden_params": {"model_id": null, "cache_key": null, "api_base": "https://api.openai.com", "response_cost": %v, "additional_headers": {}, "litellm_overhead_time_ms": %v, "batch_models": null, "litellm_model_name": "%s"}, "model_map_information": {"model_map_key": "gpt-4o", "model_map_value": {"key": "gpt-4o", "max_tokens": 16384, "max_input_tokens": 128000, "max_output_tokens": 16384, "input_cost_per_token": 2.5e-06, "cache_creation_input_token_cost": null, "cache_read_input_token_cost": 1.25e-06, "output_cost_per_token": 1e-05, "litellm_provider": "openai", "mode": "chat", "supports_vision": true, "supports_function_calling": true, "supports_prompt_caching": true, "tpm": null, "rpm": null}}, "error_str": %s, "error_information": {"error_code": "%s", "error_class": "%s", "llm_provider": "openai", "traceback": ""}, "guardrail_information": null, "standard_built_in_tools_params": {"web_search_options": null, "file_search": null}}` + "\n"
