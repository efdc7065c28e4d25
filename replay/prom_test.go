package replay

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

// Lines as vLLM, SGLang, TGI, llama.cpp and the DCGM exporter write them, and the corners of the format: braces and quotes
// within a label, a time, an exemplar, no labels, values that are not finite.
const promPage = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="meta-llama/Llama-3.1-8B-Instruct"} 3.0
vllm:prompt_tokens_total{engine="0",model_name="m"} 8.128902e+06
vllm:request_success_created{engine="0"} 1.7e+09
vllm:time_to_first_token_seconds_bucket{le="0.5",model_name="m"} 12.0
vllm:time_to_first_token_seconds_sum{model_name="m"} 0.25
sglang:token_usage{model_name="a}b\"c\\"} 0.28

tgi_queue_size 4
llamacpp:requests_deferred 2
DCGM_FI_DEV_GPU_UTIL{gpu="0", UUID="GPU-1", } 87 1395066363000
with_exemplar_total{a="b"} 17 # {trace_id="x"} 0.67
nan_gauge NaN
inf_gauge +Inf
# EOF
not a sample
broken{a="b 1
{no_name} 1
name_only
`

func TestProm(t *testing.T) {
	got, bad := parseProm(promPage)
	want := []trace.Sample{
		{Name: "vllm:num_requests_running", Labels: `engine="0",model_name="meta-llama/Llama-3.1-8B-Instruct"`, Value: 3},
		{Name: "vllm:prompt_tokens_total", Labels: `engine="0",model_name="m"`, Value: 8128902},
		{Name: "vllm:time_to_first_token_seconds_sum", Labels: `model_name="m"`, Value: .25},
		{Name: "sglang:token_usage", Labels: `model_name="a}b\"c\\"`, Value: .28},
		{Name: "tgi_queue_size", Value: 4},
		{Name: "llamacpp:requests_deferred", Value: 2},
		{Name: "DCGM_FI_DEV_GPU_UTIL", Labels: `gpu="0", UUID="GPU-1"`, Value: 87},
		{Name: "with_exemplar_total", Labels: `a="b"`, Value: 17},
	}
	if diff := gocmp.Diff(want, got); diff != "" || bad != 4 {
		t.Errorf("%d bad lines, want 4\n%s", bad, diff)
	}
}

func FuzzProm(f *testing.F) {
	f.Add(promPage)
	f.Add("a{")
	f.Add("a{b=\"\\")
	f.Fuzz(func(t *testing.T, page string) {
		samples, bad := parseProm(page)
		again, _ := parseProm(page + "\nlast_one 1\n")
		if len(again) != len(samples)+1 || again[len(samples)].Name != "last_one" || bad < 0 {
			t.Errorf("a line of its own changed what was read before it: %v, then %v", samples, again)
		}
		for _, s := range samples {
			if s.Name == "" || s.Value != s.Value {
				t.Errorf("%+v", s)
			}
		}
	})
}
