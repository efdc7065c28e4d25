package ingest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/ingest/decode"
)

func ingestText(t *testing.T, text string) (*Account, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Run(context.Background(), Options{Run: t.TempDir(), Options: decode.Options{Hash: decode.NewHasher(make([]byte, 16))}}, file)
}

// TestSummaries: files that hold no request are named, with advice. The heads are those of the tools' own files.
func TestSummaries(t *testing.T) {
	for text, want := range map[string][2]string{
		"{\n  \"schema_version\": \"1.4\",\n  \"aiperf_version\": \"0.13.0\",\n  \"request_throughput\": {}\n}":        {"AIPerf summary", "profile_export.jsonl"},
		"{\n  \"benchmark_time_seconds\": 31.8,\n  \"load_summary\": {},\n  \"successes\": {}\n}":                      {"inference-perf summary", "per_request_lifecycle"},
		"{\n    \"Test Duration (s)\": 31.6969,\n    \"Concurrency\": -1,\n    \"Total Requests\": 600\n}":             {"evalscope summary", "pickles"},
		"[\n    {\n        \"Percentiles\": \"min\",\n        \"TTFT (ms)\": 100.5\n    }\n]":                          {"evalscope summary", "pickles"},
		`{"mean_ttft_ms":100.6,"total_input_tokens":28734,"completed":600}`:                                            {"vLLM bench result", "--save-detailed"},
		`{"backend":"sglang","mean_ttft_ms":1,"total_input_tokens":5,"total_output_tokens_retokenized":9,"itls":[[]]}`: {"SGLang's bench_serving", "--export-metrics-to-file"},
		"SQLite format 3\x00\x10\x00\x01\x01\x00\x40\x20\x20":                                                          {"SQLite", "pickles"},
		"\x80\x04\x95\x06\x00\x00\x00\x00\x00\x00\x00]\x94K\x01a.":                                                     {"pickle", "--log-requests"},
	} {
		_, err := ingestText(t, text)
		var hint *HintError
		if !errors.As(err, &hint) || !strings.Contains(err.Error(), want[0]) || !strings.Contains(hint.Hint, want[1]) {
			t.Errorf("%q: error %v; want %q and advice with %q", text[:20], err, want[0], want[1])
		}
	}
}

// TestLongDocument: one object of many lines, longer than what detection peeks at.
func TestLongDocument(t *testing.T) {
	request := "  {\"timestamp\": 1745526100322752068, \"response_timestamps\": [1745526100365982228]},\n"
	text := "{\n\"experiments\": [{\"experiment\": {}, \"requests\": [\n" + strings.Repeat(request, 2*peekBytes/len(request))
	text = strings.TrimSuffix(text, ",\n") + "]}]}\n"
	a, err := ingestText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	if in := a.Inputs[0]; in.Format != "genai-perf" || in.Kept != int64(2*peekBytes/len(request)) || in.Read != in.Kept {
		t.Errorf("got %+v", in)
	}
}
