package public

import (
	"compress/gzip"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// random fills every column with something, each optional one with nothing in half of the cases.
func random(rng *rand.Rand) *trace.Request {
	r := new(trace.Request)
	row := reflect.ValueOf(r).Elem()
	for _, col := range columns {
		if f := row.Field(col.field); col.required() || rng.IntN(2) == 0 {
			fill(rng, f, col.words)
		}
	}
	r.SourceFormat, r.SourceFile, r.SourceLine = "reprise-jsonl", "in.jsonl", 1
	return r
}

func fill(rng *rand.Rand, f reflect.Value, words []string) {
	switch f.Kind() {
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		fill(rng, f.Elem(), nil)
	case reflect.String:
		f.SetString("<\u00e9\"\\\n" + string(rune('a'+rng.IntN(26))))
		if words != nil {
			f.SetString(words[rng.IntN(len(words))])
		}
	case reflect.Bool:
		f.SetBool(rng.IntN(2) == 0)
	case reflect.Int32:
		f.SetInt(int64(int32(rng.Uint32())))
	case reflect.Int64:
		f.SetInt(int64(rng.Uint64()))
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), rng.IntN(4), 4))
		for i := range f.Len() {
			fill(rng, f.Index(i), nil)
		}
	}
}

// Every request survives being written and read.
func TestRepriseRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		want := random(rng)
		line := EncodeReprise(want)
		v, err := decode.Parse(line)
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		var got *trace.Request
		c := decode.NewContext(decode.Options{}, "in.jsonl", func(r *trace.Request, _ []byte) { got = r }, nil)
		c.Line = 1
		if err := Reprise().JSON(c, v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want +got\n%s\n%s", diff, line)
		}
	}
}

func TestRepriseDefaults(t *testing.T) {
	base := func(change func(*trace.Request)) *trace.Request {
		r := &trace.Request{RequestID: "a", RootRequestID: "a", Attempt: 1, Arrival: n(5), Vantage: "client", ClockDomain: "wall", TimePrecision: 1,
			ErrorClass: "unknown", SourceFormat: "reprise-jsonl", SourceFile: "in.jsonl", SourceLine: 1}
		change(r)
		return r
	}
	for line, want := range map[string]*trace.Request{
		`{"request_id":"a","arrival":5}`:                             base(func(*trace.Request) {}),
		`{"request_id":"a","arrival":null}`:                          base(func(r *trace.Request) { r.Arrival = nil }),
		`{"request_id":"a","arrival":"1970-01-01T00:00:00.000005Z"}`: base(func(*trace.Request) {}),
		`{"request_id":"a","arrival":"1970-01-01 00:00:00.000005"}`:  base(func(r *trace.Request) { r.Quality = "naive_time" }),
		`{"request_id":"a","arrival":5,"http_status":503}`: base(func(r *trace.Request) {
			r.HTTPStatus, r.ErrorClass = trace.Ptr(int32(503)), "upstream_error"
		}),
		`{"request_id":"a","arrival":5,"http_status":200}`: base(func(r *trace.Request) { r.HTTPStatus = trace.Ptr(int32(200)) }),
		`{"request_id":"a","arrival":5,"http_status":200,"end_us":9,"output_tokens":2}`: base(func(r *trace.Request) {
			r.HTTPStatus, r.EndUS, r.ErrorClass, r.OutputTokens, r.TokensSource = trace.Ptr(int32(200)), n(9), "ok", n(2), "usage"
		}),
		`{"request_id":"a","arrival":5,"http_status":200,"end_us":9,"error_class":"client_cancel"}`: base(func(r *trace.Request) {
			r.HTTPStatus, r.EndUS, r.ErrorClass = trace.Ptr(int32(200)), n(9), "client_cancel"
		}),
		`{"request_id":"a","arrival":5,"gaps_us":[3,4]}`: base(func(r *trace.Request) {
			r.GapsUS, r.FirstUS, r.LastUS, r.Stream, r.TTFTKind = []int32{3, 4}, n(3), n(7), trace.Ptr(true), "first_content_chunk"
		}),
		`{"request_id":"a","arrival":5,"first_us":3,"stream":null,"ttft_kind":"first_any_chunk"}`: base(func(r *trace.Request) {
			r.FirstUS, r.TTFTKind = n(3), "first_any_chunk"
		}),
		`{"request_id":"a","arrival":5,"source_file":"other","source_line":77}`: base(func(*trace.Request) {}),
		`{"request_id":"a","arrival":5,"source_format":"otlp"}`:                 base(func(r *trace.Request) { r.SourceFormat = "otlp" }),
	} {
		res := lines(t, Reprise(), line)
		if len(res.rows) != 1 {
			t.Errorf("%s: refused %v", line, res.refused)
		} else if diff := cmp.Diff(want, res.rows[0]); diff != "" {
			t.Errorf("%s: -want +got\n%s", line, diff)
		}
	}
}

func TestRepriseRefusals(t *testing.T) {
	for member, want := range map[string]string{
		`"frist_us":5`:              `unknown_key: "frist_us" is no column; did you mean "first_us"?`,
		`"output_token":5`:          `did you mean "output_tokens"?`,
		`"Model_Requested":"m"`:     `did you mean "model_requested"?`,
		`"end_us":"5"`:              `wrong_type: end_us: expected an integer, got "\"5\""`,
		`"end_us":1.5`:              `wrong_type: end_us: expected an integer`,
		`"end_us":true`:             `wrong_type: end_us`,
		`"turn":3000000000`:         `wrong_type: turn: expected an integer up to 2147483647`,
		`"gaps_us":7`:               `wrong_type: gaps_us: expected a list of integers`,
		`"gaps_us":[7,null]`:        `wrong_type: gaps_us: expected an integer as element 1`,
		`"stream":"true"`:           `wrong_type: stream: expected true or false`,
		`"stream":1`:                `wrong_type: stream`,
		`"tenant":7`:                `wrong_type: tenant: expected text`,
		`"error_class":"fine"`:      `wrong_type: error_class: expected one of ok, client_cancel`,
		`"endpoint_kind":"Chat"`:    `wrong_type: endpoint_kind: expected one of chat`,
		`"vantage":null`:            `wrong_type: vantage: expected a value, got null`,
		`"end_us":1,"end_us":2`:     `duplicate_key: "end_us" is there twice`,
		`"arrival":"yesterday"`:     `duplicate_key`,
		`"input_tokens":1e400`:      `wrong_type: input_tokens`,
		`"prefix_hash_ids":[1e300]`: `wrong_type: prefix_hash_ids`,
	} {
		res := lines(t, Reprise(), `{"request_id":"a","arrival":5,`+member+`}`)
		if len(res.refused) != 1 || !strings.Contains(res.refused[0], want) {
			t.Errorf("%s: refused %q, want %s", member, res.refused, want)
		}
	}
	for line, want := range map[string]string{`{"arrival":5}`: "no_id", `{"request_id":"","arrival":5}`: "no_id", `{"request_id":"a"}`: "no_time",
		`{"request_id":"a","arrival":"yesterday"}`: "bad_time", `{"request_id":"a","arrival":1.5}`: "wrong_type: arrival"} {
		if res := lines(t, Reprise(), line); len(res.refused) != 1 || !strings.Contains(res.refused[0], want) {
			t.Errorf("%s: refused %q, want %s", line, res.refused, want)
		}
	}
}

// The documentation names each column, once.
func TestRepriseAbout(t *testing.T) {
	about := Reprise().About
	for _, col := range columns {
		if strings.Count(about, "\n  "+col.name+" ") != 1 {
			t.Errorf("%s is not described once", col.name)
		}
	}
	if len(columns) != reflect.TypeFor[trace.Request]().NumField() {
		t.Error("columns are missing")
	}
}

// The truth files of the captures against their README: outcomes, and the median first token of each run over the
// same 376 requests (the middle one of the sorted list, 350, 353 and 348 of them ok).
func TestRepriseTruth(t *testing.T) {
	slice := map[string]bool{}
	for _, c := range []struct {
		name   string
		want   map[string]int
		median int64 // ms
	}{
		{"compare/aa", map[string]int{"ok": 353, "client_cancel": 12, "client_error": 6, "context_length": 4, "upstream_error": 1}, 180},
		{"compare/candidate", map[string]int{"ok": 348, "client_cancel": 11, "client_error": 6, "context_length": 4, "timeout": 7}, 926},
		{"truth/baseline", map[string]int{"ok": 678, "client_cancel": 18, "client_error": 16, "context_length": 8, "timeout": 4, "upstream_error": 1}, 136},
	} {
		res := lines(t, Reprise(), unpack(t, "../../testdata/"+c.name+".jsonl.gz"))
		classes, ttft := map[string]int{}, []int64{}
		for _, r := range res.rows {
			classes[r.ErrorClass]++
			if c.name == "compare/aa" {
				slice[r.RequestID] = true
			}
			if r.ErrorClass == "ok" && r.FirstUS != nil && slice[r.RequestID] {
				ttft = append(ttft, *r.FirstUS)
			}
			if r.Quality != "" && r.Quality != trace.QTokensMissing && r.RequestID != "r00164" { // two tokens in its one chunk
				t.Errorf("%s: %s has quality %q", c.name, r.RequestID, r.Quality)
			}
		}
		if diff := cmp.Diff(c.want, classes); diff != "" || len(res.refused) != 0 {
			t.Errorf("%s: refused %v\n%s", c.name, res.refused, diff)
		}
		slices.Sort(ttft)
		if got := (ttft[len(ttft)/2] + 500) / 1000; got != c.median {
			t.Errorf("%s: median first token %d ms over %d, want %d", c.name, got, len(ttft), c.median)
		}
	}
}

func unpack(t *testing.T, name string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(read(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRepriseVantage(t *testing.T) {
	var res result
	v, err := decode.Parse([]byte(`{"request_id":"a","arrival":5,"vantage":"engine"}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := Reprise().JSON(context(decode.Options{Vantage: "gateway"}, "f", &res), v); err != nil || res.rows[0].Vantage != "gateway" {
		t.Errorf("%v: --vantage must win", err)
	}
}

// What is read and written again stays what it is.
func FuzzReprise(f *testing.F) {
	f.Add([]byte(`{"request_id":"a","arrival":5,"gaps_us":[3,4],"stream":true,"error_class":"ok","end_us":9}`))
	f.Add([]byte(`{"request_id":"\u00e9","arrival":"1970-01-01T00:00:00Z","http_status":200,"prefix_hash_ids":[-1]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		first := fuzzJSON(t, Reprise(), line)
		if first == nil {
			return
		}
		again := fuzzJSON(t, Reprise(), EncodeReprise(first))
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("-first +again\n%s", diff)
		}
	})
}
