package mapping

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

const good = `name: mine
title: My gateway
detect: [began, took]
columns:
  arrival: {path: began, time: rfc3339}
  end_us: {path: took, unit: ms}
`

func TestLoad(t *testing.T) {
	name := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(name, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	f, id, err := Load(name)
	if err != nil || f.Name != "mine" || len(id) != 16 {
		t.Fatal(f.Name, id, err)
	}
	r := read(t, f, decode.Options{}, []byte(`{"began":"1970-01-01T00:00:01Z","took":1.5}`)).rows[0]
	if *r.Arrival != 1_000_000 || *r.EndUS != 1500 || r.Vantage != trace.Gateway {
		t.Errorf("arrival %d, end %d, %s", *r.Arrival, *r.EndUS, r.Vantage)
	}
	if _, _, err := Load(name + "x"); err == nil {
		t.Error("want an error")
	}
}

// An error names the line, the key and what was meant.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"end_us", "end_ms", `m.yaml:6: unknown columns key "end_ms"; did you mean "end_us"?`},
		{"title:", "titel:", `m.yaml:2: unknown mapping key "titel"; did you mean "title"?`},
		{"unit: ms", "unit: msec", `m.yaml:6: unknown end_us unit "msec"; did you mean "ms"?`},
		{"unit: ms", "uint: ms", `m.yaml:6: unknown end_us key "uint"; did you mean "unit"?`},
		{", unit: ms", "", `m.yaml:6: end_us: a duration needs a unit`},
		{"time: rfc3339", "time: rfc339", `m.yaml:5: unknown arrival time "rfc339"; did you mean "rfc3339"?`},
		{", time: rfc3339", "", `m.yaml:5: arrival: a stamp needs a time`},
		{"path: took", "path: a..b", `m.yaml:6: end_us path: bad path "a..b": a key is empty`},
		{"[began, took]", "[began]", `m.yaml:3: detect: expected a list of at least two paths`},
		{"mine", "My Gateway", `m.yaml:1: name: expected small letters, digits and -, got "My Gateway"`},
		{"time: rfc3339}", "time: rfc3339, zone: Mars/Base}", `m.yaml:5: arrival zone: expected the name of a zone`},
		{"time: rfc3339}", "time: rfc3339, zone: Local}", `m.yaml:5: arrival zone: expected the name of a zone`},
		{"end_us:", "first_us: {path: h, unit: ms}\n  end_us:", `ttft_kind: first_us needs a ttft_kind`},
		{"end_us:", "ttft_kind: {const: response_headers}\n  end_us:", `m.yaml:6: unknown ttft_kind const "response_headers"`},
		{"end_us:", "attempt: {const: two}\n  end_us:", `m.yaml:6: attempt const: expected an integer, got "two"`},
		{"end_us:", "stream: {path: s, values: {sse: ja}}\n  end_us:", `m.yaml:6: unknown stream values "ja"`},
		{"end_us:", "error_class: {path: s, values: {bad: clientcancel}}\n  end_us:", `m.yaml:6: unknown error_class values "clientcancel"; did you mean "client_cancel"?`},
		{"end_us:", "input_tokens: n\n  end_us:", `tokens_source: expected {const: usage}`},
		{"end_us:", "model_served: {path: m, unit: s}\n  end_us:", `m.yaml:6: model_served: unit and time are for durations`},
		{"end_us:", "gaps_us: g\n  end_us:", `m.yaml:6: unknown columns key "gaps_us"`},
		{"end_us:", "arrival: x\n  end_us:", `m.yaml:6: columns: key "arrival" is there twice`},
		{"detect:", "skip: [{path: p, is: [x]}]\ndetect:", `m.yaml:3: skip: expected a reason`},
		{"detect:", "skip: [{path: p, isnt: [x], reason: y}]\ndetect:", `m.yaml:3: unknown skip key "isnt"; did you mean "is"?`},
		{"  arrival: {path: began, time: rfc3339}\n", "", `columns: expected arrival`},
		{"rfc3339}\n  end_us: {path: took, unit: ms}", "rfc3339, stamp: end}\n  end_us: {path: took, time: rfc3339}", `arrival: stamp end needs an end_us with a unit`},
		{good, "", `m.yaml: expected a mapping in YAML, got an empty file`},
		{good, "a: [", `m.yaml: expected a mapping in YAML`},
		{good, good + "---\n" + good, `m.yaml: expected one YAML document`},
		{good, "[]", `m.yaml:1: mapping: expected keys with values, got a list`},
	} {
		_, err := New("m.yaml", []byte(strings.Replace(good, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.new, err, c.want)
		}
	}
}

// one reads one record with one column described by spec.
func one(t *testing.T, o decode.Options, columns, record string) (*trace.Request, error) {
	t.Helper()
	f, err := New("m.yaml", []byte("name: x\ntitle: x\ndetect: [a, b]\ncolumns:\n"+columns))
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, f, o, []byte(record))
	if len(got.errs) > 0 {
		return nil, got.errs[0]
	}
	return &got.rows[0], nil
}

func TestUnits(t *testing.T) { // ING-09: the mapping fixes the unit
	for _, c := range []struct {
		unit, value string
		want        int64
	}{{"s", "0.5", 500_000}, {"ms", "500", 500_000}, {"us", `"500000"`, 500_000}, {"ns", "500000000", 500_000}, {"text", `"706ms"`, 706_000}, {"text", `"1m4s"`, 64_000_000}} {
		r, err := one(t, decode.Options{}, "  arrival: {path: t, time: unix_s}\n  end_us: {path: d, unit: "+c.unit+"}\n", `{"t":1,"d":`+c.value+`}`)
		if err != nil || *r.EndUS != c.want {
			t.Errorf("%s of %s: %v, %v", c.value, c.unit, r, err)
		}
	}
	if _, err := one(t, decode.Options{}, "  arrival: {path: t, time: unix_s}\n  end_us: {path: d, unit: text}\n", `{"t":1,"d":"706"}`); err == nil {
		t.Error("a duration text without a unit was read")
	}
}

func TestStamps(t *testing.T) {
	const want = int64(1_795_946_400_123_000) // 2026-11-29T10:00:00.123Z
	for _, c := range []struct{ format, value string }{
		{"rfc3339", `"2026-11-29T11:00:00.123+01:00"`}, {"unix_s", "1795946400.123"}, {"unix_ms", `"1795946400123"`}, {"unix_us", "1795946400123000"},
		{"unix_ns", "1795946400123000000"}, {"rfc3339_or_unix", "1795946400123"}, {"rfc3339_or_unix", "1795946400123000000"}, {"rfc3339_or_unix", `"2026-11-29T10:00:00.123Z"`},
		{`"02/Jan/2006:15:04:05 -0700"`, `"29/Nov/2026:11:00:00.123 +0100"`}, {"dotnet_ticks", "639315432001230000"},
	} {
		r, err := one(t, decode.Options{}, "  arrival: {path: t, time: "+c.format+"}\n", `{"t":`+c.value+`}`)
		if err != nil || *r.Arrival != want || r.Quality != "id_derived" {
			t.Errorf("%s of %s: %v, %v", c.value, c.format, r, err)
		}
	}
	for _, bad := range []struct{ format, value string }{{"rfc3339", `"1795946400"`}, {"unix_s", `"2026-11-29"`}, {"rfc3339_or_unix", "17959464001"}, {"unix_s", `""`}, {"unix_s", "null"}} {
		if r, err := one(t, decode.Options{}, "  arrival: {path: t, time: "+bad.format+"}\n", `{"t":`+bad.value+`}`); err == nil {
			t.Errorf("%s of %s: read as %d", bad.value, bad.format, *r.Arrival)
		}
	}
}

const goodText = `name: mine
title: My gateway
text:
  match: '(?P<began>\S+) (?P<took>\S+)'
detect: [began, took]
columns:
  arrival: {path: began, time: rfc3339}
  end_us: {path: took, unit: ms}
`

// Errors about text containers name the line, the key and what was meant, too.
func TestTextErrors(t *testing.T) {
	if _, err := New("m.yaml", []byte(goodText)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"match:", "math:", `m.yaml:4: unknown text key "math"; did you mean "match"?`},
		{`(?P<took>\S+)`, `(?P<took>\S+`, `m.yaml:4: text match: missing closing ): `},
		{`(?P<took>\S+)`, `(?P<took>a**)`, "m.yaml:4: text match: invalid nested repetition operator: `**`"},
		{`(?P<began>\S+) (?P<took>\S+)`, `(\S+) (\S+)`, `m.yaml:4: text match: expected named groups`},
		{"detect: [began, took]", "detect: [begin, took]", `m.yaml:5: unknown detect group "begin"; did you mean "began"? one of: began, took`},
		{"{path: took", "{path: json:toke.x", `m.yaml:8: unknown end_us path group "toke"; did you mean "took"?`},
		{"detect:", "  other: skp\ndetect:", `m.yaml:5: unknown text other "skp"; did you mean "skip"?`},
		{"detect:", "  logfmt: true\ndetect:", `m.yaml:4: text: expected match (regular expressions with named groups) or logfmt: true`},
		{"detect:", "once: maybe\ndetect:", `m.yaml:5: unknown once "maybe"; did you mean`},
		{"time: rfc3339", "time: rfc3339, stamp: headers", `arrival: stamp headers needs a headers_us with a unit`},
		{"{path: took, unit: ms}", "{path: took, unit: ms, sum: al}", `m.yaml:8: unknown end_us sum "al"; did you mean "all"?`},
		{"  end_us:", "  tenant: {path: took, sum: all}\n  end_us:", `m.yaml:8: tenant: sum is for integers and durations`},
	} {
		text := strings.Replace(goodText, c.old, c.new, 1)
		if _, err := New("m.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.new, err, c.want)
		}
	}
}
