package replay

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
	"reprise/replay/wire"
)

func recorder(it Item, o Options) *run {
	o.Target = "http://h:1/v1"
	return &run{plan: &Plan{Items: []Item{it}}, opt: &o}
}

func after(base time.Time, ms int) *time.Duration {
	d := time.Duration(ms) * time.Millisecond
	return &d
}

// Due at 0, sent 7 ms late, chunks 100, 120 and 160 ms after the send: every time counts from the due time.
func TestRecordCountsFromDue(t *testing.T) {
	due := time.UnixMicro(1_700_000_000_000_000)
	out := wire.Outcome{Class: wire.ClassOK, Status: 200, Streamed: true, Sent: due.Add(7 * time.Millisecond), Headers: after(due, 90), End: after(due, 170), Choices: 1,
		Chunks: []wire.Chunk{{At: 100 * time.Millisecond, Kind: wire.Reasoning, Tokens: 1}, {At: 120*time.Millisecond + 400, Kind: wire.Content, Tokens: 2}, {At: 160 * time.Millisecond, Kind: wire.Tool, Tokens: 1}},
		Finish: "stop", ID: "chatcmpl-1", Model: "served", Replica: "r7", Usage: wire.Usage{Input: trace.Ptr(int64(30)), Output: trace.Ptr(int64(4))}}
	it := Item{RequestID: "a", RootID: "root", SessionID: "s", Turn: trace.Ptr(int32(2)), Endpoint: "chat", Stream: true, Model: "m", Tenant: "t", App: "p", Route: "q",
		InputTokens: 30, PrefixIDs: []int64{1, 2}, BlockTokens: trace.Ptr(int32(16)), SystemHash: "h", SystemTokens: 9}
	got := recorder(it, Options{Model: "x"}).record(&result{due: due, out: out, over: false})
	want := &trace.Request{RequestID: "a", RootRequestID: "root", Attempt: 1, ResponseID: "chatcmpl-1", SessionID: "s", Turn: it.Turn, Arrival: trace.Ptr(due.UnixMicro()),
		SendLagUS: trace.Ptr(int64(7000)), HeadersUS: trace.Ptr(int64(97_000)), FirstUS: trace.Ptr(int64(107_000)), FirstVisibleUS: trace.Ptr(int64(127_000)), LastUS: trace.Ptr(int64(167_000)), EndUS: trace.Ptr(int64(177_000)),
		GapsUS: []int32{107_000, 20_000, 40_000}, ChunkTokens: []int32{1, 2, 1}, TTFTKind: trace.TTFTContent, Vantage: trace.Replay, ClockDomain: trace.Wall, TimePrecision: 1,
		ErrorClass: trace.ClassOK, HTTPStatus: trace.Ptr(int32(200)), FinishReason: "stop", EndpointKind: "chat", Stream: trace.Ptr(true), ModelRequested: "x", ModelServed: "served",
		Replica: "r7", Tenant: "t", App: "p", Route: "q", InputTokens: trace.Ptr(int64(30)), OutputTokens: trace.Ptr(int64(4)), TokensSource: "usage", SystemPromptTokens: trace.Ptr(int64(9)),
		SystemPromptHash: "h", PrefixHashIDs: []int64{1, 2}, PrefixBlockTokens: trace.Ptr(int32(16)), SourceFormat: Format, SourceLine: 1}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	trace.Check(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the row is not consistent: %s", d)
	}
}

func TestRecordUnknowns(t *testing.T) {
	due := time.UnixMicro(1_700_000_000_000_000)
	it := Item{RequestID: "a", RootID: "a", Endpoint: "chat", Stream: true, InputTokens: 30, PrefixIDs: []int64{1, 2}, BlockTokens: trace.Ptr(int32(16)), CancelUS: trace.Ptr(int64(50_000))}
	sent := wire.Outcome{Class: wire.ClassCancel, Sent: due, End: after(due, 40), Choices: 1, Chunks: []wire.Chunk{{At: time.Millisecond, Kind: wire.Content, Tokens: -1}}}
	refused := wire.Outcome{Class: wire.ClassNetwork, Reason: "refused"}
	two := sent
	two.Class, two.Choices, two.Usage.Input = wire.ClassOK, 2, trace.Ptr(int64(41))
	r := recorder(it, Options{Cancel: CancelRecorded})
	if row := r.record(&result{due: due, out: refused, over: false}); row.SendLagUS != nil || row.EndUS != nil || row.HTTPStatus != nil || row.InputTokens != nil || row.Replica != "h:1" || row.TTFTKind != "" {
		t.Errorf("nothing sent: %+v", row)
	}
	if row := r.record(&result{due: due, out: sent, over: true}); row.ErrorClass != trace.ClassInFlight || row.ChunkTokens != nil || len(row.GapsUS) != 1 {
		t.Errorf("cut off at 40 ms by the end of the replay, before the recorded 50: %+v", row)
	}
	sent.End = after(due, 50)
	if row := r.record(&result{due: due, out: sent, over: true}); row.ErrorClass != trace.ClassCancel {
		t.Errorf("hung up as recorded: %s", row.ErrorClass)
	}
	if row := r.record(&result{due: due, out: two, over: false}); row.GapsUS != nil || row.FirstUS == nil || row.PrefixBlockTokens != nil || row.PrefixHashIDs == nil {
		t.Errorf("two answers in one stream are no timeline, and 41 tokens are not two blocks of 16: %+v", row)
	}
}

// The words of both packages must be the same.
func TestClasses(t *testing.T) {
	for a, b := range map[string]string{wire.ClassOK: trace.ClassOK, wire.ClassCancel: trace.ClassCancel, wire.ClassTimeout: trace.ClassTimeout, wire.ClassRateLimited: trace.ClassRateLimited,
		wire.ClassClientError: trace.ClassClientError, wire.ClassContextLength: trace.ClassContextLength, wire.ClassContentFilter: trace.ClassContentFilter, wire.ClassUpstream: trace.ClassUpstream, wire.ClassNetwork: trace.ClassNetwork} {
		if a != b {
			t.Errorf("%s is %s in the record", a, b)
		}
	}
}
