package replay

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/fakellm"
	"reprise/replay/wire"
)

// Every kind of failure of a target is counted under its class, keeps what had come, and hangs nothing.
func TestFaultsAreClassified(t *testing.T) {
	s, url := target(t, fakellm.Config{DecodeBase: time.Millisecond, Behave: fakellm.Rules{
		{ID: "r0001", Do: fakellm.Behaviour{Status: 429, RetryAfter: 24 * time.Hour}},
		{ID: "r0002", Do: fakellm.Behaviour{Status: 500}},
		{ID: "r0003", Do: fakellm.Behaviour{End: fakellm.EndError, After: 2}},
		{ID: "r0004", Do: fakellm.Behaviour{End: fakellm.EndCut, After: 2}},
		{ID: "r0005", Do: fakellm.Behaviour{End: fakellm.EndSilence, After: 2}},
		{ID: "r0006", Do: fakellm.Behaviour{End: fakellm.EndMarker}},
		{ID: "r0007", Do: fakellm.Behaviour{ContentType: "text/html"}},
		{ID: "r0008", Do: fakellm.Behaviour{Role: fakellm.RoleEarly, LateHeaders: true, KeepAlive: 5 * time.Millisecond, TokensPerChunk: 2}},
		{ID: "r0009", Do: fakellm.Behaviour{Status: 404}},
		{ID: "r0010", Do: fakellm.Behaviour{Status: 504}},
	}.For})
	plan := mustPlan(t, PlanOptions{}, requests(12, 5)...)
	rep, rows := replayed(t, plan, Options{Target: url})
	got := map[string]trace.Request{}
	for _, r := range rows {
		got[r.RequestID] = r
	}
	for id, class := range map[string]string{"r0000": trace.ClassOK, "r0001": trace.ClassRateLimited, "r0002": trace.ClassUpstream, "r0003": trace.ClassUpstream,
		"r0004": trace.ClassNetwork, "r0005": trace.ClassTimeout, "r0006": trace.ClassUpstream, "r0007": trace.ClassOK, "r0008": trace.ClassOK,
		"r0009": trace.ClassClientError, "r0010": trace.ClassTimeout, "r0011": trace.ClassOK} {
		if got[id].ErrorClass != class {
			t.Errorf("%s: class %s, want %s", id, got[id].ErrorClass, class)
		}
	}
	for _, id := range []string{"r0003", "r0004", "r0005"} {
		if r := got[id]; len(r.GapsUS) != 2 || r.FirstUS == nil || *r.HTTPStatus != 200 {
			t.Errorf("%s: %d chunks, want the two that came before the failure", id, len(r.GapsUS))
		}
	}
	if r := got["r0006"]; r.FirstUS != nil {
		t.Errorf("an empty answer has first_us %d", *r.FirstUS)
	}
	if rep.Sent != 12 || len(rows) != 12 || len(rep.Examples) != 8 || rep.Incomplete != "" {
		t.Errorf("sent %d, examples %+v", rep.Sent, rep.Examples)
	}
	if n := len(s.Truth().Requests); n != 12+3 { // and the preflight's three
		t.Errorf("the server saw %d requests: nothing may be sent twice (RPL-29)", n)
	}
}

func TestRPL30PreflightStopsBeforeTheLoad(t *testing.T) {
	plan := mustPlan(t, PlanOptions{}, requests(30, 1)...)
	keyed, keyURL := target(t, fakellm.Config{APIKey: "k"})
	served, modelURL := target(t, fakellm.Config{Models: []string{"y"}})
	_, downURL := target(t, fakellm.Config{Behave: func(fakellm.Call) fakellm.Behaviour { return fakellm.Behaviour{Status: 503} }})
	_, silentURL := target(t, fakellm.Config{Behave: func(fakellm.Call) fakellm.Behaviour { return fakellm.Behaviour{End: fakellm.EndSilence} }})
	closed, _ := net.Listen("tcp", "127.0.0.1:0")
	closed.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	for _, c := range []struct{ name, url, words, hint string }{
		{"wrong key", keyURL, "refuses the key: HTTP 401", "--api-key-env"},
		{"other model", modelURL, `no model "m"`, "--model"},
		{"down", downURL, "HTTP 503", ""},
		{"silent", silentURL, "no answer", ""},
		{"not there", "http://" + closed.Addr().String(), "cannot reach", "up"},
		{"untrusted", secure.URL, "tls", "certificate"},
	} {
		rep, err := Run(t.Context(), plan, Options{Target: c.url, Wire: wire.Options{Limits: shortLimits}})
		var pre *PreflightError
		if !errors.As(err, &pre) || !strings.Contains(err.Error(), c.words) || !strings.Contains(pre.Hint(), c.hint) || rep != nil {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.words)
		}
	}
	if n := len(keyed.Truth().Requests) + len(served.Truth().Requests); n > 2 {
		t.Errorf("%d requests reached targets that refuse them", n)
	}
	rep, _ := replayed(t, plan, Options{Target: keyURL, Header: http.Header{"Authorization": {"Bearer k"}}})
	if rep.Classes[trace.ClassOK] != 30 {
		t.Errorf("with the key: %v", rep.Classes)
	}
	if rep, _ := replayed(t, plan, Options{Target: modelURL, ModelMap: map[string]string{"m": "y"}}); rep.Classes[trace.ClassOK] != 30 {
		t.Errorf("with a model map: %v", rep.Classes)
	}
}

// Without a preflight, requests that nearly all fail stop the replay early.
func TestRPL30EarlyFailuresStop(t *testing.T) {
	_, url := target(t, fakellm.Config{Models: []string{"y"}})
	plan := mustPlan(t, PlanOptions{}, requests(400, 5)...)
	rep, rows := replayed(t, plan, Options{Target: url, NoPreflight: true})
	if rep.Incomplete != StoppedFailures || rep.Sent >= 400 || rep.Sent < checkAfter || len(rows) != rep.Sent || rep.Examples[0].Status != 404 {
		t.Errorf("sent %d, incomplete %q, examples %+v", rep.Sent, rep.Incomplete, rep.Examples)
	}
	if rep.Fidelity.Verdict == Faithful {
		t.Error("a replay that stopped is not faithful")
	}
	rep, _ = replayed(t, mustPlan(t, PlanOptions{}, requests(150, 1)...), Options{Target: url, NoPreflight: true, StopShare: -1})
	if rep.Sent != 150 || rep.Incomplete != "" {
		t.Errorf("without the stop: sent %d, %q", rep.Sent, rep.Incomplete)
	}
}

// The preflight asks for words of its own and is not among the results.
func TestRPL25PreflightWarmsNothing(t *testing.T) {
	s, url := target(t, fakellm.Config{CacheBlocks: -1})
	rep, rows := replayed(t, mustPlan(t, PlanOptions{}, requests(20, 5)...), Options{Target: url})
	if len(rows) != 20 || len(s.Truth().Requests) <= 20 {
		t.Errorf("%d rows of %d requests", len(rows), len(s.Truth().Requests))
	}
	if *rep.Fidelity.CachedTarget != 0 {
		t.Errorf("%.3f of the prompts came from the cache", *rep.Fidelity.CachedTarget)
	}
}

// The second replay of the same prompts hits what the first left behind, and says so; a salt keeps them apart.
func TestRPL23SecondReplayWarns(t *testing.T) {
	_, url := target(t, fakellm.Config{CacheBlocks: -1, BlockTokens: 8})
	plan := mustPlan(t, PlanOptions{}, requests(30, 5)...)
	warm := func(o Options) bool {
		o.Target = url
		rep, _ := replayed(t, plan, o)
		return strings.Contains(strings.Join(rep.Fidelity.Reasons, "\n"), "warm")
	}
	if first, second, salted := warm(Options{}), warm(Options{}), warm(Options{Salt: "b"}); first || !second || salted {
		t.Errorf("warm cache seen: first %v second %v salted %v, want only the second", first, second, salted)
	}
}

func TestInterruptLeavesResults(t *testing.T) {
	_, url := target(t, fakellm.Config{DecodeBase: 20 * time.Millisecond})
	plan := mustPlan(t, PlanOptions{}, requests(300, 10)...)
	ctx, stop := context.WithCancel(t.Context())
	var rows []trace.Request
	rep, err := Run(ctx, plan, Options{Target: url, Wire: wire.Options{Limits: shortLimits}, Sink: func(r *trace.Request) error {
		if rows = append(rows, *r); len(rows) == 10 {
			stop()
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	open := 0
	for _, r := range rows {
		if r.ErrorClass == trace.ClassInFlight {
			open++
		} else if r.ErrorClass != trace.ClassOK {
			t.Errorf("%s: %s", r.RequestID, r.ErrorClass)
		}
		if r.Arrival == nil || r.ErrorClass == trace.ClassOK && (r.FirstUS == nil || r.EndUS == nil) {
			t.Errorf("%+v", r)
		}
	}
	if rep.Incomplete != StoppedInterrupt || rep.Sent >= 300 || rep.Sent != len(rows) || open == 0 || rep.Fidelity.Verdict == Faithful {
		t.Errorf("incomplete %q, sent %d, %d rows, %d cut off", rep.Incomplete, rep.Sent, len(rows), open)
	}
}

func TestSinkErrorStops(t *testing.T) {
	_, url := target(t, fakellm.Config{})
	full := errors.New("disk full")
	rep, err := Run(t.Context(), mustPlan(t, PlanOptions{}, requests(200, 5)...), Options{Target: url, Sink: func(*trace.Request) error { return full }})
	if !errors.Is(err, full) || rep == nil || rep.Incomplete != StoppedSink || rep.Sent >= 200 {
		t.Errorf("got %v, %+v", err, rep)
	}
}

// A recorded hang-up is repeated at its time after the due time and is no failure; by default the answer runs to its end.
func TestRecordedCancels(t *testing.T) {
	s, url := target(t, fakellm.Config{DecodeBase: 20 * time.Millisecond})
	rows := requests(3, 10)
	rows[1].ErrorClass, rows[1].EndUS, rows[1].MaxTokens = trace.ClassCancel, trace.Ptr(int64(150_000)), trace.Ptr(int64(100))
	plan := mustPlan(t, PlanOptions{}, rows...)
	rep, got := replayed(t, plan, Options{Target: url, Cancel: CancelRecorded})
	if rep.Classes[trace.ClassCancel] != 1 || rep.Classes[trace.ClassOK] != 2 || rep.Incomplete != "" {
		t.Fatalf("%v %q", rep.Classes, rep.Incomplete)
	}
	for _, r := range got {
		if r.ErrorClass == trace.ClassCancel && (r.RequestID != "r0001" || *r.EndUS < 150_000 || r.FinishReason != "") {
			t.Errorf("%+v", r)
		}
	}
	if tr := truthByID(s)["r0001"]; tr.Outcome != fakellm.OutcomeCancelled {
		t.Errorf("the server says %s", tr.Outcome)
	}
	if rep, _ := replayed(t, plan, Options{Target: url}); rep.Classes[trace.ClassOK] != 3 {
		t.Errorf("by default: %v", rep.Classes)
	}
}

// Lengths drift when the target stops by itself: shown, and no faithful verdict when they were to be forced.
func TestRPL22LengthDrift(t *testing.T) {
	lengths := map[string]int{"r0000": 90, "r0001": 310}
	_, url := target(t, fakellm.Config{Behave: func(c fakellm.Call) fakellm.Behaviour { return fakellm.Behaviour{OutputTokens: lengths[c.ID]} }})
	rep, _ := replayed(t, mustPlan(t, PlanOptions{}, row("r0000", 0, 9, 200), row("r0001", 5, 9, 200)), Options{Target: url})
	if f := rep.Fidelity; *f.OutputRatio != 1 || *f.OutputKS != .5 {
		t.Errorf("90 and 310 for 200 and 200: ratio %v, KS %v", *f.OutputRatio, *f.OutputKS)
	}
	rep, _ = replayed(t, mustPlan(t, PlanOptions{}, row("r0000", 0, 9, 200)), Options{Target: url})
	if f := rep.Fidelity; *f.OutputRatio != .45 || !strings.Contains(strings.Join(f.Reasons, "\n"), "do not compare") {
		t.Errorf("ratio %v, reasons %v", *f.OutputRatio, f.Reasons)
	}
}

// Against a target whose first token takes 200 ms, either 200 ms is reported or the run is not faithful.
func TestRPL14ClientLimitsAreSeen(t *testing.T) {
	_, url := target(t, fakellm.Config{PrefillBase: 200 * time.Millisecond, PrefillChunk: 1 << 20})
	var rows []trace.Request
	for i := range 5 {
		rows = append(rows, row("r"+string(rune('0'+i)), int64(i)*250, 10, 1))
	}
	rep, got := replayed(t, mustPlan(t, PlanOptions{}, rows...), Options{Target: url})
	for _, r := range got {
		if d := *r.FirstUS - 200_000; (d < 0 || d > 50_000) && rep.Fidelity.Verdict == Faithful {
			t.Errorf("%s: first token after %d us and a faithful run", r.RequestID, *r.FirstUS)
		}
		if *r.FirstUS < 200_000 {
			t.Errorf("%s: first token after %d us, before the server made it", r.RequestID, *r.FirstUS)
		}
	}
}

// The safety limit of a real run marks it.
func TestRPL17LimitMarksTheRun(t *testing.T) {
	_, url := target(t, fakellm.Config{DecodeBase: 10 * time.Millisecond})
	rep, _ := replayed(t, mustPlan(t, PlanOptions{}, requests(20, 1)...), Options{Target: url, MaxInFlight: 2})
	if rep.Fidelity.Held == 0 || rep.Fidelity.Verdict == Faithful || rep.Sent != 20 {
		t.Errorf("held %d, %s", rep.Fidelity.Held, rep.Fidelity.Verdict)
	}
}

// The target counts 1.5 tokens a word and its template adds 12, 20 with a system message: prompts come out as long as recorded.
func TestCalibrationMakesLengthsFit(t *testing.T) {
	var mu sync.Mutex
	worst := int64(0)
	wants := map[string]int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := string(body)
		words := strings.Count(text, " ") + strings.Count(text, `"content":"`)
		tokens := int64(float64(words)*1.5 + 12.5)
		if strings.Contains(text, `"role":"system"`) {
			tokens += 8
		}
		mu.Lock()
		if want, ok := wants[r.Header.Get("X-Request-Id")]; ok {
			worst = max(worst, tokens-want, want-tokens)
		}
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":`+strconv.FormatInt(tokens, 10)+`,"completion_tokens":1}}`)
	}))
	defer s.Close()
	rows := requests(20, 2)
	for i := range rows {
		rows[i].InputTokens = trace.Ptr(int64(100 + 37*i))
		if i%2 == 0 {
			rows[i].SystemPromptHash, rows[i].SystemPromptTokens = "h", trace.Ptr(int64(60))
		}
		wants[rows[i].RequestID] = *rows[i].InputTokens
	}
	rep, got := replayed(t, mustPlan(t, PlanOptions{}, rows...), Options{Target: s.URL})
	if c := rep.Calibration; !c.Measured || c.TokensPerWord != 1.5 || c.User < 12 || c.User > 13 || c.System-c.User != 8 {
		t.Errorf("calibration %+v", c)
	}
	if worst > 2 {
		t.Errorf("a prompt is %d tokens off", worst)
	}
	// It answers whole what was asked for as a stream: the rows say so and have no first token.
	if got[0].Stream == nil || *got[0].Stream || got[0].FirstUS != nil || got[0].EndUS == nil {
		t.Errorf("%+v", got[0])
	}
}

// TLS works end to end when the certificate is trusted.
func TestTLSTarget(t *testing.T) {
	var hits atomic.Int64
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n")
	}))
	defer s.Close()
	roots := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	rep, rows := replayed(t, mustPlan(t, PlanOptions{}, requests(5, 5)...), Options{Target: s.URL, Wire: wire.Options{TLS: &tls.Config{RootCAs: roots}, Limits: shortLimits}})
	if rep.Classes[trace.ClassOK] != 5 || rep.Calibration.Measured || hits.Load() < 5 {
		t.Errorf("%v, calibration %+v", rep.Classes, rep.Calibration)
	}
	if r := rows[0]; r.OutputTokens != nil || r.InputTokens != nil || r.TokensSource != "" || !r.HasQuality(trace.QTokensMissing) {
		t.Errorf("a server that counts nothing: %+v", r)
	}
}
