package mapping

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// truth is what the client and the server of a capture saw of one request.
type truth struct {
	sent, recv int64 // of the first attempt
	stream     bool
	status     int32
	end, ttft  *int64 // microseconds at the client and, for ttft, at the server; nil for none
	closed     *int64 // when the server saw that the client had gone
	serverEnd  int64
	servers    []string
}

// truths reads the two truth files of a capture, by id.
func truths(t *testing.T, capture string) map[string]*truth {
	t.Helper()
	list := map[string]*truth{}
	for line := range bytes.Lines(file(t, capture+"-truth-client.jsonl")) {
		v, _ := decode.Parse(line)
		end := micros(t, v, "end_ms")
		list[decode.Text(v, "id")] = &truth{sent: at(t, v, "sent"), stream: *decode.Bool(v, "stream"), status: int32(*decode.Int(v, "status")), end: end}
	}
	for line := range bytes.Lines(file(t, capture+"-truth-server.jsonl")) {
		v, _ := decode.Parse(line)
		w := list[decode.Text(v, "id")]
		if w.recv == 0 {
			w.recv = at(t, v, "recv")
		}
		w.closed = micros(t, v, "client_closed_ms")
		w.ttft, w.servers, w.serverEnd = micros(t, v, "ttft_ms"), append(w.servers, decode.Text(v, "server")), *micros(t, v, "end_ms")
	}
	return list
}

func at(t *testing.T, v *decode.Value, key string) int64 {
	t.Helper()
	us, _, err := decode.Time(decode.Text(v, key), nil)
	if err != nil {
		t.Fatal(err)
	}
	return us
}

func micros(t *testing.T, v *decode.Value, key string) *int64 {
	t.Helper()
	text := decode.Text(v, key)
	if text == "" {
		return nil
	}
	us, err := decode.Micros(text, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	return &us
}

// classes of the plan's requests where the log can tell; others are ok.
func classes(tellsCancel, tellsCut bool) map[string]string {
	m := map[string]string{"e429": trace.ClassRateLimited, "e400": trace.ClassClientError, "e500": trace.ClassUpstream}
	if tellsCancel {
		m["can1"], m["can0"] = trace.ClassCancel, trace.ClassCancel
	}
	if tellsCut {
		m["cut1"] = trace.ClassUpstream
	}
	return m
}

// TestCaptures sets every row of a real log beside what the client and the server saw.
func TestCaptures(t *testing.T) {
	for _, c := range []struct {
		log, capture, preset string
		classes              map[string]string
		slack                int64 // of arrival and end, microseconds: steps of the stamps and a busy machine
		ttft, stream         bool  // the log tells
	}{
		{"envoy-access", "envoy", "envoy", classes(true, true), 4000, true, true},
		{"envoy-istio", "envoy", "envoy", classes(true, true), 4000, false, false},
		{"envoy-flush-access", "envoy-flush", "envoy", classes(true, true), 4000, true, true},
		{"nginx-access", "nginx", "nginx", classes(false, false), 25000, false, true},
		{"nginx-ingress-access", "nginx-ingress", "nginx", classes(true, false), 4000, false, false},
		{"caddy-access", "caddy", "caddy", classes(false, false), 25000, false, true},
	} {
		t.Run(c.log, func(t *testing.T) {
			text := file(t, c.log+".jsonl")
			got, want := read(t, preset(t, c.preset), decode.Options{}, text), truths(t, c.capture)
			if len(got.rows) != 14 || len(got.errs) > 0 {
				t.Fatalf("%d rows, errors %v, skipped %v", len(got.rows), got.errs, got.skipped)
			}
			ids := labIDs(t, text)
			for _, r := range got.rows {
				id := ids[r.SourceLine]
				w := want[id]
				class := c.classes[id]
				if class == "" {
					class = trace.ClassOK
				}
				if r.ErrorClass != class || r.HTTPStatus == nil || *r.HTTPStatus != w.status {
					t.Errorf("%s: class %s, want %s; status %v, want %d", id, r.ErrorClass, class, *r.HTTPStatus, w.status)
				}
				if *r.Arrival < w.sent-c.slack || *r.Arrival > w.recv+c.slack {
					t.Errorf("%s: arrival %d, sent %d, received %d", id, *r.Arrival, w.sent, w.recv)
				}
				end := *w.end
				if w.closed != nil { // Caddy sees late that the client has gone
					end = *w.closed
				} else if id == "cut1" { // some proxies keep the client's connection for a second after the break
					end = w.serverEnd
				}
				near(t, id+" end", r.EndUS, end, c.slack)
				if c.ttft && w.stream && w.ttft != nil && w.status == 200 {
					near(t, id+" first", r.FirstUS, *w.ttft, 3000)
				} else if r.FirstUS != nil {
					t.Errorf("%s: first token %d from a log that has none", id, *r.FirstUS)
				}
				if c.stream && w.status == 200 && (r.Stream == nil || *r.Stream != w.stream) {
					t.Errorf("%s: stream %v, want %v", id, r.Stream, w.stream)
				}
				if last := w.servers[len(w.servers)-1]; last != "" && r.Replica != last {
					t.Errorf("%s: replica %q, want %q", id, r.Replica, last)
				}
				if len(w.servers) > 1 && c.preset == "nginx" && r.HeadersUS != nil {
					t.Errorf("%s: headers %d of a call that was tried twice", id, *r.HeadersUS)
				}
			}
		})
	}
}

func near(t *testing.T, what string, got *int64, want, slack int64) {
	t.Helper()
	if got == nil || *got < want-slack || *got > want+slack {
		if got == nil {
			t.Errorf("%s: nothing, want %d", what, want)
			return
		}
		t.Errorf("%s: %d, want %d", what, *got, want)
	}
}

// labIDs gives the id the client sent, by line.
func labIDs(t *testing.T, text []byte) map[int64]string {
	t.Helper()
	ids, n := map[int64]string{}, int64(0)
	order := map[string]string{} // Istio's fields do not hold it: by x-request-id from the other file of the run
	for line := range bytes.Lines(file(t, "envoy-access.jsonl")) {
		v, _ := decode.Parse(line)
		order[decode.Text(v, "request_id")] = decode.Text(v, "lab_id")
	}
	for line := range bytes.Lines(text) {
		n++
		v, err := decode.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		ids[n] = decode.Text(v, "lab_id") + decode.Text(v, "request", "headers", "X-Lab-Id", "0")
		if ids[n] == "" {
			ids[n] = order[decode.Text(v, "request_id")]
		}
	}
	return ids
}

// A log that is flushed while requests run has several lines each. The JSON form with access_log_type tells; Istio's
// does not, and only the lines without a status can be left out.
func TestFlushedLines(t *testing.T) {
	got := read(t, preset(t, "envoy"), decode.Options{}, file(t, "envoy-flush-access.jsonl"))
	if len(got.rows) != 14 || got.skipped["unfinished_line"] != 16 {
		t.Errorf("%d rows, %v", len(got.rows), got.skipped)
	}
	got = read(t, preset(t, "envoy"), decode.Options{}, file(t, "envoy-flush-istio.jsonl"))
	if len(got.rows) != 16 || got.skipped["unfinished_line"] != 14 { // two periodic lines of l1 cannot be told
		t.Errorf("%d rows, %v", len(got.rows), got.skipped)
	}
}

func TestHeadersAreNoFirstToken(t *testing.T) { // ING-10
	for _, r := range read(t, preset(t, "envoy"), decode.Options{}, file(t, "envoy-istio.jsonl")).rows {
		if r.FirstUS != nil || r.TTFTKind != "" || r.HeadersUS == nil || !strings.Contains(r.Quality, trace.QFirstIsHeaders) {
			t.Errorf("line %d: first %v, headers %v, %s", r.SourceLine, r.FirstUS, r.HeadersUS, r.Quality)
		}
	}
}
