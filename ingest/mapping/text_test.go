package mapping

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// TestForms reads the other forms in which the lines of a preset come. arrival and end are in microseconds, arrival from
// 2026-11-29T10:00:00Z; -1 is NULL.
func TestForms(t *testing.T) {
	const begin = int64(1_795_946_400_000_000)
	const combined = `10.0.0.7 - ann [29/Nov/2026:11:00:02 +0100] "POST /v1/completions HTTP/2.0" 200 4135 "-" "lab \"1\" (x)"`
	const httplog = `10.0.0.7:48368 [29/Nov/2026:10:00:00.440] llm vllm/s1 `
	for _, c := range []struct {
		preset, line, class   string
		arrival, end, headers int64
	}{
		{"nginx-text", combined, "ok", -1, -1, -1},
		{"nginx-text", combined + ` "-"`, "ok", -1, -1, -1},
		{"nginx-text", combined + ` 1.250`, "ok", 750_000, 1_250_000, -1},
		{"nginx-text", combined + ` "203.0.113.5" 1.250 1.249`, "ok", 750_000, 1_250_000, -1},
		{"nginx-text", combined + ` 1.250 0.002, 1.200 : 0.040`, "ok", 750_000, 1_250_000, -1},
		{"nginx-text", combined + ` "-" rt=1.250 uct="0.001" uht="0.004" urt="1.249" cs=-`, "ok", 750_000, 1_250_000, 4000},
		{"nginx-text", combined + ` rt=1.250 uct="0.001, 0.001" uht="0.002, 0.004" urt="0.002, 1.200"`, "ok", 750_000, 1_250_000, -1}, // each try counts from its own start
		{"nginx-text", strings.Replace(combined, " 200 ", " 499 ", 1) + ` 1.250`, "client_cancel", 750_000, 1_250_000, -1},
		{"apache", combined, "ok", 2_000_000, -1, -1},
		{"apache", combined + ` 1250417`, "ok", 2_000_000, 1_250_417, -1},
		{"haproxy", httplog + `0/0/1/5/538 200 5295 - - ---- 4/4/3/3/0 0/0 "POST /v1/chat/completions HTTP/1.1"`, "ok", 440_000, 538_000, 6000},
		{"haproxy", httplog + `0/0/1/5/+9 200 +295 - - ---- 4/4/3/3/0 0/0 {a} {b|c} "POST /v1/chat/completions HTTP/1.1"`, "ok", 440_000, -1, 6000},
		{"haproxy", httplog + `0/10000/-1/-1/10000 503 212 - - sQ-- 4/4/3/3/0 0/9 "POST /v1/chat/completions HTTP/1.1"`, "timeout", 440_000, 10_000_000, -1},
		{"haproxy", httplog + `0/0/0/-1/30 -1 0 - - CH-- 4/4/3/3/0 0/0 "POST /v1/chat/completions HTTP/1.1"`, "client_cancel", 440_000, 30_000, -1},
		{"envoy-text", `[2026-11-29T10:00:00.100Z] "POST /v1/chat/completions HTTP/2" 0 DC 9 0 40 - "-" "a" "id-1" "h" "-"`, "client_cancel", 100_000, 40_000, -1},
		{"envoy-text", `[2026-11-29T10:00:00.100Z] "POST /v1/chat/completions HTTP/2" 503 UF,URX 9 0 40 - "-" "a" "id-1" "h" "-"`, "upstream_error", 100_000, 40_000, -1},
		{"nginx-ingress", `I1129 10:00:00.1 7 controller.go:1] ok ` + combined + ` 1 1.250 [ns-svc-80] [] 10.0.0.1:80 1 1.250 200 id-1`, "ok", 750_000, 1_250_000, -1},
		{"agentgateway", `2026-11-29T10:00:02Z warn request gateway=g http.status=429 protocol=llm http.path=/v1/messages error="rate \"limit\" = hit" duration=1m1.5s`, "rate_limited", -59_500_000, 61_500_000, -1},
	} {
		got := read(t, preset(t, c.preset), decode.Options{}, []byte(c.line))
		if len(got.rows) != 1 {
			t.Errorf("%s: %s: %d rows, %v, %v", c.preset, c.line, len(got.rows), got.errs, got.skipped)
			continue
		}
		value := func(p *int64, base int64) int64 {
			if p == nil {
				return -1
			}
			return *p - base
		}
		r := got.rows[0]
		if d := cmp.Diff([]any{c.class, c.arrival, c.end, c.headers}, []any{r.ErrorClass, value(r.Arrival, begin), value(r.EndUS, 0), value(r.HeadersUS, 0)}); d != "" {
			t.Errorf("%s: %s\n%s", c.preset, c.line, d)
		}
		if (r.Arrival == nil) != r.HasQuality(trace.QEndOnly) {
			t.Errorf("%s: %s: arrival %v, %s", c.preset, c.line, r.Arrival, r.Quality)
		}
	}
}

// Lines that are no calls of a model are skipped by their reason, lines of another form refused.
func TestOtherLines(t *testing.T) {
	for _, c := range []struct{ preset, line, want string }{
		{"nginx-text", `10.0.0.7 - - [29/Nov/2026:11:00:02 +0100] "GET /v1/models HTTP/1.1" 200 1 "-" "kube-probe/1.30"`, "not_a_model_call"},
		{"nginx-text", `10.0.0.7 - - [29/Nov/2026:11:00:02 +0100] "\x16\x03\x01" 400 157 "-" "-"`, "other_endpoint"},
		{"nginx-text", `10.0.0.7 - - [29/Nov/2026:11:00:02 +0100] "" 400 0 "-" "-"`, "other_endpoint"},
		{"nginx-text", `2026/11/29 10:00:00 [error] 7#7: *1 upstream prematurely closed connection`, "no_match"},
		{"nginx-text", strings.Repeat("x", maxLine+1), "too_long"},
		{"haproxy", strings.Repeat("x", maxLine+1), "other_line"},
		{"haproxy", `<134>Nov 29 10:00:00 haproxy[1]: Server vllm/s1 is DOWN`, "other_line"},
		{"agentgateway", `2026-11-29T10:00:02Z info request gateway=g http.status=200 protocol=mcp http.path=/mcp duration=1ms`, "not_a_model_call"},
		{"agentgateway", `2026-11-29T10:00:02Z info state_manager loaded config`, "other_line"},
		{"tensorzero", `2026-11-29T10:00:02Z  INFO tensorzero_core::howdy: hello`, "other_line"},
		{"envoy-text", `[2026-11-29T10:00:00.100Z] "- - -" 0 NR 0 0 0 - "-" "-" "-" "-" "-"`, "other_endpoint"},
	} {
		got := read(t, preset(t, c.preset), decode.Options{}, []byte(c.line))
		refused := len(got.errs) == 1 && strings.Contains(got.errs[0].Error(), c.want)
		if len(got.rows) > 0 || !refused && got.skipped[c.want] != 1 {
			t.Errorf("%s: %.60s: %d rows, %v, %v, want %s", c.preset, c.line, len(got.rows), got.errs, got.skipped, c.want)
		}
	}
}

func TestPairs(t *testing.T) {
	for line, want := range map[string]string{
		`a b=1 c="x y" d= e="q \"r\" \\ \n"`: `{"1":"a","b":"1","c":"x y","d":"","e":"q \"r\" \\ \\n"}`,
		`=x k==v "open`:                      `{"1":"=x","k":"=v","2":"\"open"}`,
		`k="never closed`:                    `{"k":"never closed"}`,
		"\x1b[3mm\x1b[0m\x1b[2m=\x1b[0mGET":  `{"m":"GET"}`,
		"k=\x01\x1b[K":                       `{"k":"\u0001\u001b[K"}`,
	} {
		v, err := (&text{logfmt: true}).record([]byte(line))
		if err != nil || v.String() != want {
			t.Errorf("%q: got %s, %v; want %s", line, v, err, want)
		}
	}
}

// sum adds durations and integers; once keeps the first row of an id; a stamp may be of the headers.
func TestSumOnceAndMoments(t *testing.T) {
	const spec = `name: m
title: M
once: true
text: {logfmt: true}
detect: [id, t]
columns:
  request_id: id
  arrival: {path: t, time: unix_ms, stamp: headers}
  headers_us: {path: [a, b], unit: ms, sum: all, missing: ["-1"]}
  output_tokens: {path: [x, y], sum: any}
  tokens_source: {const: usage}
`
	f, err := New("m.yaml", []byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, f, decode.Options{}, []byte("id=1 t=10000 a=1.5 b=2 x=3 y=4\nid=1 t=1 a=1 b=1\nid=2 t=10000 a=1 b=-1 y=4\nid=3 t=10000 a=1 b=z"))
	if len(got.rows) != 2 || got.skipped["repeated_id"] != 1 || len(got.errs) != 1 {
		t.Fatalf("%d rows, %v, %v", len(got.rows), got.skipped, got.errs)
	}
	if r := got.rows[0]; *r.Arrival != 9_996_500 || *r.HeadersUS != 3500 || *r.OutputTokens != 7 {
		t.Errorf("arrival %d, headers %d, output %d", *r.Arrival, *r.HeadersUS, *r.OutputTokens)
	}
	if r := got.rows[1]; r.Arrival != nil || r.HeadersUS != nil || !r.HasQuality(trace.QEndOnly) {
		t.Errorf("%+v", r)
	}
	s := recent{}
	for i := range keptIDs + 1 {
		s.again(string(rune(i)) + "x")
	}
	if !s.again("\x00x") || !s.again(string(rune(keptIDs))+"x") || s.again("new") {
		t.Error("recent forgets too early, or knows what it has not seen")
	}
}
