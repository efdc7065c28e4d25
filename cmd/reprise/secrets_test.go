package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"reprise/ingest"
	"reprise/ingest/trace"
)

// secrets must not be stored or said anywhere, whichever field they stand in; each holds PLANTED. What somebody wrote is
// not known by its look, PRIVATE: it may be stored where names and ids are, if it stands where those do in the log.
var secrets = []string{
	"PRIVATE words",
	"Bearer PLANTED0123456789abcdef",
	"sk-PLANTED0123456789abcdef",
	"https://alice:PLANTEDpw@gw.example:8443/v1/chat/completions?api_key=PLANTEDkey",
	"/v1/chat/completions?api_key=PLANTED0123",
	"Incorrect API key provided: sk-proj-PLANTED0123456789abcd. You can find it at https://example",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJQTEFOVEVEIn0.PLANTEDsignature0123",
}

// TestNoSecretLeaves plants secrets in every text of every format's example. A format that is added is covered.
func TestNoSecretLeaves(t *testing.T) {
	home(t)
	run, dir := filepath.Join(t.TempDir(), "run"), t.TempDir()
	for i, f := range ingest.Formats() {
		if f.Example == "" {
			continue
		}
		log := filepath.Join(dir, f.Name)
		var data []byte
		for _, secret := range secrets {
			data = joined(data, planted(t, f, secret))
		}
		if err := os.WriteFile(log, data, 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"ingest", log, "-f", f.Name, "-o", run, "--max-rejects", "100%"}
		if i%2 == 0 {
			args = append(args, "--json")
		}
		var out, err bytes.Buffer
		a := &app{out: &out, err: &err}
		a.run(context.Background(), args)
		told(t, f.Name+": ingest", out.String()+err.String(), "PLANTED", "PRIVATE")
	}
	kept := stored(t, run)
	checkStored(t, run, kept)
	var some []trace.Request // a report over all takes long, and the examples are of many years
	for i := 0; i < len(kept); i += 7 {
		kept[i].Arrival = trace.Ptr(1_796_000_000_000_000 + int64(i)*1000)
		some = append(some, kept[i])
	}
	page := filepath.Join(t.TempDir(), "page.html")
	out, err := do(t, "analyze", makeRun(t, some), "--by", "route,replica", "--html", page, "--json")
	html, _ := os.ReadFile(page)
	told(t, "analyze", out+err, "PLANTED")
	told(t, "page", string(html), "PLANTED")
}

// joined appends a file to another; of a table without its header again.
func joined(data, more []byte) []byte {
	if header, rows, ok := bytes.Cut(more, []byte("\n")); ok && bytes.HasPrefix(data, append(header, '\n')) {
		return append(data, rows...)
	}
	return append(data, more...)
}

func told(t *testing.T, where, said string, marks ...string) {
	t.Helper()
	for _, mark := range marks {
		if at := strings.Index(said, mark); at >= 0 {
			t.Errorf("%s tells %q", where, said[max(0, at-120):min(len(said), at+50)])
		}
	}
}

func checkStored(t *testing.T, run string, rows []trace.Request) {
	t.Helper()
	formats := map[string]int{}
	for _, r := range rows {
		formats[r.SourceFormat]++
		checkTexts(t, &r, "PLANTED")
		mayHold(&r)
		checkTexts(t, &r, "PRIVATE")
	}
	if len(formats) < 40 || len(rows) < 1000 {
		t.Errorf("%d rows of %d formats: the examples were not read", len(rows), len(formats))
	}
	parts, _ := trace.Parts(run)
	for _, part := range parts {
		meta, _, _, err := trace.Meta(part)
		if err != nil {
			t.Fatal(err)
		}
		for _, said := range meta {
			told(t, "metadata", said, "PLANTED", "PRIVATE")
		}
	}
}

func checkTexts(t *testing.T, r *trace.Request, mark string) {
	t.Helper()
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		if text := v.Field(i).String(); v.Field(i).Kind() == reflect.String && strings.Contains(text, mark) {
			t.Errorf("%s: %s is stored as %q", r.SourceFormat, v.Type().Field(i).Name, text)
		}
	}
}

// mayHold empties the columns that hold names and ids as they are in the log.
func mayHold(r *trace.Request) {
	for _, id := range []*string{&r.RequestID, &r.RootRequestID, &r.ResponseID, &r.TraceID, &r.SpanID, &r.ParentSpanID, &r.SessionID} {
		*id = ""
	}
	for _, field := range trace.NameFields() {
		for _, name := range r.Names(field) {
			*name = ""
		}
	}
}
