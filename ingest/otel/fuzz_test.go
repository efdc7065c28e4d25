package otel

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"reprise/ingest/decode"
)

// account checks that nothing is lost: each span is a row or is counted.
func account(t *testing.T, got *run, visited int) {
	if rows := len(got.rows); rows > visited {
		t.Errorf("%d rows of %d spans", rows, visited)
	}
	for _, r := range got.rows {
		if r.RequestID == "" || r.RootRequestID == "" || r.ErrorClass == "" || r.Vantage == "" {
			t.Errorf("row without id, class or vantage: %+v", r)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range spellings {
		f.Add([]byte(s))
	}
	f.Add(readData(f, "samples/envoy-chat-bad-request.json"))
	f.Add(readData(f, "samples/flat-simple-chain.json"))
	f.Add([]byte(lines(f, "js-langfuse/traces.jsonl.gz")[1]))
	f.Add([]byte(lines(f, "js-vercel7/traces.jsonl.gz")[5]))
	f.Add([]byte(tree([7]string{"0000000000000003", "0000000000000001", "prefill_waiting", "030", "150", "", ""}, [7]string{"0000000000000001", "", " Req abcdef01", "000", "901", sglangRoot, ""})))
	f.Add([]byte(lines(f, "otelcol/logs.json.gz")[0]))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := decode.Parse(b)
		if err != nil || v.Type() != decode.TypeObject {
			return
		}
		for _, format := range []decode.Format{JSON(), Flat()} {
			got, c := newRun(decode.Options{KeepBodies: true})
			spans := 0
			count := func(*span) { spans++ }
			if walkJSON(c, v, count) != nil && walkFlat(c, v, count) != nil {
				return
			}
			if err := format.JSON(c, v); err != nil {
				continue
			}
			account(t, got, spans)
			for _, body := range got.bodies {
				if body != "" && !json.Valid([]byte(body)) {
					t.Errorf("body is no JSON: %s", body)
				}
			}
		}
	})
}

func FuzzProto(f *testing.F) {
	f.Add(frames(f, "otelcol/traces.proto.gz")[0])
	for _, name := range []string{"vllm.pb", "logs-002.pb", "traces-035.pb"} {
		f.Add(readData(f, "otlp-http-proto/"+name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, c := newRun(decode.Options{KeepBodies: true})
		spans := 0
		if walkProto(c, b, func(*span) { spans++ }) != nil {
			return
		}
		if err := Proto().Message(c, b); err != nil {
			t.Errorf("second reading: %v", err)
		}
		account(t, got, spans)
	})
}

func FuzzPython(f *testing.F) {
	for text := range pythonTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quick, refused := new(decode.PythonParser).ParseBytes([]byte(text))
		b, err := appendPython(nil, text)
		if err != nil {
			if refused == nil && len(text) <= maxLiteral {
				t.Errorf("%q is no literal, but became %s", text, quick)
			}
			return
		}
		if v, err := decode.Parse(b); refused == nil && (err != nil || v.String() != quick.String()) {
			t.Errorf("%q became %s in the quick way, %s in the other", text, quick, b)
		}
		if !json.Valid(b) || !utf8.Valid(b) {
			t.Errorf("%q became %q, which is no JSON", text, b)
		}
	})
}

// fuzzTags decodes a record of a format with attributes as tags.
func fuzzTags(t *testing.T, f decode.Format, walk func(*decode.Context, *decode.Value, func(*span)) error, b []byte) {
	v, err := decode.Parse(b)
	if err != nil || v.Type() != decode.TypeObject {
		return
	}
	got, c := newRun(decode.Options{KeepBodies: true})
	spans := 0
	refused := walk(c, v, func(*span) { spans++ })
	if err := f.JSON(c, v); (err == nil) != (refused == nil) {
		t.Errorf("second reading: %v, first %v", err, refused)
	}
	account(t, got, spans)
}

func FuzzJaeger(f *testing.F) {
	for name, record := range envelopes {
		if formatOf(name).Name == "jaeger" {
			f.Add([]byte(record))
		}
	}
	f.Add(readData(f, "samples/jaeger-ui_01.json"))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzTags(t, Jaeger(), walkJaeger, b) })
}

func FuzzZipkin(f *testing.F) {
	f.Add([]byte(envelopes["zipkin"]))
	f.Add([]byte(`{"traceId":"a","id":"b","timestamp":"1735689600000000","duration":-1,"annotations":[{"timestamp":1,"value":"\"e\": {}"},{"value":"a|{}|0"}],"tags":{"error":""}}`))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzTags(t, Zipkin(), walkZipkin, b) })
}

func FuzzTriton(f *testing.F) {
	f.Add([]byte(Triton().Example), []byte(`{"id":1,"timestamps":[{"name":"QUEUE_START","ns":"9223372036854775807"},{"name":"COMPUTE_START","ns":-1}]}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		got, c := newRun(decode.Options{})
		g, ids := Triton().Group(), 0
		for _, record := range [][]byte{a, b} {
			v, err := decode.Parse(record)
			if err == nil && v.Type() == decode.TypeObject && g.JSON(c, v) == nil {
				ids++
			}
		}
		g.End(c)
		if len(got.rows) > ids || got.skipped["part_of_request"] != ids {
			t.Errorf("%d rows of %d records, skipped %v", len(got.rows), ids, got.skipped)
		}
		for _, r := range got.rows {
			if r.RequestID == "" || r.Arrival == nil {
				t.Errorf("row without id or arrival: %+v", r)
			}
		}
	})
}

func FuzzJoined(f *testing.F) {
	f.Add([]byte(tree([7]string{"0000000000000003", "0000000000000001", "prefill_waiting", "030", "150", "", ""})), []byte(tree([7]string{"0000000000000001", "", " Req abcdef01", "000", "901", sglangRoot, ""})))
	f.Add([]byte(tree([7]string{"0000000000000001", "0000000000000001", "prefill", "000", "001", `"llm_d.pd_proxy.x":1`, ""})), []byte(oneSpan(`{"gen_ai.latency.e2e":1}`, "")))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		got, c := newRun(decode.Options{KeepBodies: true})
		g, spans := Joined().Group(), 0
		for _, record := range [][]byte{a, b} {
			if v, err := decode.Parse(record); err == nil && v.Type() == decode.TypeObject && g.JSON(c, v) == nil {
				_, counter := newRun(decode.Options{})
				if err := walkJSON(counter, v, func(*span) { spans++ }); err != nil {
					t.Errorf("second reading: %v", err)
				}
			}
		}
		g.End(c)
		account(t, got, spans)
	})
}
