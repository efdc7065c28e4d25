package public

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

const shareGPT = `{"id":"QWJhYvA_0","conversations":[{"from":"gpt","value":"Hello"},{"from":"human","value":"A?"},{"from":"gpt","value":"B."},{"from":"human","value":"C?"},{"from":"gpt","value":"D."}]}`

func TestShareGPT(t *testing.T) {
	got := linesWith(t, Conversations(), decode.Options{KeepBodies: true}, shareGPT)
	if len(got.rows) != 2 || got.skipped["no_prompt"] != 1 || len(got.skipped) != 1 {
		t.Fatalf("%d rows, skipped %v, refused %v", len(got.rows), got.skipped, got.refused)
	}
	first, second := got.rows[0], got.rows[1]
	want := published("conversations", "in.jsonl:1:3", 1, func(r *trace.Request) {
		r.SourceFile, r.SessionID, r.Turn, r.ErrorClass, r.EndpointKind, r.TokensSource = "in.jsonl", "QWJhYvA_0", trace.Ptr(int32(1)), "ok", "chat", ""
		r.Quality, r.PrefixHashIDs = "id_derived,tokens_missing", first.PrefixHashIDs
	})
	if diff := cmp.Diff(want, first); diff != "" || len(first.PrefixHashIDs) != 1 {
		t.Errorf("-want +got\n%s", diff)
	}
	if second.RequestID != "in.jsonl:1:5" || *second.Turn != 2 || second.PrefixHashIDs[0] == first.PrefixHashIDs[0] {
		t.Errorf("got %+v", second)
	}
	if want := `{"messages":[{"role":"assistant","content":"Hello"},{"role":"user","content":"A?"},{"role":"assistant","content":"B."},{"role":"user","content":"C?"}]}`; got.bodies[1] != want {
		t.Errorf("body %s", got.bodies[1])
	}
}

// LMSYS-Chat: the instruction's hash, the model, the conversation; a conversation without an answer is no request.
func TestLMSYS(t *testing.T) {
	got := lines(t, Conversations(), `{"conversation_id":"c1","model":"vicuna-13b","turn":1,"conversation":[{"role":"system","content":"S"},{"role":"user","content":"A"},{"role":"assistant","content":"B"}]}
{"conversation_id":"c2","model":"m","conversation":[{"role":"user","content":"A"}]}
{"conversation_id":"c3"}`)
	if len(got.rows) != 1 || got.skipped["no_answer"] != 1 || len(got.refused) != 1 {
		t.Fatalf("%d rows, skipped %v, refused %v", len(got.rows), got.skipped, got.refused)
	}
	if r := got.rows[0]; r.SessionID != "c1" || r.ModelRequested != "vicuna-13b" || r.SystemPromptHash == "" || r.InputTokens != nil || r.OutputTokens != nil {
		t.Errorf("got %+v", r)
	}
}

// Prompts of one conversation grow: the blocks of a call are the first of the next. A gap in the turns makes the shape
// unknown, another conversation begins anew.
func TestAgentic(t *testing.T) {
	text := string(slices.Repeat([]byte("x"), 1000))
	got := lines(t, Agentic(), `{"conversation_id":"a","turn":1,"role":"user","content":"`+text+`","system":"S","tools":[{"name":"f"}]}
{"conversation_id":"a","turn":2,"role":"assistant","tool_calls":[{"id":"1"}],"reasoning_content":"hm"}
{"conversation_id":"a","turn":3,"role":"tool","tool_results":[{"content":"`+text+`"}],"delay_seconds":0.3}
{"conversation_id":"a","turn":4,"role":"assistant","content":"done"}
{"conversation_id":"a","turn":6,"role":"assistant","content":"late"}
{"conversation_id":"b","turn":1,"role":"user","content":"q"}
{"conversation_id":"b","turn":2,"role":"assistant","content":"r"}
{"conversation_id":"b","turn":0,"role":"user"}`)
	if len(got.rows) != 4 || got.skipped["prompt_message"] != 3 || len(got.refused) != 1 {
		t.Fatalf("%d rows, skipped %v, refused %v", len(got.rows), got.skipped, got.refused)
	}
	one, two, gap, other := got.rows[0], got.rows[1], got.rows[2], got.rows[3]
	// "tools" NUL [{"name":"f"}] SOH is 21 bytes, "system" NUL S SOH 9, "user" NUL 1000 SOH 1006: 1036 bytes are 4 blocks of 256 and a part
	if len(one.PrefixHashIDs) != 5 || !slices.Equal(one.PrefixHashIDs[:4], two.PrefixHashIDs[:4]) || len(two.PrefixHashIDs) <= 5 {
		t.Errorf("blocks %v, then %v", one.PrefixHashIDs, two.PrefixHashIDs)
	}
	if *one.Turn != 1 || *two.Turn != 2 || one.SystemPromptHash == "" || one.SystemPromptHash != two.SystemPromptHash || one.SessionID != "in.jsonl:a" {
		t.Errorf("got %+v, then %+v", one, two)
	}
	if gap.PrefixHashIDs != nil || gap.Turn != nil || gap.SessionID != "in.jsonl:a" {
		t.Errorf("behind a gap: %+v", gap)
	}
	if other.SessionID != "in.jsonl:b" || *other.Turn != 1 || other.SystemPromptHash != "" || other.ErrorClass != "ok" {
		t.Errorf("got %+v", other)
	}
}

func TestDetectTalks(t *testing.T) {
	agentic := `{"conversation_id":"a","turn":1,"role":"user","content":"q"}`
	lmsys := `{"conversation_id":"c1","model":"m","turn":1,"conversation":[{"role":"user","content":"A"}]}`
	for line, want := range map[string][3]int{shareGPT: {3, 0, 0}, lmsys: {3, 0, 0}, agentic: {0, 3, 0}, `{"messages":[{"role":"user","content":"A"}],"model":"m"}`: {}} {
		v, err := decode.Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		s := &decode.Sample{Records: []*decode.Value{v}}
		if got := [3]int{Conversations().Detect(s), Agentic().Detect(s), Mooncake().Detect(s)}; got != want {
			t.Errorf("%.40s: signs %v, want %v", line, got, want)
		}
	}
}

func FuzzConversations(f *testing.F) {
	f.Add([]byte(shareGPT))
	f.Add([]byte(`{"conversation_id":"c1","model":"m","conversation":[{"role":"system","content":[1,"\u0000"]},{"role":"assistant","content":null}]}`))
	f.Fuzz(func(t *testing.T, line []byte) { fuzzJSON(t, Conversations(), line) })
}

func FuzzAgentic(f *testing.F) {
	f.Add([]byte(`{"conversation_id":"a","turn":1,"role":"user","content":"q","system":"S","tools":[{"name":"f"}]}`))
	f.Add([]byte(`{"conversation_id":"a","turn":2,"role":"assistant","tool_calls":[{"id":"1"}],"reasoning_content":"hm"}`))
	f.Fuzz(func(t *testing.T, line []byte) { fuzzJSON(t, Agentic(), line) })
}

func FuzzBailian(f *testing.F) {
	f.Add([]byte(read(f, "testdata/bailian.jsonl")))
	f.Add([]byte(`{"chat_id":1,"parent_chat_id":0,"timestamp":61.114,"input_length":17,"output_length":1,"type":"text","turn":2,"hash_ids":[18446744073709551615,3]}`))
	f.Fuzz(func(t *testing.T, line []byte) { fuzzJSON(t, Bailian(), line) })
}

func FuzzMooncakeDelta(f *testing.F) {
	f.Add([]byte(`{"session_id":"a","text_input":"hi","output_length":3}`))
	f.Add([]byte(`{"session_id":"a","delay":100,"input_length":592,"output_length":16,"hash_ids":[3,4]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text"}],"tool_calls":[1]},"x"],"tools":[1],"output_length":4}`))
	f.Fuzz(func(t *testing.T, line []byte) { fuzzJSON(t, MooncakeDelta(), line) })
}

func FuzzBurstGPT(f *testing.F) {
	header := []string{"Timestamp", "Session ID", "Elapsed time", "Model", "Request tokens", "Response tokens", "Total tokens", "Log Type"}
	f.Add("86400", "2041", "12.5", "100", "20")
	f.Add("1e3", "", "", "0", "0")
	f.Fuzz(func(t *testing.T, at, session, elapsed, in, out string) {
		fuzzCSV(t, BurstGPT(), header, []string{at, session, elapsed, "GPT-4", in, out, "", "API log"})
	})
}

func FuzzLengths(f *testing.F) {
	f.Add("74", "918")
	f.Fuzz(func(t *testing.T, in, out string) { fuzzCSV(t, Lengths(), lengthColumns, []string{in, out}) })
}

// A conversation whose requests would take more than they may goes on without prefixes and bodies.
func TestTalkIsBounded(t *testing.T) {
	c := newTalk(context(decode.Options{KeepBodies: true}, "f", new(result)))
	c.kept, c.left = make([]byte, 100), 150
	r := new(trace.Request)
	if c.fill(r); c.body(r) == nil {
		t.Error("no body although there is room")
	}
	c.prompt.Add("user", []byte("x"))
	if c.body(r) != nil {
		t.Error("a body beyond the bound")
	}
	if c.fill(r); r.PrefixHashIDs != nil {
		t.Error("prefixes beyond the bound")
	}
}

func FuzzMooncakeBlocks(f *testing.F) {
	f.Add([]byte(MooncakeBlocks().Example))
	f.Add([]byte(`{"timestamp":1,"input_length":9223372036854775807,"output_length":1,"hash_ids":[1]}`))
	f.Fuzz(func(t *testing.T, line []byte) { fuzzJSON(t, MooncakeBlocks(), line) })
}
