package otel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// tree builds a record of spans of one trace, one a resource as a collector's batch holds them. A row is: id, parent,
// name, start and end in ms after 2025, attributes as a map, more members.
func tree(rows ...[7]string) string {
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		more := r[6]
		if more != "" {
			more = "," + more
		}
		fmt.Fprintf(&b, `{"resource":{"attributes":{"service.name":"s%d"}},"scopeSpans":[{"spans":[{"traceId":"0000000000000000d269b633813fc60c","spanId":"%s","parentSpanId":"%s","name":"%s",`+
			`"startTimeUnixNano":"1735689600%s000000","endTimeUnixNano":"1735689600%s000000","attributes":{%s}%s}]}]}`, i, r[0], r[1], r[2], r[3], r[4], r[5], more)
	}
	return `{"resourceSpans":[` + b.String() + `]}`
}

const (
	sglangRoot = `"rid":"abcdef0123","module":"sglang::request","gen_ai.usage.prompt_tokens":300,"gen_ai.usage.completion_tokens":5,"gen_ai.usage.cached_tokens":128,"gen_ai.response.model":"m",` +
		`"gen_ai.latency.time_to_first_token":0.5,"gen_ai.latency.e2e":0.9,"gen_ai.latency.time_in_model_prefill":0.48,"gen_ai.latency.time_in_model_decode":0.4,"gen_ai.latency.time_in_model_inference":0.88,` +
		`"gen_ai.response.finish_reasons":"[\"stop\"]"`
	thread = `"host_id":"h","pid":1,"thread_label":"Scheduler","tp_rank":0`
)

// The root says 480 ms of prefill, dispatch to first token. It waited 120 of them (30 to 150 ms), so the prefill is the
// 350 ms from 150 to the first token at 500.
func TestSGLang(t *testing.T) {
	got := decodeJSON(t, JSON(), decode.Options{}, tree(
		[7]string{"0000000000000003", "0000000000000002", "prefill_waiting", "030", "150", ``, ""},
		[7]string{"0000000000000004", "0000000000000002", "prefill_forward", "150", "490", ``, ""},
		[7]string{"0000000000000005", "0000000000000002", "prefill_waiting", "600", "650", ``, ""}, // after a retraction
		[7]string{"0000000000000002", "0000000000000001", "Scheduler [TP 0] (host:h | pid:1)", "025", "890", thread, ""},
		[7]string{"0000000000000001", "", " Req abcdef01", "000", "901", sglangRoot, ""}))
	if len(got.rows) != 1 || got.skipped[notLLM] != 4 {
		t.Fatalf("%d rows, skipped %v", len(got.rows), got.skipped)
	}
	us := func(n int64) *int64 { return &n }
	want := &trace.Request{RequestID: "abcdef0123", RootRequestID: "abcdef0123", Attempt: 1, ResponseID: "abcdef0123", TraceID: "0000000000000000d269b633813fc60c", SpanID: "0000000000000001",
		Arrival: us(1735689600000000), FirstUS: us(500000), EndUS: us(900000), QueueUS: us(120000), PrefillUS: us(350000), DecodeUS: us(400000), TTFTKind: "engine_first_token",
		Vantage: "engine", ClockDomain: "wall", TimePrecision: 1000, ErrorClass: "ok", FinishReason: "stop", ModelServed: "m", InputTokens: us(300), CachedInputTokens: us(128), OutputTokens: us(5),
		TokensSource: "usage", SourceFormat: "otlp", SourceFile: "spans.json", SourceLine: 1}
	if diff := cmp.Diff(want, got.rows[0]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	// Without the stages in its record the root does not know: the attribute is not the prefill.
	alone := decodeJSON(t, JSON(), decode.Options{}, tree([7]string{"0000000000000001", "", " Req abcdef01", "000", "901", sglangRoot, ""})).rows[0]
	if alone.QueueUS != nil || alone.PrefillUS != nil || *alone.FirstUS != 500000 {
		t.Errorf("got %+v", alone)
	}
}

// Prefill and decode on two instances: two roots, one request. Aborts show on the thread.
func TestSGLangRoles(t *testing.T) {
	root := func(id, name string) [7]string {
		return [7]string{id, "", name, "000", "901", sglangRoot + `,"bootstrap_room":"0x1f"`, ""}
	}
	got := decodeJSON(t, JSON(), decode.Options{}, tree(root("0000000000000001", "prefill Req abcdef01"), root("0000000000000002", "decode Req abcdef01")))
	if len(got.rows) != 1 || got.skipped[duplicateView] != 1 || got.rows[0].SpanID != "0000000000000002" {
		t.Errorf("%d rows, skipped %v", len(got.rows), got.skipped)
	}
	for attributes, want := range map[string]string{`"type":"abort","message":"client left"`: "client_cancel", `"type":"abort","status_code":400`: "client_error", `"reason":"have unclosed span, auto closed"`: "unknown"} {
		got := decodeJSON(t, JSON(), decode.Options{}, tree(
			[7]string{"0000000000000001", "", " Req abcdef01", "000", "500", `"rid":"abcdef0123","module":"sglang::request"`, ""},
			[7]string{"0000000000000002", "0000000000000001", "Scheduler", "025", "890", thread + "," + attributes, `"status":{"code":2}`}))
		if len(got.rows) != 1 || got.rows[0].ErrorClass != want || got.rows[0].FirstUS != nil || *got.rows[0].EndUS != 500000 {
			t.Errorf("%s: %+v", attributes, got.rows)
		}
	}
}

// llm-d: the sidecar's decode span is a child of its prefill span; both engines write a span. One request, and no time
// is added along the tree.
func TestLLMD(t *testing.T) {
	engine := func(tokens int) string {
		return fmt.Sprintf(`"gen_ai.request.id":"chatcmpl-u1","gen_ai.usage.prompt_tokens":900,"gen_ai.usage.completion_tokens":%d,"gen_ai.latency.time_to_first_token":0.01,"gen_ai.latency.e2e":0.2,"gen_ai.latency.time_in_queue":0.002`, tokens)
	}
	for _, prefix := range []string{"llm_d.pd_proxy.", ""} { // older and newer names
		got := decodeJSON(t, JSON(), decode.Options{}, tree(
			[7]string{"0000000000000001", "", "forward_request", "000", "700", `"llm_d.pd_proxy.connector":"nixlv2"`, `"kind":2`},
			[7]string{"0000000000000002", "0000000000000001", prefix + "prefill", "010", "300", `"llm_d.pd_proxy.prefill_target":"p:8000","llm_d.pd_proxy.prefill.duration_ms":290.0`, ""},
			[7]string{"0000000000000003", "0000000000000002", "HTTP POST", "011", "299", ``, `"kind":3`},
			[7]string{"0000000000000004", "0000000000000003", "llm_request", "020", "290", engine(1), `"kind":2`},
			[7]string{"0000000000000005", "0000000000000002", prefix + "decode", "310", "690", `"llm_d.pd_proxy.true_ttft_ms":310.0,"llm_d.pd_proxy.total_duration_ms":690.0`, ""},
			[7]string{"0000000000000006", "0000000000000005", "HTTP POST", "311", "689", ``, `"kind":3`},
			[7]string{"0000000000000007", "0000000000000006", "llm_request", "320", "680", engine(40), `"kind":2`}))
		if len(got.rows) != 1 || got.skipped[duplicateView] != 1 || got.skipped[notLLM] != 5 {
			t.Fatalf("%d rows, skipped %v", len(got.rows), got.skipped)
		}
		if r := got.rows[0]; *r.OutputTokens != 40 || *r.Arrival != 1735689600320000 || *r.FirstUS != 10000 || *r.EndUS != 200000 || *r.QueueUS != 2000 || r.RequestID != "chatcmpl-u1" {
			t.Errorf("got %+v", r)
		}
	}
	// a ring of parents ends
	if got := decodeJSON(t, JSON(), decode.Options{}, tree([7]string{"0000000000000001", "0000000000000002", "a", "000", "001", engine(1), ""}, [7]string{"0000000000000002", "0000000000000001", "b", "000", "001", ``, ""})); len(got.rows) != 1 {
		t.Errorf("%d rows", len(got.rows))
	}
}

// TensorRT-LLM writes vLLM's names and counts its requests: a number is nobody's id.
func TestTensorRT(t *testing.T) {
	r := only(t, oneSpan(`{"gen_ai.request.id":"17","gen_ai.usage.prompt_tokens":20,"gen_ai.usage.completion_tokens":3,"gen_ai.latency.e2e":1.5,"gen_ai.latency.time_to_first_token":0.25,"gen_ai.latency.time_in_queue":0.125}`, ""))
	if r.RequestID != "eee19b7ec3c1b174" || r.ResponseID != "" || *r.FirstUS != 250000 || *r.QueueUS != 125000 || *r.EndUS != 1500000 || r.ErrorClass != "ok" || r.Vantage != "engine" {
		t.Errorf("got %+v", r)
	}
}

// TGI: 735.2 ms in 49 equal parts of 15.004081632 ms are 49 tokens.
func TestTGI(t *testing.T) {
	const times = `"total_time":"735.955594ms","validation_time":"355.594µs","queue_time":"400µs","inference_time":"735.2ms","time_per_token":"15.004081ms","seed":"None"`
	record := strings.Replace(oneSpan("{"+times+"}", `"kind":2`), "chat m", "generate_stream", 1)
	r := only(t, record)
	if *r.EndUS != 735956 || *r.QueueUS != 400 || *r.OutputTokens != 49 || r.TokensSource != "estimated" || r.InputTokens != nil || r.FirstUS != nil || r.PrefillUS != nil ||
		r.ErrorClass != "ok" || r.EndpointKind != "completions" || !*r.Stream || r.Vantage != "engine" {
		t.Errorf("got %+v", r)
	}
	odd := only(t, oneSpan(`{"total_time":"x","queue_time":"-1s","inference_time":"1s","time_per_token":"300ms"}`, ""))
	if odd.QueueUS != nil || odd.OutputTokens != nil || *odd.EndUS != 2000000 || odd.ErrorClass != "unknown" || odd.EndpointKind != "chat" {
		t.Errorf("got %+v", odd)
	}
}

// The event of 1.37 tells of a whole call, but not of when; the events before are messages of spans.
func TestLogEvents(t *testing.T) {
	const attributes = `[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.request.model","value":{"stringValue":"m"}},{"key":"gen_ai.response.id","value":{"stringValue":"chatcmpl-1"}},
		{"key":"gen_ai.usage.input_tokens","value":{"intValue":"107"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"27"}},
		{"key":"gen_ai.input.messages","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"role","value":{"stringValue":"user"}},{"key":"parts","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"type","value":{"stringValue":"text"}},{"key":"content","value":{"stringValue":"hi"}}]}}]}}}]}}]}}}%s]`
	record := func(name, more string) string {
		return `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeLogs":[{"scope":{"name":"lib"},"logRecords":[{"timeUnixNano":"1735689602500000123",` + name +
			`"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","attributes":` + fmt.Sprintf(attributes, more) + `}]}]}]}`
	}
	byField := only(t, record(`"eventName":"gen_ai.client.inference.operation.details",`, ""))
	byAttribute := only(t, record("", `,{"key":"event.name","value":{"stringValue":"gen_ai.client.inference.operation.details"}}`))
	if diff := cmp.Diff(byField, byAttribute); diff != "" {
		t.Errorf("two writings of the name differ:\n%s", diff)
	}
	r := byField
	if r.SourceFormat != "otlp-logs" || r.Arrival != nil || r.EndUS != nil || r.RequestID != "chatcmpl-1" || *r.InputTokens != 107 || *r.OutputTokens != 27 || r.ErrorClass != "ok" ||
		r.Vantage != "client" || r.App != "shop" || len(r.PrefixHashIDs) != 1 || *r.Turn != 1 || r.SpanID != "eee19b7ec3c1b174" {
		t.Errorf("got %+v", r)
	}
	if got := decodeJSON(t, JSON(), decode.Options{}, record(`"eventName":"gen_ai.user.message",`, "")); len(got.rows) != 0 || got.skipped["log_record"] != 1 {
		t.Errorf("a message: %d rows, skipped %v", len(got.rows), got.skipped)
	}
}

// decodeJoined decodes records as those of one file.
func decodeJoined(t *testing.T, records ...string) *run {
	t.Helper()
	got, c := newRun(decode.Options{})
	g := Joined().Group()
	for _, record := range records {
		c.Line++
		v, err := decode.Parse([]byte(record))
		if err != nil || g.JSON(c, v) != nil {
			t.Fatalf("record %d is refused: %v", c.Line, err)
		}
	}
	g.End(c)
	return got
}

// ING-29: spans of one request lie in different records, in any order.
func TestJoined(t *testing.T) {
	spans := [][7]string{
		{"0000000000000001", "", " Req abcdef01", "000", "901", sglangRoot, ""},
		{"0000000000000002", "0000000000000001", "Scheduler", "025", "890", thread, ""},
		{"0000000000000003", "0000000000000002", "prefill_waiting", "030", "150", ``, ""},
		{"0000000000000005", "0000000000000002", "prefill_waiting", "600", "650", ``, ""},
	}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
		var records []string
		for _, i := range order {
			records = append(records, tree(spans[i]))
		}
		got := decodeJoined(t, records...)
		if len(got.rows) != 1 || got.skipped[notLLM] != 3 || *got.rows[0].QueueUS != 120000 || *got.rows[0].PrefillUS != 350000 {
			t.Errorf("order %v: %+v, skipped %v", order, got.rows, got.skipped)
		}
	}
	const engine = `"gen_ai.request.id":"chatcmpl-u1","gen_ai.latency.e2e":0.2,"gen_ai.usage.completion_tokens":`
	got := decodeJoined(t,
		tree([7]string{"0000000000000004", "0000000000000003", "llm_request", "020", "290", engine + "1", `"kind":2`}),
		tree([7]string{"0000000000000003", "0000000000000002", "HTTP POST", "011", "299", ``, `"kind":3`}),
		tree([7]string{"0000000000000007", "0000000000000005", "llm_request", "320", "680", engine + "40", `"kind":2`}),
		tree([7]string{"0000000000000002", "", "prefill", "010", "300", `"llm_d.pd_proxy.prefill_target":"p:8000"`, ""}, [7]string{"0000000000000005", "0000000000000002", "decode", "310", "690", `"llm_d.pd_proxy.decode.target":"d"`, ""}))
	if len(got.rows) != 1 || *got.rows[0].OutputTokens != 40 || got.skipped[duplicateView] != 1 || got.rows[0].SourceLine != 3 || got.rows[0].SourceFormat != "otlp" {
		t.Errorf("%+v, skipped %v", got.rows, got.skipped)
	}
}

// Spans wait for their relatives for one generation and no longer, and nothing is lost.
func TestJoinedAges(t *testing.T) {
	got, c := newRun(decode.Options{})
	f := newFamily()
	add := func(id int, parent int, name, attributes string) {
		v, err := decode.Parse([]byte(tree([7]string{fmt.Sprintf("%016x", id), fmt.Sprintf("%016x", parent), name, "000", "500", attributes, ""})))
		if err != nil || f.decode(c, v) != nil {
			t.Fatal("refused")
		}
	}
	add(1, 0, " Req a", sglangRoot)
	for generation := range 3 {
		for i := range 3 {
			f.nodes[[2]string{"filler", fmt.Sprint(generation, i)}] = &node{}
		}
		f.age(c)
		if want := generation; min(want, 1) != len(got.rows) {
			t.Errorf("%d rows after %d generations", len(got.rows), generation+1)
		}
	}
	add(2, 1, "prefill_waiting", "")
	f.settle(c)
	if len(got.rows) != 1 || got.rows[0].QueueUS != nil || len(f.before) != 3 {
		t.Errorf("%+v, %d spans of before", got.rows, len(f.before))
	}
}

func TestDetectJoined(t *testing.T) {
	for record, want := range map[string]bool{tree([7]string{"1", "", " Req a", "000", "500", sglangRoot, ""}): true, spellings["canonical"]: false} {
		v, err := decode.Parse([]byte(record))
		if err != nil {
			t.Fatal(err)
		}
		s := &decode.Sample{Head: []byte(record), Records: []*decode.Value{v}}
		if got := Joined().Detect(s) > JSON().Detect(s); got != want {
			t.Errorf("%.60s: joined %v, want %v", record, got, want)
		}
	}
}
