package replay

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"reprise/ingest/trace"
	"reprise/replay/wire"
)

// talker answers each chat with "live ID" and keeps what it was asked.
func talker(t *testing.T) (url string, asked func(id string) []message) {
	var mu sync.Mutex
	bodies := map[string][]byte{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		id := r.Header.Get("X-Request-Id")
		mu.Lock()
		bodies[id] = body
		mu.Unlock()
		stream(w, `data: {"choices":[{"delta":{"content":"live `+id+` \"q\""},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL, func(id string) []message {
		mu.Lock()
		defer mu.Unlock()
		list, _ := messagesOf(bodies[id])
		return list
	}
}

// contents are the texts of messages.
func contents(list []message) string {
	var all []string
	for _, m := range list {
		text, _ := m.text()
		all = append(all, m.Role+":"+strings.ReplaceAll(text, "\x00", "|"))
	}
	return strings.Join(all, " / ")
}

var inTurn = [][2]int64{{0, 10}, {20, 30}, {40, 50}}

// Recorded conversations hold what was recorded by default, and what the target said when that is asked for: in all turns that
// follow, wherever the client's cache marks stood.
func TestRPL26RecordedTurnsOrLiveOnes(t *testing.T) {
	bodies := map[string]string{
		"t0": `{"messages":[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}}]}]}`,
		"t1": `{"messages":[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"one"}]},{"role":"assistant","content":"old 1"},{"role":"user","content":"two"}]}`,
		"t2": `{"messages":[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"one"}]},{"role":"assistant","content":"old 1"},{"role":"user","content":"two"},{"role":"assistant","content":[{"type":"text","text":"old 2"}]},{"role":"user","content":"three <b>"}]}`,
	}
	plan := mustPlan(t, PlanOptions{Body: func(id string, _ int32) []byte { return []byte(bodies[id]) }}, talkRows(inTurn...)...)
	url, asked := talker(t)
	rep, _ := replayed(t, plan, Options{Target: url, NoPreflight: true, Pacing: PacingSessions})
	if got := contents(asked("t2")); !strings.Contains(got, "assistant:old 1") || !strings.Contains(got, "old 2") || rep.Threaded != 0 {
		t.Errorf("by default: %s", got)
	}
	rep, _ = replayed(t, plan, Options{Target: url, NoPreflight: true, Pacing: PacingSessions, ThreadAnswers: true})
	if got := contents(asked("t1")); got != `system:S / user:text|one| / assistant:live t0 "q" / user:two` {
		t.Errorf("second turn: %s", got)
	}
	if got := contents(asked("t2")); got != `system:S / user:text|one| / assistant:live t0 "q" / user:two / assistant:live t1 "q" / user:three <b>` {
		t.Errorf("third turn: %s", got)
	}
	if rep.Threaded != 2 || rep.Unthreaded != 0 || !hasNotice(rep.Notices, "threaded") {
		t.Errorf("threaded %d, not %d", rep.Threaded, rep.Unthreaded)
	}
	if err := (&Options{Target: "http://h", ThreadAnswers: true}).check(); err == nil {
		t.Error("answers cannot be threaded where no turn waits for one")
	}
}

// A recorded tool call keeps its place, for the next message is its result; so does an answer where the client had rewritten the
// history, and one to a request that failed.
func TestRecordedAnswersThatStay(t *testing.T) {
	ask := `{"role":"user","content":"one"}`
	for name, c := range map[string]struct {
		second string
		out    wire.Outcome
	}{
		"tool call":    {`[` + ask + `,{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},{"role":"tool","content":"r"}]`, wire.Outcome{Class: wire.ClassOK, Text: "x"}},
		"tool use":     {`[` + ask + `,{"role":"assistant","content":[{"type":"tool_use","id":"1"}]},{"role":"user","content":"r"}]`, wire.Outcome{Class: wire.ClassOK, Text: "x"}},
		"rewritten":    {`[{"role":"user","content":"summary"},{"role":"assistant","content":"old"}]`, wire.Outcome{Class: wire.ClassOK, Text: "x"}},
		"no answer":    {`[` + ask + `,{"role":"user","content":"again"}]`, wire.Outcome{Class: wire.ClassOK, Text: "x"}},
		"failed":       {`[` + ask + `,{"role":"assistant","content":"old"}]`, wire.Outcome{Class: wire.ClassUpstream, Text: "x"}},
		"without text": {`[` + ask + `,{"role":"assistant","content":"old"}]`, wire.Outcome{Class: wire.ClassOK}},
	} {
		r := &run{opt: &Options{ThreadAnswers: true}, plan: &Plan{Items: []Item{{Body: []byte(`{"messages":[` + ask + `]}`)}, {Body: []byte(`{"messages":` + c.second + `}`)}}}}
		r.tally = newTally(r)
		if got := r.thread(&prepared{past: &past{}}, 1, &c.out); len(got.live) != 0 || r.tally.unthreaded != 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	items := []Item{{Body: []byte(`{"input":[{"role":"user","content":"a"}]}`)}, {Body: []byte(`{"input":[{"role":"user","content":"a"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]},{"role":"user","content":"c"}]}`)}}
	if at, ok := answerAt(&items[0], &items[1]); at != 1 || !ok {
		t.Errorf("responses: %d %v", at, ok)
	}
}

// Synthetic turns become a talk: what was asked, what the target said, and of the words of the longer prompt those behind both.
func TestSyntheticTurnsAreThreaded(t *testing.T) {
	url, asked := talker(t)
	rows := talkRows(inTurn...)
	for i, n := range []int64{20, 40, 10} { // the third is shorter: the client had cut the history
		rows[i].InputTokens, rows[i].SystemPromptHash, rows[i].SystemPromptTokens = trace.Ptr(n), "h", trace.Ptr(int64(5))
	}
	rep, _ := replayed(t, mustPlan(t, PlanOptions{}, rows...), Options{Target: url, NoPreflight: true, Pacing: PacingSessions, ThreadAnswers: true})
	first, second, third := asked("t0"), asked("t1"), asked("t2")
	if len(first) != 2 || len(second) != 4 || len(third) != 2 {
		t.Fatalf("%d, %d and %d messages", len(first), len(second), len(third))
	}
	words := func(m message) int { text, _ := m.text(); return len(strings.Fields(text)) }
	// 40 words, of which 20 were said before and 3 are the answer (as the target counts): 17 are new.
	if words(first[0]) != 5 || words(first[1]) != 15 || string(second[1].Content) != string(first[1].Content) || words(second[3]) != 17 {
		t.Errorf("%s\n%s", contents(first), contents(second))
	}
	var said string
	if json.Unmarshal(second[2].Content, &said); said != `live t0 "q"` || second[2].Role != "assistant" {
		t.Errorf("answer %q", said)
	}
	if rep.Threaded != 1 || rep.Unthreaded != 1 {
		t.Errorf("threaded %d, not %d", rep.Threaded, rep.Unthreaded)
	}
}
