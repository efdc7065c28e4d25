package public

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

type result struct {
	rows    []*trace.Request
	bodies  []string
	refused []string
	skipped map[string]int
}

// decoder is what reads the records of one file.
func decoder(f decode.Format) func(*decode.Context, *decode.Value) error {
	if f.Group != nil {
		return f.Group().JSON
	}
	return f.JSON
}

func context(o decode.Options, file string, res *result) *decode.Context {
	o.Hash, res.skipped = decode.NewHasher([]byte("0123456789abcdef")), map[string]int{}
	return decode.NewContext(o, file, func(r *trace.Request, body []byte) {
		trace.Check(r)
		res.rows, res.bodies = append(res.rows, r), append(res.bodies, string(body))
	}, func(reason string, n int64) { res.skipped[reason] += int(n) })
}

func lines(t testing.TB, f decode.Format, data string) result {
	t.Helper()
	return linesWith(t, f, decode.Options{}, data)
}

func linesWith(t testing.TB, f decode.Format, o decode.Options, data string) result {
	t.Helper()
	var res result
	c := context(o, "in.jsonl", &res)
	one := decoder(f)
	for line := range strings.SplitSeq(strings.TrimSpace(data), "\n") {
		c.Line++
		v, err := decode.Parse([]byte(line))
		if err == nil {
			err = one(c, v)
		}
		if err != nil {
			res.refused = append(res.refused, err.Error())
		}
	}
	return res
}

func read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func n(v int64) *int64 { return &v }

func TestMooncake(t *testing.T) {
	res := lines(t, Mooncake(), read(t, "testdata/mooncake.jsonl"))
	if len(res.rows) != 5 || len(res.refused) != 0 {
		t.Fatalf("%d rows, refused %v", len(res.rows), res.refused)
	}
	want := &trace.Request{RequestID: "in.jsonl:4", RootRequestID: "in.jsonl:4", Attempt: 1, Arrival: n(3536999000), Vantage: "gateway",
		ClockDomain: "relative", TimePrecision: 1000, ErrorClass: "unknown", InputTokens: n(3224), OutputTokens: n(386), TokensSource: "usage",
		PrefixHashIDs: []int64{0, 182744, 182745, 182746, 182747, 182748, 182749}, PrefixBlockTokens: trace.Ptr(int32(512)),
		SourceFormat: "mooncake", SourceFile: "in.jsonl", SourceLine: 4, Quality: "id_derived"}
	if diff := cmp.Diff(want, res.rows[3]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestMooncakeDialects(t *testing.T) {
	for line, want := range map[string]string{
		`{"timestamp":0,"input_length":300,"output_length":5,"hash_ids":[1,2,3]}`:        "prefix_mismatch: expected 1 hash_ids for 300 tokens in blocks of 512, got 3", // RPL-21
		`{"timestamp":0,"input_length":300,"output_length":5,"hash_ids":[]}`:             "prefix_mismatch",
		`{"timestamp":0.5,"input_length":300,"output_length":5,"hash_ids":[1]}`:          "bad_time: timestamp: expected whole milliseconds",
		`{"timestamp":-1,"input_length":300,"output_length":5,"hash_ids":[1]}`:           "bad_time",
		`{"timestamp":0,"input_length":300,"output_length":-5,"hash_ids":[1]}`:           "bad_length",
		`{"timestamp":0,"input_length":"x","hash_ids":[1]}`:                              "bad_length: input_length",
		`{"timestamp":0,"input_length":30,"output_length":5,"hash_ids":[1.5]}`:           "bad_hash_id: hash_ids[0]",
		`{"timestamp":0,"input_length":513,"output_length":5,"hash_ids":[1,"cafebabe"]}`: "bad_hash_id: hash_ids[1]",
	} {
		res := lines(t, Mooncake(), line)
		if len(res.refused) != 1 || !strings.Contains(res.refused[0], want) {
			t.Errorf("%s: refused %v, want %s", line, res.refused, want)
		}
	}
	// Ids beyond 2^32 and 2^63 keep all their bits; time, ids and session may be left out or added.
	res := lines(t, Mooncake(), `{"input_length":1000,"output_length":5,"hash_ids":[18446744073709551615,9007199254740993],"session_id":"s1","delay":20}
{"timestamp":7,"input_length":1,"output_length":0}`)
	if len(res.rows) != 2 {
		t.Fatalf("refused %v", res.refused)
	}
	if r := res.rows[0]; r.Arrival != nil || r.SessionID != "s1" || !cmp.Equal(r.PrefixHashIDs, []int64{-1, 9007199254740993}) {
		t.Errorf("got %+v", r)
	}
	if r := res.rows[1]; *r.Arrival != 7000 || r.PrefixHashIDs != nil || r.PrefixBlockTokens != nil {
		t.Errorf("got %+v", r)
	}
}

// csvRows decodes a CSV text; a row that the reader itself refuses fails the test.
func csvRows(t testing.TB, f decode.Format, o decode.Options, data string) result {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	row, err := f.CSV(all[0])
	if err != nil {
		t.Fatal(err)
	}
	var res result
	c := context(o, "in.csv", &res)
	for i, fields := range all[1:] {
		c.Line = int64(i) + 2
		if err := row(c, fields); err != nil {
			res.refused = append(res.refused, err.Error())
		}
	}
	return res
}

func TestAzure2023(t *testing.T) {
	res := csvRows(t, Azure2023(), decode.Options{}, read(t, "testdata/azure.csv"))
	if len(res.rows) != 4 || len(res.refused) != 0 {
		t.Fatalf("%d rows, refused %v", len(res.rows), res.refused)
	}
	want := &trace.Request{RequestID: "in.csv:2", RootRequestID: "in.csv:2", Attempt: 1, Arrival: n(1700158623979960), // date -u -d '2023-11-16 18:17:03' +%s
		Vantage: "gateway", ClockDomain: "wall", TimePrecision: 1, ErrorClass: "unknown", InputTokens: n(4808), OutputTokens: n(10), TokensSource: "usage",
		SourceFormat: "azure-llm-2023", SourceFile: "in.csv", SourceLine: 2, Quality: "id_derived,naive_time"}
	if diff := cmp.Diff(want, res.rows[0]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if r := res.rows[3]; *r.Arrival != 1700162059928016 || *r.OutputTokens != 173 {
		t.Errorf("the last row, which has no line end: %+v", r)
	}
	for row, want := range map[string]string{"soon,1,2": "bad_time", "2023-11-16 18:17:03,1,": "bad_length", "2023-11-16 18:17:03,-1,2": "bad_length"} {
		res := csvRows(t, Azure2023(), decode.Options{}, "TIMESTAMP,ContextTokens,GeneratedTokens\n"+row)
		if len(res.refused) != 1 || !strings.Contains(res.refused[0], want) {
			t.Errorf("%s: refused %v, want %s", row, res.refused, want)
		}
	}
	if _, err := Azure2023().CSV([]string{"TIMESTAMP", "ContextTokens"}); err == nil || !strings.Contains(err.Error(), `"GeneratedTokens"`) {
		t.Errorf("got %v; want the missing column", err)
	}
}

func TestDetect(t *testing.T) {
	sample := func(line string) *decode.Sample {
		v, err := decode.Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		return &decode.Sample{Records: []*decode.Value{v}}
	}
	bailian := sample(`{"chat_id":1,"parent_chat_id":-1,"timestamp":61,"input_length":40,"output_length":1,"type":"text","turn":1,"hash_ids":[1,2,3]}`)
	moon := sample(`{"timestamp":0,"input_length":30,"output_length":5,"hash_ids":[1]}`)
	ours := sample(`{"request_id":"a","arrival":1,"end_us":5}`)
	azure := &decode.Sample{Header: []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}}
	for _, c := range []struct {
		name   string
		sample *decode.Sample
		want   [3]int
	}{
		{"Qwen-Bailian", bailian, [3]int{1, 0, 0}}, {"Mooncake", moon, [3]int{4, 0, 0}}, {"Azure", azure, [3]int{0, 3, 0}}, {"ours", ours, [3]int{0, 0, 3}},
		{"seconds", sample(`{"timestamp":0.5,"input_length":30,"output_length":5,"hash_ids":[1]}`), [3]int{}},
	} {
		got := [3]int{Mooncake().Detect(c.sample), Azure2023().Detect(c.sample), Reprise().Detect(c.sample)}
		if got != c.want {
			t.Errorf("%s: signs %v, want %v", c.name, got, c.want)
		}
	}
}

func FuzzMooncake(f *testing.F) {
	for line := range strings.SplitSeq(read(f, "testdata/mooncake.jsonl"), "\n") {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) { fuzzJSON(t, Mooncake(), line) })
}

// fuzzJSON: a record becomes requests, is counted, or is refused.
func fuzzJSON(t *testing.T, format decode.Format, line []byte) *trace.Request {
	v, err := decode.Parse(bytes.Clone(line))
	if err != nil || v.GetObject() == nil {
		return nil
	}
	var res result
	err = decoder(format)(context(decode.Options{KeepBodies: true}, "f", &res), v)
	if told := len(res.rows) + len(res.skipped); (err == nil) != (told > 0) {
		t.Fatalf("%d requests, skipped %v and error %v", len(res.rows), res.skipped, err)
	}
	for _, b := range res.bodies {
		if b != "" && !json.Valid([]byte(b)) {
			t.Fatalf("body is no JSON: %s", b)
		}
	}
	if len(res.rows) == 0 {
		return nil
	}
	return res.rows[0]
}

func FuzzAzure2023(f *testing.F) {
	f.Add("2023-11-16 18:17:03.9799600", "4808", "10")
	f.Fuzz(func(t *testing.T, at, in, out string) { fuzzCSV(t, Azure2023(), azureColumns, []string{at, in, out}) })
}

// fuzzCSV: a row becomes one request or is refused.
func fuzzCSV(t *testing.T, format decode.Format, header, row []string) {
	one, err := format.CSV(header)
	if err != nil {
		t.Fatal(err)
	}
	var res result
	if err = one(context(decode.Options{}, "f", &res), row); (err == nil) != (len(res.rows) == 1) {
		t.Fatalf("%d requests and error %v", len(res.rows), err)
	}
}
