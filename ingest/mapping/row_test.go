package mapping

import (
	"strings"
	"testing"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

const atOne = "  arrival: {path: t, time: unix_s}\n"

func TestNaiveStamps(t *testing.T) { // ING-16
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const noon = int64(1_782_907_200_000_000) // 2026-07-01T12:00:00Z
	for _, c := range []struct {
		extra string
		zone  *time.Location
		want  int64
		flag  bool
	}{
		{"", nil, noon, true},
		{"", berlin, noon - 7200e6, true},
		{", zone: Europe/Berlin", nil, noon - 7200e6, false},
		{", zone: UTC", berlin, noon, false},
	} {
		r, err := one(t, decode.Options{Zone: c.zone}, "  arrival: {path: t, time: rfc3339"+c.extra+"}\n", `{"t":"2026-07-01 12:00:00"}`)
		if err != nil || *r.Arrival != c.want || r.HasQuality(trace.QNaiveTime) != c.flag {
			t.Errorf("%q in %v: %v, %v", c.extra, c.zone, r, err)
		}
	}
}

func TestSources(t *testing.T) {
	for _, c := range []struct{ spec, record, want string }{
		{"m", `{"m":"x"}`, "x"}, {"a.b.0.c", `{"a":{"b":[{"c":"x"}]}}`, "x"}, {"a.b", `{"a.b":"x","a":{"b":"y"}}`, "x"},
		{"a.b.c", `{"a.b":{"c":"x"}}`, "x"}, {"a.b.c", `{"a.b":{"d":"y"},"a":{"b.c":"x"}}`, "x"}, {"l.-2", `{"l":["x","y"]}`, "x"}, {"l.-3", `{"l":["x","y"]}`, ""}, {"l.-1.v", `{"l":[{"v":"y"},{"v":"x"}]}`, "x"},
		{"json:j.m", `{"j":"{\"m\":\"x\"}"}`, "x"}, {"json:j.m", `{"j":{"m":"x"}}`, "x"}, {"a.json:j.n.m", `{"a":{"j":"{\"n\":{\"m\":\"x\"}}"}}`, "x"},
		{"json:j.json:k.m", `{"j":"{\"k\":\"{\\\"m\\\":\\\"x\\\"}\"}"}`, "x"}, {"json:j.m", `{"j":"{\"m\":\"x"}`, ""},
		{"[m, n]", `{"m":"-","n":"x"}`, "x"}, {"[m, n]", `{"m":"","n":"x"}`, "x"}, {"[m, n]", `{"m":null,"n":"x"}`, "x"}, {"{path: [m, n]}", `{"m":{},"n":"x"}`, "x"},
		{"{path: m, missing: ['0']}", `{"m":0.0}`, ""}, {"{path: m, when: {path: m, prefix: [x], and: [{path: k, missing: true}, {path: l, is: [a]}]}}", `{"m":"x","l":"b"}`, ""},
		{"{path: m, missing: [none]}", `{"m":"none"}`, ""}, {"{const: x}", `{"m":"y"}`, "x"},
		{"{path: m, values: {a: x, b*: y, '*': z}}", `{"m":"bcd"}`, "y"}, {"{path: m, values: {a: x, b*: y, '*': z}}", `{"m":"c"}`, "z"},
		{"{path: m, values: {a: x}}", `{"m":"b"}`, ""}, {"{path: m, values: {a*: y, ab*: x}}", `{"m":"abc"}`, "x"},
		{`{path: m, split: [",", " : "]}`, `{"m":"10.0.0.1:80, 10.0.0.2:80 : 10.0.0.3:80"}`, "10.0.0.3:80"},
		{`{path: m, split: ",", take: first}`, `{"m":"a, b"}`, "a"}, {`{path: m, split: ",", take: 1}`, `{"m":"a, b,c"}`, "b"}, {`{path: m, split: ",", take: 5}`, `{"m":"a,b"}`, ""},
		{`{path: m, split: ",", take: only}`, `{"m":"a,b"}`, ""}, {`{path: m, split: ",", take: only}`, `{"m":"a"}`, "a"}, {`{path: m, split: ","}`, `{"m":"a, -"}`, ""},
		{`{path: m, split: ",", values: {UT: x, DC: y}}`, `{"m":"DC,UT"}`, "x"},
		{"{path: m, when: {path: k, is: [a]}}", `{"m":"x","k":"a"}`, "x"}, {"{path: m, when: {path: k, is: [a]}}", `{"m":"x"}`, ""},
		{"{path: m, when: {path: k, missing: true}}", `{"m":"x"}`, "x"}, {"{path: m, when: {path: k, present: true}}", `{"m":"x","k":"-"}`, ""},
		{"{path: m, when: {path: k, empty: true}}", `{"m":"x","k":""}`, "x"}, {"{path: m, when: {path: k, empty: true}}", `{"m":"x"}`, ""},
		{"{path: m, when: {path: k, below: l}}", `{"m":"x","k":2,"l":"10"}`, "x"}, {"{path: m, when: {path: k, not_below: l}}", `{"m":"x","k":2,"l":10}`, ""},
		{"{path: m, when: {path: k, not_below: l}}", `{"m":"x","k":2}`, ""}, {"{path: m, when: {path: k, prefix: [/a], and: {path: m, is: [x]}}}", `{"m":"x","k":"/ab"}`, "x"},
		{"{path: m, when: {path: k, prefix: [/a], and: {path: m, is: [y]}}}", `{"m":"x","k":"/ab"}`, ""},
	} {
		r, err := one(t, decode.Options{}, atOne+"  model_served: "+c.spec+"\n", `{"t":1,`+c.record[1:])
		if err != nil || r.ModelServed != c.want {
			t.Errorf("%s of %s: %v, %v; want %q", c.spec, c.record, r, err, c.want)
		}
	}
}

func TestValuesThatDoNotParseRefuseTheRecord(t *testing.T) {
	for column, record := range map[string]string{"input_tokens: n\n  tokens_source: {const: usage}": `{"t":1,"n":"many"}`, "stream: n": `{"t":1,"n":"maybe"}`,
		"end_us: {path: n, unit: s}": `{"t":1,"n":"0.1, 0.2"}`, "http_status: n": `{"t":1,"n":"OK"}`, "attempt: n": `{"t":1,"n":3000000000}`} {
		if r, err := one(t, decode.Options{}, atOne+"  "+column+"\n", record); err == nil {
			t.Errorf("%s: read %s as %v", column, record, r)
		}
	}
}

// An end stamp counts back; a first-token stamp counts from the arrival so found.
func TestEndStamp(t *testing.T) {
	spec := "  arrival: {path: t, time: unix_ms, stamp: end}\n  end_us: {path: d, unit: s}\n  first_us: {path: f, time: unix_ms}\n  ttft_kind: {const: first_any_chunk}\n"
	r, err := one(t, decode.Options{}, spec, `{"t":10000,"d":2.5,"f":8000}`)
	if err != nil || *r.Arrival != 7_500_000 || *r.EndUS != 2_500_000 || *r.FirstUS != 500_000 || r.TimePrecision != 1000 {
		t.Errorf("%v, %v", r, err)
	}
	if r, err := one(t, decode.Options{}, spec, `{"t":10000,"f":8000}`); err != nil || r.Arrival != nil || r.FirstUS != nil || !r.HasQuality(trace.QEndOnly) {
		t.Errorf("of an end without a duration: %v, %v", r, err)
	}
}

func TestZeroTokens(t *testing.T) { // ING-11
	spec := atOne + "  error_class: s\n  input_tokens: i\n  output_tokens: o\n  tokens_source: {const: usage}\n"
	for _, c := range []struct {
		record  string
		in, out bool
	}{{`{"t":1,"s":200,"i":5,"o":0}`, true, true}, {`{"t":1,"s":500,"i":5,"o":0}`, true, false}, {`{"t":1,"s":200,"i":0,"o":0}`, false, false}, {`{"t":1,"s":200,"i":"-"}`, false, false}} {
		r, err := one(t, decode.Options{}, spec, c.record)
		if err != nil || (r.InputTokens != nil) != c.in || (r.OutputTokens != nil) != c.out {
			t.Errorf("%s: %v, %v", c.record, r, err)
		}
	}
}

func TestEndpoint(t *testing.T) {
	for in, want := range map[string]string{"/v1/other": "", "/v1/chat/completions": "chat", "/v1/completions?x=1": "completions", "POST /openai/v1/messages HTTP/1.1": "messages",
		"https://h/v1/embeddings": "embeddings", "/v1/responses/": "responses", "/v1/rerank": "rerank", "/v1/models": "", "/": "", "": "", "/v1/threads/x/runs": "", "/v1/threads/x/messages": "", "/v1/messages/count_tokens": "",
		"/generate": "completions", "/tokenize": "", "/completion": "completions",
		"/v1beta/models/g:streamGenerateContent?alt=sse": "chat", "/model/m/invoke-with-response-stream": ""} {
		got, model := endpoint(in)
		if got != want || model != (want != "" || strings.Contains(in, "/invoke")) {
			t.Errorf("%q: got %q, %v, want %q", in, got, model, want)
		}
	}
}

// A table says the same as objects: the rows of a CSV file against the same records in JSON.
func TestCSV(t *testing.T) {
	f := preset(t, "helicone")
	header := []string{"\uFEFFrequest_id", "request_created_at", "latency", "status", "prompt_tokens", "completion_tokens", "properties", "user_id", "time_to_first_token"}
	if n := f.Detect(&decode.Sample{Header: header}); n < 2 {
		t.Errorf("%d signs", n)
	}
	row, err := f.CSV(header)
	if err != nil {
		t.Fatal(err)
	}
	var got *trace.Request
	c := decode.NewContext(decode.Options{Hash: decode.NewHasher([]byte("k"))}, "x.csv", func(r *trace.Request, _ []byte) { got = r }, func(string, int64) {})
	if err := row(c, []string{"r1", "2026-11-29 10:00:00.100", "1500", "200", "12", "34", `{"Helicone-Session-Id":"say ""s9"""}`, "", ""}); err != nil {
		t.Fatal(err)
	}
	if got.RequestID != "r1" || *got.EndUS != 1_500_000 || *got.InputTokens != 12 || got.UserHash != "" || got.FirstUS != nil {
		t.Errorf("%+v", got)
	}
	if err := row(c, []string{"r2", "2026-11-29 10:00:00.100", "1500", "200", "12", "34", `{"Helicone-Session-Id":"s9"}`, "", ""}); err != nil || got.SessionID != "s9" {
		t.Errorf("%q, %v", got.SessionID, err)
	}
	if err := row(c, []string{"r3"}); err == nil {
		t.Error("a row without a time was read")
	}
}
