package replay

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
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
	ended := func() int { return len(s.Truth().Requests) }
	eventually(func() bool { return ended() >= 12+3 }) // and the preflight's three
	if n := ended(); n != 12+3 {
		t.Errorf("the server saw %d requests: nothing may be sent twice (RPL-29)", n)
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
	outcome := func() string { return truthByID(s)["r0001"].Outcome }
	if eventually(func() bool { return outcome() != "" }); outcome() != fakellm.OutcomeCancelled {
		t.Errorf("the server says %q", outcome())
	}
	if rep, _ := replayed(t, plan, Options{Target: url}); rep.Classes[trace.ClassOK] != 3 {
		t.Errorf("by default: %v", rep.Classes)
	}
}

// A recorded timeout is a limit again: a target that is as slow meets it, a faster one does not.
func TestRecordedTimeouts(t *testing.T) {
	_, url := target(t, fakellm.Config{DecodeBase: 20 * time.Millisecond})
	rows := requests(3, 10)
	for i, us := range []int64{150_000, 9_000_000} {
		rows[i].ErrorClass, rows[i].EndUS = trace.ClassTimeout, trace.Ptr(us)
	}
	rows[0].MaxTokens = trace.Ptr(int64(100))
	rep, got := replayed(t, mustPlan(t, PlanOptions{}, rows...), Options{Target: url, Cancel: CancelRecorded})
	if rep.Classes[trace.ClassTimeout] != 1 || rep.Classes[trace.ClassOK] != 2 {
		t.Fatalf("%v", rep.Classes)
	}
	for _, r := range got {
		if r.ErrorClass == trace.ClassTimeout && (r.RequestID != "r0000" || *r.EndUS < 150_000 || len(r.GapsUS) == 0) {
			t.Errorf("%+v", r)
		}
	}
}

// A server that stops for 5 s makes every call that was due meanwhile late, and the 99th percentile says so whether or not a limit on calls in
// flight kept them from being sent (coordinated omission): of 350 calls, 250 are due in the stop, the first 4 of them 4.92 s and more before its end. The replay may
// begin up to 1.5 s after the server.
func TestStopShowsFromDueTimes(t *testing.T) {
	var limits sync.WaitGroup
	defer limits.Wait()
	for _, limit := range []int{0, 2, 64} {
		limits.Go(func() {
			s, url := target(t, fakellm.Config{Pauses: []fakellm.Pause{{At: 1500 * time.Millisecond, For: 5 * time.Second}}})
			rep, rows := replayed(t, mustPlan(t, PlanOptions{}, requests(350, 20)...), Options{Target: url, MaxInFlight: limit, NoPreflight: true,
				Wire: wire.Options{Limits: wire.Limits{Whole: 30 * time.Second}}})
			var first []int64
			for _, r := range rows {
				if r.FirstUS != nil {
					first = append(first, *r.FirstUS)
				}
			}
			slices.Sort(first)
			if len(first) != 350 || first[346] < 4_600_000 || first[175] < 1_000_000 || rep.Classes[trace.ClassOK] != 350 || (rep.Fidelity.Held > 0) != (limit > 0) {
				t.Errorf("limit %d: p50 %d us, p99 %d us, held %d, %v", limit, first[len(first)/2], first[len(first)*99/100], rep.Fidelity.Held, rep.Classes)
			}
			s.Close()
		})
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

// TLS works end to end when the certificate is trusted.
func TestTLSTarget(t *testing.T) {
	var hits atomic.Int64
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
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
