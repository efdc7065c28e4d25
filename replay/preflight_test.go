package replay

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"reprise/ingest/trace"
	"reprise/replay/fakellm"
	"reprise/replay/wire"
)

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
		{"down", downURL, "answers HTTP 503", "--no-preflight"},
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
		if told := strings.Contains(strings.Join(rep.Fidelity.Reasons, "\n"), "warm"); told != rep.Fidelity.Warm {
			t.Errorf("warm %v, reasons %q", rep.Fidelity.Warm, rep.Fidelity.Reasons)
		}
		return rep.Fidelity.Warm
	}
	if first, second, salted := warm(Options{}), warm(Options{}), warm(Options{Salt: "b"}); first || !second || salted {
		t.Errorf("warm cache seen: first %v second %v salted %v, want only the second", first, second, salted)
	}
}

// The target counts 1.5 tokens a word and its template adds 12, 20 with a system message: prompts come out as long as recorded.
func TestCalibrationMakesLengthsFit(t *testing.T) {
	var mu sync.Mutex
	worst := int64(0)
	wants := map[string]int64{} // filled before the server starts: the race detector does not see that raw writes come before reads
	rows := requests(20, 2)
	for i := range rows {
		rows[i].InputTokens = trace.Ptr(int64(100 + 37*i))
		if i%2 == 0 {
			rows[i].SystemPromptHash, rows[i].SystemPromptTokens = "h", trace.Ptr(int64(60))
		}
		wants[rows[i].RequestID] = *rows[i].InputTokens
	}
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
	rep, got := replayed(t, mustPlan(t, PlanOptions{}, rows...), Options{Target: s.URL})
	if c := rep.Calibration; !c.Measured || c.TokensPerWord != 1.5 || c.User < 12 || c.User > 13 || c.System-c.User != 8 {
		t.Errorf("calibration %+v", c)
	}
	mu.Lock()
	defer mu.Unlock()
	if worst > 2 {
		t.Errorf("a prompt is %d tokens off", worst)
	}
	// It answers whole what was asked for as a stream: the rows say so and have no first token.
	if got[0].Stream == nil || *got[0].Stream || got[0].FirstUS != nil || got[0].EndUS == nil {
		t.Errorf("%+v", got[0])
	}
}
