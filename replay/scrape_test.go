package replay

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/fakellm"
)

// What is read from the target during a replay is what the target did: its own counts at the end are those of its truth,
// and between two readings no more tokens come than the steps in between made.
func TestScrapeAgainstTruth(t *testing.T) {
	s, address := target(t, fakellm.Config{DecodeBase: 5 * time.Millisecond, Slots: 3, CacheBlocks: 64})
	values := map[string][]trace.Sample{}
	sc, err := StartScrape(ScrapeOptions{URLs: []string{address + "/metrics"}, Every: 30 * time.Millisecond,
		Sink: func(list []trace.Sample) error {
			for _, v := range list {
				values[v.Name] = append(values[v.Name], v)
			}
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now().UnixMicro()
	replayed(t, mustPlan(t, PlanOptions{}, requests(60, 5)...), Options{Target: address})
	out, err := sc.Stop()
	if err != nil || len(out) != 1 || out[0].Read < 3 || out[0].Failed != 0 || out[0].Samples == 0 {
		t.Fatalf("%v %+v", err, out)
	}
	made, asked := 0, 0
	for _, r := range s.Truth().Requests {
		made, asked = made+r.OutputTokens, asked+r.PromptTokens
	}
	for name, want := range map[string]int{"vllm:generation_tokens_total": made, "vllm:prompt_tokens_total": asked, "vllm:num_requests_running": 0} {
		if got := values[name]; len(got) != out[0].Read || got[len(got)-1].Value != float64(want) {
			t.Errorf("%s: %d values, the last %v, want %d values and %d", name, len(got), got[len(got)-1], out[0].Read, want)
		}
	}
	start := s.Truth().Server.StartUnixUS
	busy, last := 0.0, before-1_000_000
	for _, v := range values["vllm:num_requests_running"] {
		busy = max(busy, v.Value)
		if v.AtUS <= last || v.AtUS > time.Now().UnixMicro() || v.AtUS < start-1_000_000 {
			t.Errorf("read at %d, after %d", v.AtUS, last)
		}
		last = v.AtUS
	}
	if busy != 3 {
		t.Errorf("at most %v running, want the 3 slots", busy)
	}
}

// A page that fails is counted, and a key goes to the target's own host alone.
func TestScrapeFailuresAndKeys(t *testing.T) {
	seen := make(chan string, 100)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.URL.Path + " " + r.Header.Get("Authorization")
		switch r.URL.Path {
		case "/metrics":
			w.Write([]byte("a 1\n"))
		case "/html":
			w.Write([]byte("<html>\n"))
		default:
			w.WriteHeader(500)
		}
	}))
	defer page.Close()
	other := httptest.NewServer(page.Config.Handler)
	defer other.Close()
	sc, err := StartScrape(ScrapeOptions{URLs: []string{page.URL + "/metrics", page.URL + "/html", page.URL + "/gone", other.URL + "/metrics"},
		Target: page.URL + "/v1", Header: http.Header{"Authorization": {"Bearer k"}}, Sink: func([]trace.Sample) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := sc.Stop()
	if out[0].Failed != 0 || out[0].Read == 0 || out[1].Read != 0 || !strings.Contains(out[1].Error, "no metrics") || !strings.Contains(out[2].Error, "500") || out[3].Read == 0 {
		t.Errorf("%+v", out)
	}
	keys := 0
	for range len(seen) {
		if s := <-seen; strings.HasSuffix(s, "Bearer k") {
			keys++
		}
	}
	if want := 3 * (out[0].Read + out[0].Failed); keys != want {
		t.Errorf("the key was sent %d times, want %d: to the target's host alone", keys, want)
	}
	sc, err = StartScrape(ScrapeOptions{URLs: []string{"http://user:secret1@127.0.0.1:1/metrics?token=secret2"}, Sink: func([]trace.Sample) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if out, _ = sc.Stop(); out[0].Failed == 0 || strings.Contains(out[0].Error+out[0].Endpoint, "secret") {
		t.Errorf("%+v holds a secret, or did not fail", out)
	}
	if _, err := StartScrape(ScrapeOptions{URLs: []string{"host:8000/metrics"}}); err == nil {
		t.Error("no error for an address without a scheme")
	}
}
