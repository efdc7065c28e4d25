package analyze

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestPhasesOfVLLM: vLLM's spans split the wait of what a client saw into 653 = 321 + 272 + 61 ms, as the capture's page says it of the 357
// streams that went well and share a trace with a span, without those of two choices. One of them (r0325) came in one chunk of two
// tokens, which tells no first token, so that 356 are split. The page's means over these and that one, by a program of its own:
// 648.591 = 317.003 + 271.069 + 60.519 and 2361.955 = 1848.736 + 421.312 + 91.906 ms.
func TestPhasesOfVLLM(t *testing.T) {
	var lines []byte
	readLines(t, "../testdata/truth/vllm-baseline.jsonl.gz", func(line []byte) {
		var r struct {
			App     string
			TraceID string `json:"trace_id"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if r.App != "n2" && r.TraceID != "" {
			lines = append(append(lines, line...), '\n')
		}
	})
	client := filepath.Join(t.TempDir(), "client.jsonl")
	if err := os.WriteFile(client, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t)
	res, err := e.Query(t.Context(), ingested(t, client, "../testdata/truth/vllm-baseline.spans.jsonl.gz"), "phases", Scope{By: []string{"vantage"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	means := map[string]float64{}
	for _, row := range cells(t, res, []string{"grp", "told", "stage", "n", "mean"}) {
		if row[0] == "client" && row[1] == "engine" {
			if row[3] != int64(356) {
				t.Errorf("%v of %v calls, want 356", row[2], row[3])
			}
			means[row[2].(string)] = row[4].(float64)
		}
	}
	for stage, want := range map[string]float64{"queue": 317.003, "prefill": 271.069, "rest": 60.519} {
		if math.Abs(means[stage]-want) > .002 {
			t.Errorf("%s: %.3f ms, the spans say %.3f", stage, means[stage], want)
		}
	}
	if engine := means["ttft"] - means["overhead"]; math.Abs(engine-648.591) > .002 || means["overhead"] < 2.2 || means["overhead"] > 20 {
		t.Errorf("engine's first token after %.3f ms, the spans say 648.591; overhead %.3f, the page says 2.2 to 4 (median), 20 to 44 (p99)", engine, means["overhead"])
	}
}
