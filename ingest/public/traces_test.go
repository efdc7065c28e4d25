package public

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// published is what a row of a trace without outcomes has beside what is tested.
func published(format, id string, line int64, change func(*trace.Request)) *trace.Request {
	r := &trace.Request{RequestID: id, RootRequestID: id, Attempt: 1, Vantage: "gateway", ClockDomain: "wall", TimePrecision: 1, ErrorClass: "unknown",
		TokensSource: "usage", SourceFormat: format, SourceFile: strings.Join(strings.SplitN(id, ":", 2)[:1], ""), SourceLine: line, Quality: "id_derived"}
	change(r)
	return r
}

func sameRows(t *testing.T, got result, want ...*trace.Request) {
	t.Helper()
	if diff := cmp.Diff(want, got.rows); diff != "" || len(got.refused) > 0 {
		t.Errorf("refused %v, -want +got\n%s", got.refused, diff)
	}
}

// The columns of 2025, a stamp with an offset as in 2024: 10:00 at +02:00 is 8:00 UTC. date -u -d '2024-05-12 08:00:00.25' +%s.%N
func TestAzureLater(t *testing.T) {
	got := csvRows(t, Azure2025(), decode.Options{}, "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-05-12 10:00:00.2500000+02:00,3,1900,44\n2024-05-12 08:00:01,0,7,1")
	sameRows(t, got,
		published("azure-lmm-2025", "in.csv:2", 2, func(r *trace.Request) { r.Arrival, r.InputTokens, r.OutputTokens = n(1715500800250000), n(1900), n(44) }),
		published("azure-lmm-2025", "in.csv:3", 3, func(r *trace.Request) {
			r.Arrival, r.InputTokens, r.OutputTokens, r.Quality = n(1715500801000000), n(7), n(1), "id_derived,naive_time"
		}))
	if got := csvRows(t, Azure2025(), decode.Options{}, "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-05-12 10:00:00,x,1,1"); len(got.refused) != 1 {
		t.Errorf("pictures that are no number: %v", got.rows)
	}
}

// The first rows of the published file: 5, 45 and 118 seconds after midnight.
func TestBurstGPT(t *testing.T) {
	row := func(line, at, in, out int64, model string) *trace.Request {
		return published("burstgpt", fmt.Sprintf("in.csv:%d", line), line, func(r *trace.Request) {
			r.Arrival, r.ClockDomain, r.TimePrecision, r.InputTokens, r.OutputTokens = n(at*1e6), "relative", 1e6, n(in), n(out)
			r.ModelRequested, r.Route, r.ErrorClass = model, "Conversation log", "ok"
		})
	}
	sameRows(t, csvRows(t, BurstGPT(), decode.Options{}, read(t, "testdata/burstgpt.csv")),
		row(2, 5, 472, 18, "ChatGPT"), row(3, 45, 1087, 230, "ChatGPT"), row(4, 118, 417, 276, "GPT-4"))
}

// The third release has two columns in between. A response of 0 tokens is a failure, and what was not counted is unknown.
func TestBurstGPT3(t *testing.T) {
	const header = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
	base := func(line int64, change func(*trace.Request)) *trace.Request {
		return published("burstgpt", fmt.Sprintf("in.csv:%d", line), line, func(r *trace.Request) {
			r.Arrival, r.ClockDomain, r.TimePrecision, r.ModelRequested, r.Route, r.ErrorClass = n(86400e6), "relative", 1e6, "GPT-4", "API log", "ok"
			change(r)
		})
	}
	sameRows(t, csvRows(t, BurstGPT(), decode.Options{}, header+`86400,2041,12.5,GPT-4,100,20,120,API log
86400,,3,GPT-4,100,0,100,API log
86400,,,GPT-4,0,0,0,API log`),
		base(2, func(r *trace.Request) {
			r.SessionID, r.EndUS, r.InputTokens, r.OutputTokens = "in.csv:2041", n(12500000), n(100), n(20)
		}),
		base(3, func(r *trace.Request) { r.EndUS, r.InputTokens, r.ErrorClass = n(3000000), n(100), "upstream_error" }),
		base(4, func(r *trace.Request) { r.ErrorClass, r.TokensSource = "upstream_error", "" }))
	for row, want := range map[string]string{"x,,,GPT-4,1,1,2,API log": "bad_time", "-1,,,GPT-4,1,1,2,API log": "bad_time", "1,,-2,GPT-4,1,1,2,API log": "bad_time",
		"1,,,GPT-4,1.5,1,2,API log": "bad_length", "1,,,GPT-4,1,,2,API log": "bad_length"} {
		if got := csvRows(t, BurstGPT(), decode.Options{}, header+row); len(got.refused) != 1 || !strings.Contains(got.refused[0], want) {
			t.Errorf("%s: refused %v, want %s", row, got.refused, want)
		}
	}
}

// Row 1 is published (502 tokens are 31 blocks of 16 and one of 6). Then 3 follows 2 follows 1; 9 follows 7, which is missing, and 10 follows 9; 4 is alone.
func TestBailian(t *testing.T) {
	const tail = `,"input_length":17,"output_length":3,"type":"text","hash_ids":[70,71],"chat_id":`
	got := lines(t, Bailian(), read(t, "testdata/bailian.jsonl")+`{"timestamp":61.114,"turn":2`+tail+`1,"parent_chat_id":0}
{"timestamp":62,"turn":3`+tail+`2,"parent_chat_id":1}
{"timestamp":62.5,"turn":4`+tail+`9,"parent_chat_id":7}
{"timestamp":63,"turn":5`+tail+`10,"parent_chat_id":9}
{"timestamp":64,"turn":1`+tail+`4,"parent_chat_id":-1}`)
	if len(got.rows) != 6 {
		t.Fatalf("%d rows, refused %v", len(got.rows), got.refused)
	}
	ids := make([]int64, 32)
	for i := range ids {
		ids[i] = int64(i)
	}
	want := published("qwen-bailian", "in.jsonl:1", 1, func(r *trace.Request) {
		r.Arrival, r.ClockDomain, r.TimePrecision, r.InputTokens, r.OutputTokens = n(0), "relative", 1000, n(502), n(1494)
		r.SessionID, r.Turn, r.Route, r.PrefixHashIDs, r.PrefixBlockTokens = "in.jsonl:0", trace.Ptr(int32(1)), "thinking", ids, trace.Ptr(int32(16))
	})
	if diff := cmp.Diff(want, got.rows[0]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	var sessions, quality []string
	for _, r := range got.rows {
		sessions, quality = append(sessions, r.SessionID), append(quality, r.Quality)
	}
	if want := []string{"in.jsonl:0", "in.jsonl:0", "in.jsonl:0", "in.jsonl:7", "in.jsonl:7", "in.jsonl:4"}; !slices.Equal(sessions, want) {
		t.Errorf("sessions %v, want %v", sessions, want)
	}
	if want := []string{"id_derived", "id_derived", "id_derived", "id_derived,parent_missing", "id_derived", "id_derived"}; !slices.Equal(quality, want) {
		t.Errorf("quality %v, want %v", quality, want)
	}
	if r := got.rows[1]; *r.Arrival != 61114000 || *r.Turn != 2 {
		t.Errorf("got %+v", r)
	}
	for line, want := range map[string]string{
		`{"timestamp":1,"input_length":17,"output_length":3,"hash_ids":[1],"chat_id":1,"parent_chat_id":-1}`:      "prefix_mismatch: expected 2 hash_ids for 17 tokens in blocks of 16, got 1",
		`{"timestamp":"soon","input_length":17,"output_length":3,"hash_ids":[1],"chat_id":1,"parent_chat_id":-1}`: "bad_time",
		`{"timestamp":1,"input_length":16,"output_length":3,"hash_ids":[1],"chat_id":-1,"parent_chat_id":-1}`:     "bad_chat",
		`{"timestamp":1,"input_length":-1,"output_length":3,"hash_ids":[],"chat_id":1,"parent_chat_id":-1}`:       "bad_length",
	} {
		if got := lines(t, Bailian(), line); len(got.refused) != 1 || !strings.Contains(got.refused[0], want) {
			t.Errorf("%s: refused %v, want %s", line, got.refused, want)
		}
	}
}

// dynamo's worked example: a prompt of 4190 and an answer of 592 tokens, then 592 more: the second prompt has 5374.
func TestMooncakeDelta(t *testing.T) {
	got := lines(t, MooncakeDelta(), `{"timestamp":0,"session_id":"a","input_length":600,"output_length":592,"hash_ids":[1,2]}
{"session_id":"b","input_length":1,"output_length":1}
{"session_id":"a","delay":100,"input_length":592,"output_length":16,"hash_ids":[3,4]}
{"session_id":"a","delay":100,"text_input":"hi"}
{"session_id":"a","delay":100,"input_length":5,"output_length":5}
{"input_length":7,"output_length":5}`)
	type row struct {
		Session string
		Turn    int32
		Input   any
		IDs     int
	}
	var rows []row
	for _, r := range got.rows {
		x := row{Session: r.SessionID, IDs: len(r.PrefixHashIDs)}
		if r.Turn != nil {
			x.Turn = *r.Turn
		}
		if r.InputTokens != nil {
			x.Input = *r.InputTokens
		}
		rows = append(rows, x)
	}
	// 600 + 592 + 592 = 1784; then a text of unknown length
	want := []row{{"a", 1, int64(600), 2}, {"b", 1, int64(1), 0}, {"a", 2, int64(1784), 0}, {"a", 3, nil, 0}, {"a", 4, nil, 0}, {"", 0, int64(7), 0}}
	if diff := cmp.Diff(want, rows); diff != "" || len(got.refused) > 0 {
		t.Errorf("refused %v, -want +got\n%s", got.refused, diff)
	}
}

// Text in place of a length: hashed, kept as a body on demand, never counted.
func TestMooncakeText(t *testing.T) {
	const in = `{"session_id":"s","text_input":"Say \"hi\"","output_length":4}
{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"x"}]}],"tools":[{"name":"f"}],"output_length":4}`
	got := linesWith(t, Mooncake(), decode.Options{KeepBodies: true}, in)
	want := []string{`{"messages":[{"role":"user","content":"Say \"hi\""}]}`,
		`{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"x"}]}],"tools":[{"name":"f"}]}`}
	if diff := cmp.Diff(want, got.bodies); diff != "" || len(got.refused) > 0 {
		t.Fatalf("refused %v, -want +got\n%s", got.refused, diff)
	}
	first, second := got.rows[0], got.rows[1]
	if first.InputTokens != nil || first.Arrival != nil || *first.OutputTokens != 4 || len(first.PrefixHashIDs) != 1 || first.PrefixBlockTokens != nil || first.SystemPromptHash != "" {
		t.Errorf("got %+v", first)
	}
	if second.SystemPromptHash == "" || *second.Turn != 1 || second.SystemPromptTokens != nil {
		t.Errorf("got %+v", second)
	}
	if got := lines(t, Mooncake(), in); slices.ContainsFunc(got.bodies, func(b string) bool { return b != "" }) {
		t.Error("bodies although nobody asked for them")
	}
	if got := lines(t, Mooncake(), `{"session_id":"s","output_length":4,"messages":[]}`); len(got.refused) != 1 {
		t.Error("a request without any prompt was accepted")
	}
}

// The block size is a matter of the whole file: 20 tokens in 2 blocks are blocks of 16, 300 in 3 are of 128; a row that fits no size changes nothing.
func TestMooncakeBlocks(t *testing.T) {
	signs := func(lines string) (names []string) {
		var s decode.Sample
		for line := range strings.SplitSeq(lines, "\n") {
			v, err := decode.Parse([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			s.Records = append(s.Records, v)
		}
		for _, f := range []decode.Format{Mooncake(), Bailian(), MooncakeBlocks()} {
			if n := f.Detect(&s); n >= 2 {
				names = append(names, fmt.Sprintf("%s %d", f.Name, n))
			}
		}
		return names
	}
	const head = `{"timestamp":0,"output_length":5,`
	for lines, want := range map[string][]string{
		head + `"input_length":20,"hash_ids":[1,2]}`:                                                      {"mooncake 3", "mooncake-blocks 4"},
		head + `"input_length":300,"hash_ids":[1,2,3]}`:                                                   {"mooncake 3", "mooncake-blocks 4"},
		head + `"input_length":10,"hash_ids":[1]}`:                                                        {"mooncake 4"},
		head + `"input_length":20,"hash_ids":[1,2]}` + "\n" + head + `"input_length":9,"hash_ids":[1,2]}`: {"mooncake 4"},
	} {
		if got := signs(lines); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", lines, got, want)
		}
	}
	// two rows of blocks of 16 set the size: the row that would fit 128 is then refused, one of a single block is taken
	got := lines(t, MooncakeBlocks(), head+`"input_length":20,"hash_ids":[1,2]}
`+head+`"input_length":33,"hash_ids":[1,2,3]}
`+head+`"input_length":300,"hash_ids":[1,2,3]}
`+head+`"input_length":9,"hash_ids":[7]}`)
	if len(got.rows) != 3 || len(got.refused) != 1 || !strings.Contains(got.refused[0], "blocks of 16") {
		t.Fatalf("%d rows, refused %v", len(got.rows), got.refused)
	}
	for _, r := range got.rows {
		if *r.PrefixBlockTokens != 16 || r.SourceFormat != "mooncake" {
			t.Errorf("got %+v", r)
		}
	}
	if got := lines(t, MooncakeBlocks(), head+`"input_length":300,"hash_ids":[1,2,3,4]}`); len(got.refused) != 1 {
		t.Errorf("75 to 100 tokens a block were accepted: %+v", got.rows)
	}
}

func TestLengths(t *testing.T) {
	sameRows(t, csvRows(t, Lengths(), decode.Options{}, "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n74,918,992,0.0806100217864923"),
		published("lengths", "in.csv:2", 2, func(r *trace.Request) { r.InputTokens, r.OutputTokens = n(74), n(918) }))
	if got := csvRows(t, Lengths(), decode.Options{}, "num_prefill_tokens,num_decode_tokens\n7.5,1"); len(got.refused) != 1 {
		t.Error("half a token was accepted")
	}
}

// Two files of clients, both refused with a word why.
func TestServeGen(t *testing.T) {
	f := ServeGen()
	if n := f.Detect(&decode.Sample{Header: []string{"0", "0", "0", "", "0", "0"}}); n != 2 {
		t.Errorf("an idle window: %d signs", n)
	}
	if n := f.Detect(&decode.Sample{Header: []string{"600", "0.1", "x", "Gamma", "0", "0"}}); n != 0 {
		t.Errorf("no number: %d signs", n)
	}
	if _, err := f.CSV(nil); err == nil || !strings.Contains(err.Error(), "description of a client") {
		t.Errorf("got %v", err)
	}
	const dataset = `{"0":{"input_tokens":"{}","output_tokens":"{}"},"21600":{"input_tokens":"{143: 0.5}","output_tokens":"{1: 1.0}"}}`
	v, err := decode.Parse([]byte(dataset))
	if err != nil || f.Detect(&decode.Sample{Records: []*decode.Value{v}}) != 2 {
		t.Errorf("the dataset is not recognised: %v", err)
	}
	if got := lines(t, f, dataset); len(got.refused) != 1 || !strings.Contains(got.refused[0], "not_requests") {
		t.Errorf("refused %v", got.refused)
	}
}
