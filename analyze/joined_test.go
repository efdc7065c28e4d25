package analyze

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"reprise/ingest/trace"
)

// TestToldTwice: a second telling that knows nothing changes nothing, and one that knows only what the first does not
// makes the run whole again; on many rows, since lambdas over lists have read other rows before.
func TestToldTwice(t *testing.T) {
	e := newEngine(t)
	rng := rand.New(rand.NewPCG(3, 4))
	full := randomRequests(rng, 5000)
	var blank, halves []trace.Request
	for i := range full {
		twin := trace.Request{RequestID: full[i].RequestID, RootRequestID: full[i].RootRequestID, Attempt: 1, Vantage: trace.Engine, ClockDomain: trace.Wall,
			TimePrecision: 1, SourceFormat: "twin", ErrorClass: trace.ClassUnknown, Quality: "ttft_suspect"}
		blank = append(blank, full[i], twin)
		half := full[i]
		twin.Tenant, twin.Replica, twin.InputTokens, twin.HTTPStatus, twin.Stream = half.Tenant, half.Replica, half.InputTokens, half.HTTPStatus, half.Stream
		half.Tenant, half.Replica, half.InputTokens, half.HTTPStatus, half.Stream = "", "", nil, nil, nil
		halves = append(halves, twin, half)
	}
	want := allRequests(t, e, full)
	for name, rows := range map[string][]trace.Request{"blank": blank, "halves": halves} {
		if diff := gocmp.Diff(want, allRequests(t, e, rows)); diff != "" {
			t.Errorf("%s: requests told twice differ (-once +twice):\n%.2000s", name, diff)
		}
	}
}

func allRequests(t *testing.T, e *Engine, rows []trace.Request) [][]any {
	t.Helper()
	res, err := e.SQL(context.Background(), writeRun(t, rows), Scope{SLO: anySLO(t)}, `SELECT request_id, root_request_id, attempt, source_format, vantage,
		quality, arrival_us, model, tenant, replica, endpoint_kind, stream, cached_response, status, error_class, http_status, input_tokens, output_tokens,
		first_us, first_visible_us, last_us, end_us, ttft_us, tpot_us, e2e_us, max_gap_us, chunks, verdict FROM judged ORDER BY request_id`)
	if err != nil {
		t.Fatal(err)
	}
	return res.Rows
}

// TestSpansWithinSpans: of two spans of one call, which stand in one line of a file, the outer one is the call, whichever comes first.
func TestSpansWithinSpans(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var rows []trace.Request
	for i := range 3000 {
		outer := trace.Request{RequestID: fmt.Sprintf("r%04d", i), Attempt: 1, Arrival: trace.Ptr(int64(i) * 1_000_000), Vantage: trace.Gateway, ClockDomain: trace.Wall, TimePrecision: 1,
			SourceFormat: "otlp", SourceFile: "spans", SourceLine: 1, ErrorClass: trace.ClassClientError, HTTPStatus: trace.Ptr(int32(401)), SpanID: fmt.Sprintf("%016x", rng.Uint64()), EndUS: trace.Ptr(int64(6000 + i))}
		inner := outer
		inner.ParentSpanID, inner.SpanID, inner.EndUS = outer.SpanID, fmt.Sprintf("%016x", rng.Uint64()), trace.Ptr(int64(500))
		pair := []trace.Request{outer, inner}
		rng.Shuffle(2, func(a, b int) { pair[a], pair[b] = pair[b], pair[a] })
		rows = append(rows, pair...)
	}
	res, err := newEngine(t).SQL(t.Context(), writeRun(t, rows), Scope{}, "SELECT count(*) AS n, CAST(sum(end_us) AS BIGINT) AS sum, min(end_us) AS least FROM requests")
	if err != nil {
		t.Fatal(err)
	}
	want := []any{int64(3000), int64(3000*6000 + 2999*3000/2), int64(6000)}
	if diff := gocmp.Diff(want, res.Rows[0]); diff != "" {
		t.Error(diff)
	}
}

// TestClientAndEngineJoined: what a client saw and vLLM's own spans are one row a call, by trace id or else by the
// answer's id, though the ids of the calls differ, X-Request-Id repeats, n=2 has two spans and 38 calls have none.
func TestClientAndEngineJoined(t *testing.T) {
	e := newEngine(t)
	run := ingested(t, "../testdata/truth/vllm-baseline.jsonl.gz", "../testdata/truth/vllm-baseline.spans.jsonl.gz")
	rows := func(text string) [][]any {
		res, err := e.SQL(t.Context(), run, Scope{}, text)
		if err != nil {
			t.Fatal(err)
		}
		return res.Rows
	}
	want := [][]any{{"otlp", int64(13)}, {"reprise-jsonl", int64(38)}, {"reprise-jsonl+otlp", int64(401)}}
	if diff := gocmp.Diff(want, rows("SELECT told_by, count(*) FROM requests GROUP BY 1 ORDER BY 1")); diff != "" {
		t.Errorf("calls by their tellers (-README +joined):\n%s", diff)
	}
	queued := queueByTrace(t)
	checked := 0
	for _, r := range rows("SELECT a.trace_id, r.queue_us FROM requests AS r JOIN attempts AS a ON r.request_id = a.request_id WHERE r.request_id LIKE 'r%' AND a.trace_id IS NOT NULL") {
		id, _ := r[0].(string)
		got, ok := r[1].(int64)
		if ok != (len(queued[id]) > 0) || ok && !slices.ContainsFunc(queued[id], func(us float64) bool { return math.Abs(us-float64(got)) <= 1 }) {
			t.Errorf("trace %s: queue %v, the spans say %v", id, r[1], queued[id])
		} else if ok {
			checked++
		}
	}
	if checked < 376 {
		t.Errorf("%d calls with a queue, want at least 376", checked)
	}
}

// queueByTrace reads time_in_queue in microseconds by trace id, straight from the JSON.
func queueByTrace(t *testing.T) map[string][]float64 {
	t.Helper()
	queued := map[string][]float64{}
	readLines(t, "../testdata/truth/vllm-baseline.spans.jsonl.gz", func(line []byte) {
		var export struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []struct {
						TraceID, Name string
						Attributes    []struct {
							Key   string
							Value struct{ DoubleValue float64 }
						}
					}
				}
			}
		}
		if err := json.Unmarshal(line, &export); err != nil {
			t.Fatal(err)
		}
		for _, rs := range export.ResourceSpans {
			for _, s := range rs.ScopeSpans[0].Spans {
				for _, a := range s.Attributes {
					if s.Name == "llm_request" && a.Key == "gen_ai.latency.time_in_queue" {
						queued[s.TraceID] = append(queued[s.TraceID], 1e6*a.Value.DoubleValue)
					}
				}
			}
		}
	})
	return queued
}

// Handles join what they should and nothing else.
func TestHandles(t *testing.T) {
	e := newEngine(t)
	tell := func(format, id string, at int64, set func(*trace.Request)) trace.Request {
		r := trace.Request{RequestID: id, RootRequestID: id, Attempt: 1, Vantage: trace.Gateway, ClockDomain: trace.Wall, TimePrecision: 1, SourceFormat: format,
			ErrorClass: trace.ClassOK, Arrival: new(at), EndUS: new(int64(1_000_000))}
		set(&r)
		return r
	}
	traced := func(id string) func(*trace.Request) { return func(r *trace.Request) { r.TraceID = id } }
	none, endless := func(*trace.Request) {}, func(r *trace.Request) { r.EndUS = nil }
	relative := func(r *trace.Request) { r.ClockDomain = trace.Relative }
	answer := func(id string) func(*trace.Request) { return func(r *trace.Request) { r.ResponseID = id } }
	span := func(id, parent string) func(*trace.Request) {
		return func(r *trace.Request) { r.SpanID, r.ParentSpanID = id, parent }
	}
	for name, c := range map[string]struct {
		rows []trace.Request
		want string
	}{
		"one trace":                         {[]trace.Request{tell("a", "1", 0, traced("t")), tell("b", "2", 10, traced("t"))}, "a+b"},
		"no trace":                          {[]trace.Request{tell("a", "1", 0, traced("")), tell("b", "2", 10, traced(""))}, "a b"},
		"agent, both log both":              {[]trace.Request{tell("a", "1", 0, traced("t")), tell("a", "2", 50, traced("t")), tell("b", "3", 10, traced("t")), tell("b", "4", 60, traced("t"))}, "a a b b"},
		"agent, one call in each":           {[]trace.Request{tell("a", "1", 0, traced("t")), tell("b", "2", 3_000_001, traced("t"))}, "a b"},
		"clocks 2 s apart":                  {[]trace.Request{tell("a", "1", 0, traced("t")), tell("b", "2", 3_000_000, traced("t"))}, "a+b"},
		"clocks a minute apart, one answer": {[]trace.Request{tell("a", "1", 0, answer("x")), tell("b", "2", 60_000_000, answer("x"))}, "a+b"},
		"clocks a minute apart, by parent":  {[]trace.Request{tell("a", "1", 60_000_000, span("s1", "")), tell("b", "2", 0, span("s2", "s1"))}, "a+b"},
		// sent again 5 s later with the same id: one log saw only the second try, another only the first
		"one id twice, unlike logs":        {[]trace.Request{tell("a", "1", 0, none), tell("a", "1", 5_000_000, none), tell("b", "1", 4_999_000, none), tell("c", "1", 30, none)}, "a+b a+c"},
		"one id twice, all see both":       {[]trace.Request{tell("a", "1", 0, none), tell("a", "1", 5_000_000, none), tell("b", "1", 60_000_000, none), tell("b", "1", 65_000_000, none)}, "a+b a+b"},
		"one id twice, no ends":            {[]trace.Request{tell("a", "1", 0, endless), tell("a", "1", 5_000_000, endless), tell("b", "1", 1_000_000, endless)}, "a a+b"},
		"one id twice, a clock of its own": {[]trace.Request{tell("a", "1", 0, none), tell("a", "1", 5_000_000, none), tell("b", "1", 7, relative)}, "a a+b"},
		"one answer from a cache, twice":   {[]trace.Request{tell("a", "1", 0, answer("x")), tell("a", "2", 60_000_000, answer("x")), tell("b", "3", 10, answer("x"))}, "a a b"},
		"by parent in a trace of many": {[]trace.Request{tell("a", "1", 0, span("s1", "")), tell("a", "2", 5, span("s2", "")), tell("b", "3", 10, span("s3", "s1")),
			tell("b", "4", 10, span("s4", "s2"))}, "a+b a+b"},
		"a chain of three": {[]trace.Request{tell("a", "9", 0, traced("t")), tell("b", "1", 1, func(r *trace.Request) { r.TraceID, r.ResponseID = "t", "x" }),
			tell("c", "5", 2, func(r *trace.Request) { r.ResponseID = "x" })}, "a+b+c"},
		"two tries below one": {[]trace.Request{tell("a", "1", 0, span("s1", "")), tell("b", "2", 5, span("s2", "s1")), tell("b", "3", 9, span("s3", "s1"))}, "a b b"},
	} {
		res, err := e.SQL(t.Context(), writeRun(t, c.rows), Scope{}, "SELECT told_by FROM requests ORDER BY told_by")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Trim(strings.ReplaceAll(fmt.Sprint(res.Rows), "] [", " "), "[]"); got != c.want {
			t.Errorf("%s: told by %s, want %s", name, got, c.want)
		}
	}
}

// A call that was sent again with its id has the stages of its own try, not of the one before, which never got to the engine.
func TestTriesOfOneID(t *testing.T) {
	call := func(vantage string, at, first int64) trace.Request {
		return trace.Request{RequestID: "x", RootRequestID: "x", Attempt: 1, Vantage: vantage, ClockDomain: trace.Wall, TimePrecision: 1, SourceFormat: vantage,
			ErrorClass: trace.ClassOK, Arrival: new(at), FirstUS: new(first), EndUS: new(int64(900_000))}
	}
	failed := call(trace.Gateway, 0, 0)
	failed.ErrorClass, failed.FirstUS, failed.EndUS = trace.ClassUpstream, nil, new(int64(20_000))
	seen := call(trace.Engine, 1_003_000, 200_000)
	seen.QueueUS, seen.OutputTokens, seen.TokensSource = new(int64(7000)), new(int64(40)), "usage"
	res, err := newEngine(t).SQL(t.Context(), writeRun(t, []trace.Request{failed, call(trace.Gateway, 1_000_000, 210_000), seen}), Scope{},
		"SELECT arrival_us, status, ttft_us, queue_us, output_tokens FROM requests ORDER BY arrival_us")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(res.Rows), "[[0 failed <nil> <nil> <nil>] [1000000 ok 210000 7000 40]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
