package ingest

import (
	"bytes"
	"errors"
	"fmt"

	"reprise/ingest/decode"
)

// summary is a kind of file that people take for a log and that holds no request.
type summary struct {
	name   string
	head   []byte   // it begins with this, when set
	keys   []string // the first object has all of these
	advice string
}

var summaries = []summary{
	{name: "an AIPerf summary", keys: []string{"aiperf_version", "request_throughput"}, advice: "give profile_export.jsonl of the same folder"},
	{name: "an inference-perf summary", keys: []string{"load_summary", "successes"}, advice: "give per_request_lifecycle_metrics.json of the same folder"},
	{name: "an evalscope summary", keys: []string{"Total Requests", "Concurrency"}, advice: evalscope},
	{name: "an evalscope summary", keys: []string{"Percentiles", "TTFT (ms)"}, advice: evalscope},
	{name: "a result of SGLang's bench_serving", keys: []string{"mean_ttft_ms", "total_output_tokens_retokenized"}, advice: sglangBench},
	{name: "a vLLM bench result without --save-detailed", keys: []string{"mean_ttft_ms", "total_input_tokens"}, advice: "run vllm bench serve with --save-detailed"},
	{name: "an SQLite database (evalscope's benchmark_data.db is one)", head: []byte("SQLite format 3\x00"), advice: evalscope},
	{name: "a Python pickle (SGLang's dump folder holds such)", head: []byte("\x80\x04\x95"), advice: pickle},
	{name: "a Python pickle (SGLang's dump folder holds such)", head: []byte("\x80\x05\x95"), advice: pickle},
}

const (
	sglangBench = "its itls are chunk gaps divided by tokens, so no chunk time can be had from it: not read. Have the server write --export-metrics-to-file"
	evalscope   = "evalscope keeps its requests as pickles in an SQLite file, and reading a pickle runs what is in it: not read. Use the log of the server or gateway it asked"
	pickle      = "reading a pickle runs what is in it: not read. Have SGLang write --log-requests or --export-metrics-to-file"
)

// refuseSummary names the input if it is a known kind of file without requests; else nil.
func refuseSummary(l *look) error {
	for _, s := range summaries {
		if s.head != nil && bytes.HasPrefix(l.Head, s.head) || s.keys != nil && len(l.Records) > 0 && hasAll(l.Records[0], s.keys) {
			return &HintError{fmt.Errorf("%w: %s", errNoRequests, s.name), s.advice}
		}
	}
	return nil
}

var errNoRequests = errors.New("no requests that can be read")

func hasAll(v *decode.Value, keys []string) bool {
	for _, k := range keys {
		if !decode.Has(v, k) {
			return false
		}
	}
	return true
}
