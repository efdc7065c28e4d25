package otel

import (
	"testing"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

type vllmClient struct {
	ID      string
	Kind    string
	TraceID string `json:"trace_id"`
	SentNS  int64  `json:"sent_ns"`
	Stream  bool
	Outcome string
	RoleUS  *int64 `json:"role_us"`
	EndUS   int64  `json:"end_us"`
	RespID  string `json:"resp_id"`
	Usage   *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	}
	// Metrics is vLLM's own account in the body: its time_to_first_token_ms is the prefill (the capture's README).
	Metrics *struct {
		Prefill float64 `json:"time_to_first_token_ms"`
		Decode  float64 `json:"generation_time_ms"`
		Queue   float64 `json:"queue_time_ms"`
	}
}

func TestVLLM(t *testing.T) {
	clients := truths(t, "vllm/client.jsonl.gz", func(c vllmClient) string { return c.TraceID })
	got := decodeJSON(t, JSON(), decode.Options{}, lines(t, "vllm/spans.jsonl.gz")...)
	rows := map[string][]*trace.Request{}
	for _, r := range got.rows {
		rows[r.TraceID] = append(rows[r.TraceID], r)
	}
	if got.skipped[notLLM] != 11 { // start-up
		t.Errorf("skipped %v, want 11 spans of the start-up", got.skipped)
	}
	for _, c := range clients {
		want := 1
		switch {
		case c.Outcome != "ok": // cancelled and refused requests leave no span
			want = 0
		case c.Kind == "n2":
			want = 2
		}
		list := rows[c.TraceID]
		if len(list) != want {
			t.Fatalf("%s: %d rows, want %d", c.ID, len(list), want)
		}
		sum := int64(0)
		for _, r := range list {
			checkVLLM(t, r, c)
			sum += *r.OutputTokens
		}
		if c.Usage != nil && want > 0 && sum != c.Usage.Completion {
			t.Errorf("%s: %d output tokens, the client saw %d", c.ID, sum, c.Usage.Completion)
		}
	}
}

func checkVLLM(t *testing.T, r *trace.Request, c vllmClient) {
	t.Helper()
	if r.Vantage != trace.Engine || r.ErrorClass != trace.ClassOK || r.ResponseID != c.RespID || r.Replica == "" || r.Stream != nil {
		t.Errorf("%s: vantage %q, class %q, response %q (want %q), replica %q, stream %v", c.ID, r.Vantage, r.ErrorClass, r.ResponseID, c.RespID, r.Replica, show(r.Stream))
	}
	kind := "chat"
	if c.Kind == "completion" {
		kind = "completions"
	}
	if r.EndpointKind != kind {
		t.Errorf("%s: kind %q, want %q", c.ID, r.EndpointKind, kind)
	}
	late := *r.Arrival - c.SentNS/1000
	if late < 0 || late > 20000 {
		t.Errorf("%s: arrival %d us after the send", c.ID, late)
	}
	if end := late + *r.EndUS; end > c.EndUS || end < c.EndUS-40000 {
		t.Errorf("%s: end %d us after the send, the client saw %d", c.ID, end, c.EndUS)
	}
	if c.RoleUS != nil { // the role chunk leaves together with the first token
		if first := late + *r.FirstUS; r.TTFTKind != trace.TTFTEngine || first > *c.RoleUS || first < *c.RoleUS-50000 {
			t.Errorf("%s: first token %d us after the send (%q), the client saw %d", c.ID, first, r.TTFTKind, *c.RoleUS)
		}
	}
	if c.Usage != nil && *r.InputTokens != c.Usage.Prompt {
		t.Errorf("%s: %d input tokens, want %d", c.ID, *r.InputTokens, c.Usage.Prompt)
	}
	if m := c.Metrics; m != nil {
		for _, stage := range []struct {
			name string
			got  *int64
			ms   float64
		}{{"queue", r.QueueUS, m.Queue}, {"prefill", r.PrefillUS, m.Prefill}, {"decode", r.DecodeUS, m.Decode}} {
			if d := float64(*stage.got) - stage.ms*1000; d > 1 || d < -1 {
				t.Errorf("%s: %s %d us, the body says %v ms", c.ID, stage.name, *stage.got, stage.ms)
			}
		}
		if *r.QueueUS+*r.PrefillUS > *r.FirstUS {
			t.Errorf("%s: queue %d and prefill %d exceed the first token %d", c.ID, *r.QueueUS, *r.PrefillUS, *r.FirstUS)
		}
	}
}

// ING-04: stages whose stamps were never set come as 0, negative, or as long as the machine is up.
func TestStages(t *testing.T) {
	const e2e = `"gen_ai.latency.e2e":1.5,"gen_ai.usage.completion_tokens":1,`
	for _, c := range []struct {
		attributes             string
		queue, prefill, decode any
		quality                string
	}{
		{`"gen_ai.latency.time_in_queue":0.25,"gen_ai.latency.time_in_model_prefill":0.5,"gen_ai.latency.time_in_model_decode":0.7`, int64(250000), int64(500000), int64(700000), ""},
		{`"gen_ai.latency.time_in_queue":-5000.0`, nil, nil, nil, trace.QNegative},
		{`"gen_ai.latency.time_in_queue":1713341835.1`, nil, nil, nil, trace.QNegative},
		{`"gen_ai.latency.time_in_queue":0.0,"gen_ai.latency.time_in_model_prefill":0`, nil, nil, nil, ""},
		{`"gen_ai.latency.time_in_model_decode":0.0`, nil, nil, int64(0), ""}, // one token: first and last are one
		{`"rid":"x","gen_ai.latency.time_in_model_prefill":0.5`, nil, nil, nil, ""},
	} {
		r := only(t, oneSpan("{"+e2e+c.attributes+"}", ""))
		if show(r.QueueUS) != c.queue || show(r.PrefillUS) != c.prefill || show(r.DecodeUS) != c.decode || r.Quality != c.quality {
			t.Errorf("%s: queue %v, prefill %v, decode %v, quality %q", c.attributes, show(r.QueueUS), show(r.PrefillUS), show(r.DecodeUS), r.Quality)
		}
		if *r.EndUS != 1500000 {
			t.Errorf("end %d, want the engine's own 1500000", *r.EndUS)
		}
	}
}
