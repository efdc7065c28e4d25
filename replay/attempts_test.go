package replay

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/fakellm"
	"reprise/replay/wire"
)

const goodStream = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

// moody answers the n-th request (from 1) of each id with f.
func moody(t *testing.T, f func(w http.ResponseWriter, id string, n int)) (url string, seen func(id string) int) {
	var mu sync.Mutex
	counts := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		id, _, _ := strings.Cut(r.Header.Get("X-Request-Id"), "-try")
		mu.Lock()
		counts[id]++
		n := counts[id]
		mu.Unlock()
		f(w, id, n)
	}))
	t.Cleanup(s.Close)
	return s.URL, func(id string) int { mu.Lock(); defer mu.Unlock(); return counts[id] }
}

func stream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, text)
}

// Retries happen only when asked, as attempts of one call that each have their own times, after a wait of 0.5 and 1 s or of what the
// target asks for; never after a part of an answer, never where it cannot help, never past a long Retry-After.
func TestRPL29RetriesAreAttempts(t *testing.T) {
	url, seen := moody(t, func(w http.ResponseWriter, id string, n int) {
		switch {
		case id == "r0000" && n < 3:
			w.WriteHeader(503)
		case id == "r0001" && n == 1:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(429)
		case id == "r0002":
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(429)
		case id == "r0003":
			w.WriteHeader(404)
		case id == "r0004":
			stream(w, `data: {"choices":[{"delta":{"content":"a"}}]}`+"\n\n")
		default:
			stream(w, goodStream)
		}
	})
	plan := mustPlan(t, PlanOptions{}, requests(6, 2)...)
	rep, rows := replayed(t, plan, Options{Target: url, NoPreflight: true, Retries: 3})
	byCall := map[string][]trace.Request{}
	for _, r := range rows {
		byCall[r.RootRequestID] = append(byCall[r.RootRequestID], r)
	}
	for id, want := range map[string]int{"r0000": 3, "r0001": 2, "r0002": 1, "r0003": 1, "r0004": 1, "r0005": 1} {
		if len(byCall[id]) != want || seen(id) != want {
			t.Errorf("%s: %d attempts in the run, %d at the target, want %d", id, len(byCall[id]), seen(id), want)
		}
	}
	tries := byCall["r0000"]
	slices.SortFunc(tries, func(a, b trace.Request) int { return int(a.Attempt - b.Attempt) })
	for i, pause := range []int64{500_000, 1_000_000} {
		a, b := tries[i], tries[i+1]
		if wait := *b.Arrival - *a.Arrival - *a.EndUS; wait < pause-2000 || wait > pause+500_000 || b.Attempt != a.Attempt+1 {
			t.Errorf("attempt %d was due %d us after the end of the one before, want %d", b.Attempt, wait, pause)
		}
		if *b.SendLagUS > 500_000 || *a.HTTPStatus != 503 {
			t.Errorf("attempt %d: %+v", i+1, b)
		}
	}
	if tries[0].RequestID != "r0000" || tries[2].RequestID != "r0000-try3" || tries[2].ErrorClass != trace.ClassOK {
		t.Errorf("ids %s and %s, class %s", tries[0].RequestID, tries[2].RequestID, tries[2].ErrorClass)
	}
	if rep.Sent != 6 || rep.Attempts != 9 || rep.Retried != 2 || rep.Recovered != 2 || rep.Classes[trace.ClassOK] != 3 || rep.Classes[trace.ClassRateLimited] != 1 {
		t.Errorf("sent %d, attempts %d, retried %d, recovered %d, %v", rep.Sent, rep.Attempts, rep.Retried, rep.Recovered, rep.Classes)
	}
	for _, e := range rep.Examples {
		if want := map[int]int{503: 2, 429: 2, 404: 1}[e.Status]; want != 0 && e.Count != want {
			t.Errorf("%d attempts ended with %d, want %d", e.Count, e.Status, want)
		}
		if e.Status == 429 && e.RetryAfterS == 0 {
			t.Errorf("no word of Retry-After: %+v", e)
		}
	}
	if lag := rep.Fidelity.Lag.MaxUS; lag > 450_000 {
		t.Errorf("the wait for an attempt counts as this client's lag: %.0f us", lag)
	}
	if rep, rows := replayed(t, plan, Options{Target: url, NoPreflight: true}); len(rows) != 6 || rep.Retried != 0 {
		t.Errorf("without being asked: %d rows", len(rows))
	}
}

// A replay that is stopped does not sit out a wait between attempts, and keeps what the first one was.
func TestStopDuringBackOff(t *testing.T) {
	url, _ := moody(t, func(w http.ResponseWriter, _ string, _ int) {
		w.Header().Set("Retry-After", "20")
		w.WriteHeader(503)
	})
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	var rows []trace.Request
	start := time.Now()
	rep, err := Run(ctx, mustPlan(t, PlanOptions{}, requests(2, 1)...), Options{Target: url, NoPreflight: true, Retries: 1, Sink: func(r *trace.Request) error {
		rows = append(rows, *r)
		return nil
	}})
	if err != nil || len(rows) != 2 || rep.Classes[trace.ClassUpstream] != 2 || rep.Incomplete != StoppedInterrupt || time.Since(start) > 10*time.Second {
		t.Errorf("%v, %d rows, %v, %q after %v", err, len(rows), rep.Classes, rep.Incomplete, time.Since(start))
	}
}

func TestBackOff(t *testing.T) {
	o := Options{Retries: 9}
	for attempt, want := range map[int]time.Duration{1: 500 * time.Millisecond, 2: time.Second, 4: 4 * time.Second, 8: 30 * time.Second} {
		if got, again := o.backOff(&wire.Outcome{Class: wire.ClassNetwork}, attempt); got != want || !again {
			t.Errorf("after attempt %d: %v %v, want %v", attempt, got, again, want)
		}
	}
	for _, class := range []string{wire.ClassOK, wire.ClassCancel, wire.ClassClientError, wire.ClassContextLength, wire.ClassContentFilter} {
		if _, again := o.backOff(&wire.Outcome{Class: class}, 1); again {
			t.Errorf("%s is tried again", class)
		}
	}
	if _, again := o.backOff(&wire.Outcome{Class: wire.ClassTimeout}, 10); again {
		t.Error("tried more often than asked")
	}
}

// The breaker looks at the first hundred requests, then at any 30 s; an outage of some seconds is a finding, no reason to stop.
func TestBreaker(t *testing.T) {
	start := time.Unix(1000, 0)
	// stops returns after how many requests, 10 a second, a replay stops when those of the given seconds fail.
	stops := func(share float64, from, to int) int {
		b := breaker{share: share}
		for i := range 6000 {
			if second := i / 10; b.add(start.Add(time.Duration(i)*time.Second/10), second >= from && second < to) {
				return i + 1
			}
		}
		return 0
	}
	for _, c := range []struct {
		share    float64
		from, to int
		want     int
	}{
		{.9, 0, 600, 20},     // nothing ever worked: the 20th decides
		{-1, 0, 600, 0},      // not asked for
		{.9, 100, 120, 0},    // 20 s of outage: two thirds of any 30 s
		{.9, 100, 600, 1271}, // died at 100 s: 271 of the 301 that ended within 30 s (the ends count) have failed
		{.5, 100, 600, 1151}, // 151 of 301
		{.9, 1, 600, 100},    // 10 good ones: 90 of 100 failed
		{.9, 2, 600, 301},    // 20 good ones: too good at 100; then 281 of 301 at 30 s
		{1, 100, 600, 1301},  // all of 30 s
	} {
		if got := stops(c.share, c.from, c.to); got != c.want {
			t.Errorf("share %v, failing from second %d to %d: stopped after %d, want %d", c.share, c.from, c.to, got, c.want)
		}
	}
}

// A target that refuses nine in ten of the first hundred ends the run early, and what was measured stays.
func TestRPL30BreakerKeepsWhatWasMeasured(t *testing.T) {
	_, url := target(t, fakellm.Config{Behave: func(c fakellm.Call) fakellm.Behaviour {
		if strings.HasSuffix(c.ID, "7") {
			return fakellm.Behaviour{}
		}
		return fakellm.Behaviour{Status: 500}
	}})
	rep, rows := replayed(t, mustPlan(t, PlanOptions{}, requests(400, 4)...), Options{Target: url, NoPreflight: true, StopShare: .8})
	if rep.Incomplete != StoppedFailures || rep.Sent >= 400 || len(rows) != rep.Sent || rep.Classes[trace.ClassOK] == 0 {
		t.Errorf("sent %d, %d rows, %v, %q", rep.Sent, len(rows), rep.Classes, rep.Incomplete)
	}
	// every second answer breaks off at its end, so that good and bad ones take the same time
	_, url = target(t, fakellm.Config{Behave: func(c fakellm.Call) fakellm.Behaviour {
		if strings.ContainsAny(c.ID[len(c.ID)-1:], "13579") {
			return fakellm.Behaviour{End: fakellm.EndMarker, After: 100}
		}
		return fakellm.Behaviour{}
	}})
	rep, _ = replayed(t, mustPlan(t, PlanOptions{}, requests(120, 2)...), Options{Target: url, NoPreflight: true, StopShare: .95})
	if rep.Sent != 120 || rep.Classes[trace.ClassOK] != 60 {
		t.Errorf("half are below the share of 95 %%: sent %d, %v", rep.Sent, rep.Classes)
	}
}
