package mapping

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"regexp"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// captures gives the files of testdata/captures.txtar.gz: NAME.log as the producer wrote it, NAME.client and NAME.server
// with what the two ends saw.
func captures(t *testing.T) map[string][]byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(file(t, "captures.txtar.gz")))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string][]byte{}
	for _, f := range txtar.Parse(text).Files {
		list[f.Name] = f.Data
	}
	return list
}

// seen is what the two ends saw of one request of the plan; durations in microseconds.
type seen struct {
	id                 string
	sent, recv, closed int64
	status             int64 // 0 where the client left before there was one
	headers, end       int64 // at the client
	stream             bool
	server             string // the last that was tried
	attempts           int
	keys               []string // ids that a log may hold
}

func whatWasSeen(t *testing.T, client, server []byte) []*seen {
	t.Helper()
	var list []*seen
	ms := func(v *decode.Value, key string) int64 {
		if us := micros(t, v, key); us != nil {
			return *us
		}
		return 0
	}
	for line := range bytes.Lines(client) {
		v, err := decode.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		s := &seen{id: decode.Text(v, "id"), sent: at(t, v, "sent"), headers: ms(v, "headers_ms"), end: ms(v, "end_ms"), stream: *decode.Bool(v, "stream"),
			keys: []string{decode.Text(v, "x_request_id")}}
		if n := decode.Int(v, "status"); n != nil {
			s.status = *n
		}
		list = append(list, s)
	}
	for line := range bytes.Lines(server) {
		v, err := decode.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(list, func(s *seen) bool { return s.id == decode.Text(v, "id") }); i >= 0 {
			s := list[i]
			if s.recv == 0 {
				s.recv = at(t, v, "recv")
			}
			s.attempts++
			s.server, s.closed, s.keys = decode.Text(v, "server"), ms(v, "client_closed_ms"), append(s.keys, decode.Text(v, "x_request_id"))
		}
	}
	return list
}

var labID = regexp.MustCompile(`\[\[id=(\w+)|\{(\w+)\|lab-drive`)

// find returns what was seen of the row: by an id in the row, else by the one in its line, else by the time.
func find(list []*seen, r *trace.Request, line []byte) *seen {
	for _, s := range list {
		if slices.Contains(s.keys, r.RequestID) {
			return s
		}
	}
	if m := labID.FindSubmatch(line); m != nil {
		i := slices.IndexFunc(list, func(s *seen) bool { return s.id == string(m[1])+string(m[2]) })
		return list[i]
	}
	for _, s := range list {
		if r.Arrival != nil && *r.Arrival >= s.sent-1000 && *r.Arrival <= s.sent+20_000 {
			return s
		}
	}
	return nil
}

// textCapture is a log and what it can and cannot tell of the truth.
type textCapture struct {
	name, preset string
	classes      map[string]string // as the log tells them; others are ok
	early        int64             // arrival may be as much before the sending: stamps in whole seconds are cut off
	slack        int64             // a busy machine, and steps of the stamps
	ends         map[string]int64  // where the log's end is not the client's, microseconds
	late         bool              // cancels are seen when the engine's connection closes
	noEnd        func(*seen) bool  // nil for none
	headers      bool              // the log has them
	replica      bool
}

// TestTextCaptures sets every row of a real log beside what the two ends saw. Each allowance is a defect of the producer
// that its preset names.
func TestTextCaptures(t *testing.T) {
	const second = 1_000_000
	// Engine errors are 502 whatever they were; a broken stream is a success.
	tensorzero := map[string]string{"e429": trace.ClassUpstream, "e400": trace.ClassUpstream, "e500": trace.ClassUpstream, "can1": trace.ClassCancel, "can0": trace.ClassCancel}
	portkey := classes(false, false)
	portkey["e400"] = trace.ClassContextLength // the body says so
	buffered := classes(false, false)
	buffered["can0"] = trace.ClassCancel          // nothing had been sent: 499
	envoyCut := map[string]int64{"cut1": 221_000} // Envoy keeps the client's connection open for a second after the break
	for _, c := range []textCapture{
		// Cancels and breaks are 200 without a sign.
		{name: "nginx-ingress", preset: "nginx-ingress", classes: classes(false, false), early: second, slack: 4000, replica: true},
		{name: "nginx-buffered", preset: "nginx", classes: buffered, slack: 40_000},
		// A client that left is noticed at the engine's next chunk or end.
		{name: "haproxy", preset: "haproxy", classes: classes(true, true), slack: 30_000, late: true},
		{name: "haproxy-no-delay", preset: "haproxy", classes: classes(true, true), slack: 45_000, late: true, headers: true},
		{name: "envoy-text", preset: "envoy-text", classes: classes(true, true), slack: 4000, ends: envoyCut, headers: true, replica: true},
		{name: "istio-text", preset: "envoy-text", classes: classes(true, true), slack: 4000, ends: envoyCut, headers: true, replica: true},
		{name: "tensorzero", preset: "tensorzero", classes: tensorzero, slack: 3000},
		// All that is known is the headers' time; cancels and breaks are 200.
		{name: "sglang-router", preset: "sglang-router", classes: classes(false, false), early: second, slack: 3000, headers: true, noEnd: func(*seen) bool { return true }},
		{name: "sglang-router-trace", preset: "sglang-router", classes: classes(false, false), early: second, slack: 3000, headers: true, noEnd: func(*seen) bool { return true }},
		// The clock stops at the headers of a stream.
		{name: "portkey", preset: "portkey-gateway", classes: portkey, slack: 75_000, noEnd: func(s *seen) bool { return s.stream }},
	} {
		t.Run(c.name, func(t *testing.T) { c.compare(t, captures(t)) })
	}
}

func (c *textCapture) compare(t *testing.T, files map[string][]byte) {
	text := files[c.name+".log"]
	if c.preset == "portkey-gateway" { // as ingest does with JSON behind a prefix
		text = bytes.Join(regexp.MustCompile(`(?m)\{".*\}$`).FindAll(text, -1), []byte("\n"))
	}
	lines := bytes.Split(text, []byte("\n"))
	list := whatWasSeen(t, files[c.name+".client"], files[c.name+".server"])
	got := read(t, preset(t, c.preset), decode.Options{}, text)
	if len(got.errs) > 0 {
		t.Fatal(got.errs[0])
	}
	rows := map[string]bool{}
	for _, r := range got.rows {
		s := find(list, &r, lines[r.SourceLine-1])
		if s == nil && c.preset == "tensorzero" && r.SourceLine < 10 {
			continue // a warm-up call, which is not in the plan
		}
		if s == nil || rows[s.id] {
			t.Errorf("line %d: row %q of no request, or of one that has a row", r.SourceLine, r.RequestID)
			continue
		}
		rows[s.id] = true
		c.row(t, s, &r)
	}
	if len(rows) != 14 {
		t.Errorf("%d of 14 requests have a row; skipped: %v", len(rows), got.skipped)
	}
}

func (c *textCapture) row(t *testing.T, s *seen, r *trace.Request) {
	t.Helper()
	class := c.classes[s.id]
	if class == "" {
		class = trace.ClassOK
	}
	if r.ErrorClass != class {
		t.Errorf("%s: class %s, want %s", s.id, r.ErrorClass, class)
	}
	if s.status != 0 && !(r.HTTPStatus == nil && class == trace.ClassCancel) && (r.HTTPStatus == nil || int64(*r.HTTPStatus) != s.status) {
		t.Errorf("%s: status %v, want %d", s.id, r.HTTPStatus, s.status)
	}
	if r.Arrival == nil || *r.Arrival < s.sent-c.early-c.slack || *r.Arrival > s.recv+c.slack {
		t.Errorf("%s: arrival %v, sent %d, received %d", s.id, r.Arrival, s.sent, s.recv)
	}
	end := s.end
	if c.late && s.closed > 0 {
		end = s.closed
	}
	if special, ok := c.ends[s.id]; ok {
		end = special
	}
	if c.noEnd != nil && c.noEnd(s) {
		if r.EndUS != nil {
			t.Errorf("%s: end %d from a log that has none", s.id, *r.EndUS)
		}
	} else {
		near(t, s.id+" end", r.EndUS, end, c.slack)
	}
	if r.FirstUS != nil {
		t.Errorf("%s: first token %d from a log that has none", s.id, *r.FirstUS)
	}
	if c.headers {
		near(t, s.id+" headers", r.HeadersUS, s.headers, c.slack)
	}
	if c.replica && r.Replica != s.server {
		t.Errorf("%s: replica %q, want %q", s.id, r.Replica, s.server)
	}
}

// nginx's combined format has no duration: the outcome is all that there is, in the order of the ends.
func TestCombined(t *testing.T) {
	files := captures(t)
	got := read(t, preset(t, "nginx-text"), decode.Options{}, files["nginx-combined.log"])
	list := whatWasSeen(t, files["nginx-combined.client"], files["nginx-combined.server"])
	slices.SortFunc(list, func(a, b *seen) int { return cmp.Compare(a.sent+a.end, b.sent+b.end) })
	if len(got.rows) != len(list) || len(got.errs) > 0 {
		t.Fatalf("%d rows of %d, %v", len(got.rows), len(list), got.errs)
	}
	for i, r := range got.rows {
		if s := list[i]; int64(*r.HTTPStatus) != s.status || r.Arrival != nil || r.EndUS != nil || !r.HasQuality(trace.QEndOnly) {
			t.Errorf("%s: %+v", s.id, r)
		}
	}
}

// A router's log without requests is named as such, and a log flushed while requests run has lines that are left out.
func TestLinesThatAreNoRequests(t *testing.T) {
	files := captures(t)
	got := read(t, preset(t, "vllm-router"), decode.Options{}, files["vllm-router.log"])
	if len(got.rows)+len(got.errs) > 0 || got.skipped["no_requests_in_this_log"] != 66 {
		t.Errorf("%d rows, %v, %v", len(got.rows), got.errs, got.skipped)
	}
	got = read(t, preset(t, "envoy-text"), decode.Options{}, files["envoy-flush-text.log"])
	if len(got.rows) != 16 || got.skipped["unfinished_line"] != 14 { // two periodic lines of l1 cannot be told
		t.Errorf("%d rows, %v", len(got.rows), got.skipped)
	}
}
