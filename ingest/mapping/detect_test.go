package mapping_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"reprise/ingest"
	"reprise/ingest/decode"
)

// winner is the first format with the most signs, as ingest chooses.
func winner(s *decode.Sample) (name string, signs int) {
	for _, f := range ingest.Formats() {
		if n := f.Detect(s); n > signs {
			name, signs = f.Name, n
		}
	}
	return name, signs
}

func sample(t *testing.T, text []byte) *decode.Sample {
	t.Helper()
	s := &decode.Sample{Head: text}
	for line := range bytes.Lines(text) {
		v, err := decode.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		s.Records = append(s.Records, v)
	}
	return s
}

// Every log is found as its own format among all that ingest knows, and one record of it alone too.
func TestDetect(t *testing.T) {
	logs := map[string][]byte{}
	for _, name := range []string{"envoy-access", "envoy-istio", "nginx-access", "nginx-ingress-access", "caddy-access"} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		logs[name] = text
	}
	a, err := txtar.ParseFile("testdata/samples.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if name, ok := strings.CutSuffix(f.Name, ".jsonl"); ok {
			logs[name] = f.Data
		}
	}
	for name, text := range logs {
		want := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "-access"), "-istio"), "-ingress"), "-access")
		if got, n := winner(sample(t, text)); got != want {
			t.Errorf("%s: read as %q by %d signs, want %q", name, got, n, want)
		}
		first, _, _ := bytes.Cut(text, []byte("\n"))
		if got, n := winner(sample(t, first)); got != want {
			t.Errorf("%s, first record: read as %q by %d signs, want %q", name, got, n, want)
		}
	}
}

// One key that many logs have is no sign.
func TestDetectRefuses(t *testing.T) {
	for _, line := range []string{`{"start_time":"2026-11-29T10:00:00Z","duration":5}`, `{"status":200,"request_time":1}`, `{"id":"1","provider":"x","created_at":"y"}`, `{}`} {
		if got, n := winner(sample(t, []byte(line))); n >= 2 {
			t.Errorf("%s: read as %q by %d signs", line, got, n)
		}
	}
}
