package analyze

import (
	"math"
	"testing"
)

// TestPeersReproduced: from the raw times in a tool's export, latency_as gives what the tool itself printed (its summary,
// in ms: mean, P50, P90, P95, P99, max; 0 is not printed). Our times are whole microseconds, which is the default tolerance
// of 2 us. Differences beyond that, each explained:
//   - GuideLLM sums 1/600 in doubles for its cumulative distribution, which is a hair under .5 after 300 values, so its
//     medians are the 301st value, where type 1 says the 300th: 3 us (TTFT), 18 us (E2E), .1 us (TPOT, ITL).
//   - vLLM's Rust client ends a request when the stream closes, 3 us after the last chunk at the median, 280 us at most; its
//     Python client, and so the definition, ends it with that chunk: up to 17 us of E2E, of TPOT a 63rd of that.
func TestPeersReproduced(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct {
		file, definition string
		want             map[string][6]float64
		toleranceUS      map[string]float64
	}{
		{"aiperf.jsonl.gz", "aiperf", map[string][6]float64{
			"ttft":      {101.7975, 101.4822, 103.1428, 103.9891, 105.6732, 110.5259},
			"itl":       {28.5643, 28.5676, 28.5833, 28.5871, 28.618, 28.7016},
			"chunk_gap": {28.5643, 20.0028, 21.4412, 26.2313, 200.7243, 209.1638},
			"e2e":       {1901.3482, 1901.2015, 1901.8595, 1902.3447, 1904.7744, 1909.6735}}, nil},
		{"guidellm.json.gz", "guidellm", map[string][6]float64{
			"ttft": {102.5008, 101.038, 103.1919, 105.4592, 139.209, 227.4077},
			"tpot": {29.7549, 29.7035, 29.7328, 29.7487, 31.5706, 35.1184},
			"itl":  {28.6002, 28.5716, 28.5878, 28.6012, 30.4297, 34.0764},
			"e2e":  {1905.1659, 1901.7186, 1904.1047, 1905.7159, 2022.0802, 2250.4826}}, map[string]float64{"ttft": 4, "e2e": 18}},
		{"vllm-bench.json.gz", "vllm", map[string][6]float64{
			"ttft": {100.6208, 100.3372, 100.5418, 0, 104.4748, 0},
			"tpot": {28.5715, 28.5717, 28.5751, 0, 28.5938, 0},
			"itl":  {28.5712, 20.0011, 20.2127, 0, 200.0978, 0},
			"e2e":  {1900.6229, 1900.3488, 1900.5788, 0, 1904.1631, 0}}, map[string]float64{"e2e": 18}},
		{"inference-perf.json.gz", "inference-perf", map[string][6]float64{
			"ttft":  {101.2185, 100.4462, 101.2012, 101.9776, 115.6227, 203.0851},
			"tpot":  {28.5713, 28.5732, 28.5776, 28.5891, 28.7967, 29.7641},
			"itl":   {28.5713, 20.0022, 20.4639, 53.7503, 200.0646, 338.4975},
			"ntpot": {29.7172, 29.7078, 29.7208, 29.7384, 29.9523, 30.8782},
			"e2e":   {1901.8985, 1901.2964, 1902.132, 1903.2604, 1916.9462, 1976.208}}, nil},
	} {
		run := ingested(t, "../testdata/peers/"+c.file)
		seen := 0
		for _, row := range runQuery(t, e, run, "latency_as", Scope{}, map[string]string{"definition": c.definition}) {
			metric := row["metric"].(string)
			want, ok := c.want[metric]
			if !ok {
				continue
			}
			seen++
			for i, column := range []string{"mean", "p50", "p90", "p95", "p99", "max"} {
				if got := row[column].(float64); want[i] > 0 && math.Abs(got-want[i])*1e3 > max(2, c.toleranceUS[metric]) {
					t.Errorf("%s, %s %s: got %v, the tool printed %v", c.definition, metric, column, got, want[i])
				}
			}
		}
		if seen != len(c.want) {
			t.Errorf("%s: %d metrics, want %d", c.definition, seen, len(c.want))
		}
	}
}

// TestStallsUnderEachDefinition: the server held every 16th gap for 200 ms, 3 of 63. By our definition the P99 of the gaps
// says so wherever the export has chunk times; what AIPerf calls ITL, and GuideLLM ITL and TPOT, stays under 32 ms at P99.
func TestStallsUnderEachDefinition(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct {
		file, definition, metric string
		low, high                float64
	}{
		{"aiperf.jsonl.gz", "reprise", "chunk_gap", 200, 201}, {"aiperf.jsonl.gz", "reprise", "max_gap", 200, 210},
		{"vllm-bench.json.gz", "reprise", "chunk_gap", 200, 201}, {"inference-perf.json.gz", "reprise", "chunk_gap", 200, 201},
		{"aiperf.jsonl.gz", "aiperf", "itl", 28, 29}, {"guidellm.json.gz", "guidellm", "itl", 28, 31}, {"guidellm.json.gz", "guidellm", "tpot", 28, 32},
		{"aiperf.jsonl.gz", "reprise", "tpot", 28, 29},
	} {
		found := false
		for _, row := range runQuery(t, e, ingested(t, "../testdata/peers/"+c.file), "latency_as", Scope{}, map[string]string{"definition": c.definition}) {
			if row["metric"] == c.metric {
				found = true
				if p99 := row["p99"].(float64); p99 < c.low || p99 > c.high {
					t.Errorf("%s as %s: P99 of %s is %v ms, want %v to %v", c.file, c.definition, c.metric, p99, c.low, c.high)
				}
			}
		}
		if !found {
			t.Errorf("%s as %s: no %s", c.file, c.definition, c.metric)
		}
	}
}
