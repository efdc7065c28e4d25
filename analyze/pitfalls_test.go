package analyze

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"reprise/ingest"
	"reprise/ingest/decode"
)

// payload is a LiteLLM line of a streamed call from 100 to 101 s, its first token at 100.2 s, 20 of 10 tokens; parts replace.
func payload(id string, parts ...string) string {
	line := `{"id":"` + id + `","call_type":"acompletion","stream":true,"status":"success","startTime":100.0,"completionStartTime":100.2,"endTime":101.0,"model":"m",` +
		`"prompt_tokens":10,"completion_tokens":20,"metadata":{},"hidden_params":{},"model_map_information":{},"model_parameters":{"stream_options":{"include_usage":true}}}`
	return strings.NewReplacer(parts...).Replace(line) + "\n"
}

// span1 is one OTLP line with one span of a call of 2 s; attributes as JSON "key":value of text or number.
func span1(trace, span, parent, attributes string, parts ...string) string {
	var list []string
	for _, kv := range strings.Split(attributes, ",") {
		key, v, _ := strings.Cut(kv, ":")
		kind := "doubleValue"
		if strings.HasPrefix(v, `"`) {
			kind = "stringValue"
		}
		list = append(list, `{"key":`+key+`,"value":{"`+kind+`":`+v+`}}`)
	}
	line := `{"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{},"spans":[{"traceId":"` + trace + `","spanId":"` + span + `","parentSpanId":"` + parent +
		`","name":"chat m","kind":3,"startTimeUnixNano":"1735689600000000000","endTimeUnixNano":"1735689602000000000","attributes":[` + strings.Join(list, ",") + `]}]}]}]}`
	return strings.NewReplacer(parts...).Replace(line) + "\n"
}

const (
	trace1 = "0af7651916cd43dd8448eb211c80319c"
	trace2 = "1af7651916cd43dd8448eb211c80319d"
	chat   = `"gen_ai.operation.name":"chat","gen_ai.request.model":"m"`
)

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

// framed is the collector's file export: each message behind its length.
func framed(messages ...string) string {
	var out []byte
	for _, m := range messages {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(m))), m...)
	}
	return string(out)
}

func zstded(text string) string {
	w, _ := zstd.NewWriter(nil)
	return string(w.EncodeAll([]byte(text), nil))
}

// pitfall is the "Try" of one of the ING pitfalls: inputs, a statement over the run, its rows, and the account.
type pitfall struct {
	name    string
	inputs  []string
	sql     string
	want    string // rows, values separated by blanks, rows by " / "
	account string // "" when it does not matter
}

const wholeAccount = "read %d kept %d rejected %v incomplete %d skipped %v"

var pitfalls = []pitfall{
	{"ING-01 first token stored as the end", []string{payload("a", `completionStartTime":100.2`, `completionStartTime":101.0`)},
		"SELECT ttft_us, e2e_us, quality FROM requests", "<nil> 1000000 ttft_equals_end", ""},
	{"ING-02 TTFT invented for calls that are not streamed", []string{payload("a", "100.2", "100.1") + payload("b") + payload("c", "100.2", "100.3") +
		payload("d", `"stream":true`, `"stream":null`, "100.2", "104.0", "101.0", "104.0", `"model_parameters":{"stream_options":{"include_usage":true}}`, `"model_parameters":{}`)},
		"SELECT count(ttft_us), CAST(quantile_cont(ttft_us, 0.5) AS BIGINT), count(*) FROM requests", "3 200000 4", ""},
	{"ING-03 start stamped late", []string{payload("a", "100.2", "100.002", `"prompt_tokens":10`, `"prompt_tokens":12000`)},
		"SELECT ttft_us, quality FROM requests", "2000 ttft_suspect", ""},
	{"ING-04 negative phases", []string{span1(trace1, "00f067aa0ba902b7", "", `"gen_ai.latency.e2e":1.5,"gen_ai.latency.time_in_queue":-5000.0,"gen_ai.request.id":"x","gen_ai.usage.completion_tokens":3`)},
		"SELECT queue_us, end_us, quality FROM requests", "<nil> 1500000 negative_interval", ""},
	{"ING-05 clock skew between hosts", []string{payload("x", `"id":"x"`, `"id":"x","trace_id":"`+trace1+`"`), span1(trace1, "00f067aa0ba902b7", "", `"gen_ai.latency.e2e":0.93,"gen_ai.request.id":"y","gen_ai.usage.completion_tokens":20`,
		"1735689600000000000", "99970000000", "1735689602000000000", "100900000000")},
		"SELECT told_by, arrival_us, ttft_us, e2e_us, queue_us FROM requests", "litellm+otlp 100000000 200000 1000000 <nil>", ""},
	{"ING-06 numbers in two spellings", []string{span1(trace1, "00f067aa0ba902b7", "", chat) + span1(trace2, "00f067aa0ba902b8", "", chat, `"1735689600000000000"`, `1735689600000000000`, `"name"`, `"droppedAttributesCount":-1,"name"`)},
		"SELECT DISTINCT arrival_us, end_us FROM requests", "1735689600000000 2000000", "read 2 kept 2 rejected map[] incomplete 0 skipped map[]"},
	{"ING-07 shapes of OTLP JSON", []string{span1(trace1, "00f067aa0ba902b1", "", chat) +
		span1(trace1, "00f067aa0ba902b2", "", chat, "resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "traceId", "trace_id", "spanId", "span_id", "startTimeUnixNano", "start_time_unix_nano", "endTimeUnixNano", "end_time_unix_nano", "stringValue", "string_value") +
		span1(trace1, "00f067aa0ba902b3", "", chat, "scopeSpans", "instrumentationLibrarySpans") + span1(trace1, "00f067aa0ba902b4", "", chat, `"kind":3`, `"kind":"SPAN_KIND_CLIENT"`)},
		"SELECT DISTINCT model, vantage, arrival_us, end_us FROM requests", "m client 1735689600000000 2000000", "read 4 kept 4 rejected map[] incomplete 0 skipped map[]"},
	{"ING-08 names changed over time", []string{span1(trace1, "00f067aa0ba902b1", "", chat+`,"gen_ai.usage.prompt_tokens":80`) + span1(trace2, "00f067aa0ba902b2", "", chat+`,"gen_ai.usage.input_tokens":70`) +
		span1(trace2, "00f067aa0ba902b3", "", chat+`,"gen_ai.usage.prompt_tokens":90,"gen_ai.usage.input_tokens":100`)},
		"SELECT input_tokens, contains(coalesce(quality, ''), 'alias_conflict') FROM requests ORDER BY request_id", "80 false / 70 false / 100 true", ""},
	{"ING-09 one metric, two units", []string{span1(trace1, "00f067aa0ba902b1", "", chat+`,"gen_ai.response.time_to_first_chunk":0.5`) + span1(trace2, "00f067aa0ba902b2", "", chat+`,"gen_ai.response.time_to_first_chunk":500`)},
		"SELECT ttft_us, contains(coalesce(quality, ''), 'ttft_after_end') FROM requests ORDER BY request_id", "500000 false / <nil> true", ""},
	{"ING-10 headers used as first token", []string{`{"request_id":"a","arrival":1000000,"vantage":"client","error_class":"ok","stream":true,"headers_us":20000,"first_us":900000,"end_us":950000}` + "\n",
		`{"msec":"1795961900.000","request_time":"2.000","upstream_header_time":"0.020","upstream_response_time":"2.000","request_method":"POST","status":"200","uri":"/v1/chat/completions"}` + "\n"},
		"SELECT ttft_us, headers_us FROM requests ORDER BY arrival_us", "900000 20000 / <nil> 20000", ""},
	{"ING-11 missing usage stored as 0", []string{strings.Repeat(payload("a", `"id":"a"`, `"id":"A"`), 6) + strings.Repeat(payload("b", `"prompt_tokens":10,"completion_tokens":20,`, `"prompt_tokens":0,"completion_tokens":0,`), 4)},
		"SELECT count(output_tokens), avg(output_tokens), count(*) FROM requests", "6 20 10", ""},
	{"ING-12 reasoning tokens are a part", []string{payload("a", `"completion_tokens":20`, `"completion_tokens":500`, `"metadata":{}`, `"metadata":{"usage_object":{"prompt_tokens":10,"completion_tokens":500,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":400}}}`)},
		"SELECT output_tokens, reasoning_tokens, visible_tokens FROM requests", "500 400 100", ""},
	{"ING-13 attempts counted as requests", []string{`{"request_id":"a1","root_request_id":"r","attempt":1,"arrival":1000000,"vantage":"gateway","error_class":"upstream_error","end_us":1000000}` + "\n" +
		`{"request_id":"a2","root_request_id":"r","attempt":2,"arrival":2200000,"vantage":"gateway","error_class":"upstream_error","end_us":800000}` + "\n" +
		`{"request_id":"a3","root_request_id":"r","attempt":3,"arrival":3500000,"vantage":"gateway","error_class":"ok","end_us":1500000,"last_us":1500000,"stream":true}` + "\n"},
		"SELECT count(*), max(outcome), max(e2e_us), max(other_attempts) + 1, (SELECT count(*) FROM requests) FROM calls", "1 ok 4000000 3 3", ""},
	{"ING-14 answers out of a cache", []string{strings.Repeat(payload("a"), 100) + strings.Repeat(payload("b", `"model":"m"`, `"model":"m","cache_hit":true`, "100.2", "100.001", "101.0", "100.003"), 100)},
		"SELECT CAST(quantile_cont(e2e_us, 0.5) AS BIGINT), count(*) FROM requests WHERE latency UNION ALL SELECT NULL, count(*) FROM requests WHERE cached_response", "1000000 100 / <nil> 100", ""},
	{"ING-15 probes and embeddings", []string{strings.Repeat(payload("a"), 5) + strings.Repeat(payload("b", "acompletion", "aembedding"), 50) + strings.Repeat(payload("c", `"metadata":{}`, `"metadata":{"user_api_key_alias":"litellm-internal-health-check"}`), 20)},
		"SELECT count(*) FROM requests WHERE generation", "5", "read 75 kept 55 rejected map[] incomplete 0 skipped map[health_check:20]"},
	{"ING-16 times without a zone", []string{payload("a", "100.0", `"2026-11-29 14:18:20.000000"`, "100.2", `"2026-11-29 14:18:20.200000"`, "101.0", `"2026-11-29 14:18:21.000000"`)},
		"SELECT arrival_us, quality FROM requests", "1795961900000000 naive_time", ""},
	{"ING-17 zstd of single messages", []string{framed(zstded(span1(trace1, "00f067aa0ba902b1", "", chat)), zstded(span1(trace2, "00f067aa0ba902b2", "", chat))), zstded(span1(trace1, "00f067aa0ba902b1", "", chat) + span1(trace2, "00f067aa0ba902b2", "", chat))},
		"SELECT count(*) FROM requests", "2", "read 4 kept 4 rejected map[] incomplete 0 skipped map[]"},
	{"ING-18 a rotated copy", []string{payload("a") + payload("b"), gzipped(payload("a") + payload("b"))},
		"SELECT count(*) FROM requests", "2", "read 4 kept 2 rejected map[] incomplete 0 skipped map[duplicate_file:2]"},
	{"ING-19 gzip of two members, the second cut", []string{gzipped(payload("a")+payload("b")) + gzipped(payload("c") + payload("d") + payload("e"))[:120]},
		"SELECT count(*) >= 2 FROM requests", "true", "read 3 kept 2 rejected map[] incomplete 1 skipped map[]"},
	{"ING-20 junk behind the closing brace", []string{payload("a") + strings.TrimSpace(payload("b")) + " junk\n" + payload("c")},
		"SELECT count(*) FROM requests", "2", "read 3 kept 2 rejected map[bad_json:1] incomplete 0 skipped map[]"},
	{"ING-21 a last line half written", []string{payload("a") + payload("b") + payload("c")[:60]},
		"SELECT count(*) FROM requests", "2", "read 3 kept 2 rejected map[] incomplete 1 skipped map[]"},
	{"ING-22 a line of 5 MB", []string{payload("a") + payload("b", `"model":"m"`, `"model":"m","messages":[{"role":"user","content":"`+strings.Repeat("x", 5<<20)+`"}]`) + payload("c")},
		"SELECT count(*) FROM requests", "3", ""},
	{"ING-23 a byte order mark", []string{"\xef\xbb\xbf" + payload("a") + payload("b")},
		"SELECT count(*) FROM requests", "2", ""},
	{"ING-24 64 bits", []string{payload("9007199254740997", `"id":"9007199254740997"`, `"id":9007199254740997`) + payload("9007199254740996", `"id":"9007199254740996"`, `"id":9007199254740996`)},
		"SELECT count(DISTINCT request_id), min(request_id) FROM requests", "2 9007199254740996", ""},
	{"ING-25 nesting", []string{payload("a") + payload("b", `"metadata":{}`, `"metadata":`+strings.Repeat(`{"a":`, 20000)+"1"+strings.Repeat("}", 20000)) + payload("c")},
		"SELECT count(*) FROM requests", "2", "read 3 kept 2 rejected map[bad_json:1] incomplete 0 skipped map[]"},
	{"ING-26 case of keys", []string{payload("a", `"model":"m"`, `"MODEL":"wrong","model":"m","Model":"wrong"`)},
		"SELECT model FROM requests", "m", ""},
	{"ING-27 text stays text", []string{payload("007") + payload("3F2504E0-4F89-11D3-9A0C-0305E82C3301")},
		"SELECT request_id FROM requests ORDER BY 1", "007 / 3F2504E0-4F89-11D3-9A0C-0305E82C3301", ""},
	{"ING-28 messages cut by a limit", []string{span1(trace1, "00f067aa0ba902b1", "", chat+`,"gen_ai.input.messages":"[{\"role\":\"system\""`)},
		"SELECT end_us, system_tokens, system_hash FROM requests", "2000000 <nil> <nil>", ""},
	{"ING-29 spans over files in any order", []string{span1(trace1, "00f067aa0ba902b1", "00f067aa0ba902ff", chat), span1(trace1, "00f067aa0ba902ff", "", `"http.route":"/agent"`), span1(trace2, "00f067aa0ba902b3", "00f067aa0ba902fe", chat)},
		"SELECT count(*) FROM requests", "2", "read 3 kept 2 rejected map[] incomplete 0 skipped map[not_llm_span:1]"},
	{"ING-30 an array in place of lines", []string{"[" + strings.TrimSpace(payload("a")) + "," + strings.TrimSpace(payload("b")) + "]", "[\n  " + strings.ReplaceAll(payload("c"), ",", ",\n    ") + "  ,\n  " + payload("d") + "]\n"},
		"SELECT count(*) FROM requests", "4", "read 4 kept 4 rejected map[] incomplete 0 skipped map[]"},
}

func TestPitfallsOfIngest(t *testing.T) {
	e := newEngine(t)
	for _, c := range pitfalls {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			var paths []string
			for i, text := range c.inputs {
				paths = append(paths, filepath.Join(dir, fmt.Sprintf("in%d", i)))
				if err := os.WriteFile(paths[i], []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			backward := slices.Clone(paths)
			slices.Reverse(backward)
			for _, order := range [][]string{paths, backward} {
				run := filepath.Join(t.TempDir(), "run")
				acc, err := ingest.Run(t.Context(), ingest.Options{Options: decode.Options{Hash: decode.NewHasher([]byte("k"))}, Run: run}, order...)
				if err != nil {
					t.Fatal(err)
				}
				tot := acc.Totals
				got := fmt.Sprintf(wholeAccount, tot.Read, tot.Kept, maps.Clone(tot.Rejected), tot.Incomplete, maps.Clone(tot.Skipped))
				if c.account != "" && got != c.account {
					t.Errorf("account: %s, want %s", got, c.account)
				}
				r, err := Open(run)
				if err != nil {
					t.Fatal(err)
				}
				res, err := e.SQL(t.Context(), r, Scope{}, c.sql)
				if err != nil {
					t.Fatal(err)
				}
				if got := rowText(res.Rows); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			}
		})
	}
	if len(pitfalls) != 30 {
		t.Errorf("%d of 30 pitfalls", len(pitfalls))
	}
}

func rowText(rows [][]any) string {
	var out []string
	for _, r := range rows {
		out = append(out, strings.TrimSuffix(fmt.Sprintln(r...), "\n"))
	}
	return strings.Join(out, " / ")
}
