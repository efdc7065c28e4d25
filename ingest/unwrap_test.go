package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// TestContainers puts records that are known to be read into what exports, shippers and container runtimes put around
// them: the format and the number of rows must not change.
func TestContainers(t *testing.T) {
	example := func(name string) string {
		i := slices.IndexFunc(Formats(), func(f decode.Format) bool { return f.Name == name })
		return Formats()[i].Example
	}
	quoted := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	kong, azure, bedrock, caddy := example("kong"), example("azure-openai"), example("bedrock"), example("caddy")
	nginx := example("nginx-text")
	for _, c := range []struct {
		name, text, format string
		kept, skipped      int64
	}{
		{"Azure's records, twice", `{"records":[` + azure + "," + azure + "]}\n" + `{"records":[` + azure + `]}`, "azure-openai", 3, 0},
		{"pretty-printed export", "{\n\"data\": [\n" + kong + ",\n" + kong + "\n]\n}", "kong", 2, 0},
		{"array", "[" + kong + "," + kong + "]", "kong", 2, 0},
		{"CloudWatch", `{"logGroup":"g","logEvents":[{"id":"1","timestamp":1795946400000,"message":` + quoted(bedrock) + `},{"id":"2","message":"START"}]}`, "bedrock", 1, 1},
		{"CloudWatch, one event a line", `{"timestamp":1,"message":` + quoted(bedrock) + "}", "bedrock", 1, 0},
		{"Docker, text", `{"log":` + quoted(nginx+"\n") + `,"stream":"stdout","time":"2026-11-29T10:00:01Z"}` + "\n" + `{"log":` + quoted(nginx) + `,"stream":"stdout"}`, "nginx-text", 2, 0},
		{"Docker, JSON", `{"log":` + quoted(caddy+"\n") + `,"stream":"stdout"}`, "caddy", 1, 0},
		{"Google Cloud", `{"insertId":"x","jsonPayload":` + caddy + `}`, "caddy", 1, 0},
		{"Kubernetes, JSON", "2026-11-29T10:00:00.1Z stdout F starting {\n2026-11-29T10:00:00.1Z stdout F ready\n2026-11-29T10:00:01.5Z stdout F " + caddy, "caddy", 1, 2},
		{"Kubernetes, text", "2026-11-29T10:00:01.5Z stdout F " + nginx, "nginx-text", 1, 0},
		{"Kubernetes, Envoy", "2026-11-29T10:00:01.5Z stdout F " + example("envoy-text"), "envoy-text", 1, 0},
		{"syslog, text", "<190>Nov 29 10:00:01 host nginx: " + nginx, "nginx-text", 1, 0},
		{"compose, text", "router-1  | " + example("sglang-router"), "sglang-router", 1, 0},
		{"braces in front", "2026-11-29T10:00:00Z INFO request{id=7}: done " + caddy, "caddy", 1, 0},
		{"syslog, JSON", "<134>Nov 29 10:00:01 host caddy: " + caddy, "caddy", 1, 0},
		{"pairs as JSON", `{"time":"2026-11-29T10:00:02Z","level":"info","scope":"request","gateway":"g","http.status":200,"protocol":"llm","gen_ai.request.model":"m","duration":"2488ms"}`, "agentgateway", 1, 0},
		{"zeros in front", strings.Repeat("\x00", 3<<20) + caddy + "\n" + strings.Repeat("\x00", 100) + caddy, "caddy", 2, 0},
		{"tab-separated", "id\tobject\tprovider\tnumber_of_retries\tfallback_index\ttimestamp\n1\tchat.completion\topenai\t0\t0\t2026-11-29T10:00:00Z", "bifrost", 1, 0},
		{"semicolons", "id;object;provider;number_of_retries;fallback_index;timestamp\n1;chat.completion;openai;0;0;2026-11-29T10:00:00Z", "bifrost", 1, 0},
		{"OpenTelemetry log, attributes", otlpLog(`"attributes":[{"key":"start_time","value":{"stringValue":"2026-11-29T10:00:00.1Z"}},{"key":"duration","value":{"intValue":"5"}},{"key":"response_flags","value":{"stringValue":"-"}},{"key":"upstream_host","value":{"stringValue":"10.0.0.1:80"}},{"key":"response_code","value":{"stringValue":"200"}},{"key":"path","value":{"stringValue":"/v1/chat/completions"}}]`), "envoy", 1, 0},
		{"OpenTelemetry log, text", otlpLog(`"body":{"stringValue":` + quoted(example("envoy-text")) + `}`), "envoy-text", 1, 0},
		{"OpenTelemetry log, JSON in text", otlpLog(`"body":{"stringValue":` + quoted(caddy) + `}`), "caddy", 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			acc, err := Run(context.Background(), Options{Run: t.TempDir(), Stdin: strings.NewReader(c.text + "\n"),
				Options: decode.Options{Hash: decode.NewHasher(make([]byte, 16))}}, "-")
			if err != nil {
				t.Fatal(err)
			}
			in := acc.Inputs[0]
			if in.Format != c.format || in.Kept != c.kept || sum(in.Skipped) != c.skipped || in.Read != in.Kept+c.skipped {
				t.Errorf("%+v", in)
			}
		})
	}
}

func otlpLog(record string) string {
	return `{"resourceLogs":[{"resource":{},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1795946400000000000",` + record + `}]}]}]}`
}

// Rows of one record that have no id get one each, and one that is refused does not take the others with it.
func TestRowsOfOneRecord(t *testing.T) {
	const good = `{"ts":1795946400.5,"duration":0.5,"request":{"method":"POST","uri":"/v1/chat/completions"},"resp_headers":{},"status":200}`
	const bad = `{"ts":"soon","duration":0.5,"request":{"method":"POST","uri":"/v1/chat/completions"},"resp_headers":{},"status":200}`
	acc, err := Run(context.Background(), Options{Run: t.TempDir(), Stdin: strings.NewReader(`{"logs":[` + good + "," + bad + "," + good + "]}\n"),
		Options: decode.Options{Hash: decode.NewHasher(make([]byte, 16))}}, "-")
	if err != nil {
		t.Fatal(err)
	}
	in := acc.Inputs[0]
	if in.Read != 3 || in.Kept != 2 || in.Rejected["bad_time"] != 1 {
		t.Errorf("%+v", in)
	}
	var ids []string
	for r, err := range trace.Read(in.Parts...) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.RequestID)
	}
	slices.Sort(ids)
	if d := cmp.Diff([]string{"stdin:1:1", "stdin:1:3"}, ids); d != "" {
		t.Error(d)
	}
}

// captured gives the logs and truths that package mapping tests with, by file name.
func captured(t *testing.T) map[string][]byte {
	t.Helper()
	f, err := os.Open(filepath.Join("mapping", "testdata", "captures.txtar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range txtar.Parse(text).Files {
		files[f.Name] = f.Data
	}
	return files
}

// Each real log is found by its content among all formats, however much the program says before its first request.
func TestCapturesAreDetected(t *testing.T) {
	files := captured(t)
	for name, want := range map[string]string{"nginx-combined": "nginx-text 14", "nginx-buffered": "nginx 14", "nginx-ingress": "nginx-ingress 14", "haproxy": "haproxy 14",
		"envoy-text": "envoy-text 14", "istio-text": "envoy-text 14", "envoy-otlp": "envoy 14", "portkey": "portkey-gateway 14", "sglang-router": "sglang-router 14",
		"sglang-router-trace": "sglang-router 14", "tensorzero": "tensorzero 15", "vllm-router": "vllm-router 0"} {
		acc, err := Run(context.Background(), Options{Run: t.TempDir(), Stdin: bytes.NewReader(files[name+".log"]), Options: decode.Options{Hash: decode.NewHasher(make([]byte, 16))}}, "-")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if in := acc.Inputs[0]; fmt.Sprint(in.Format, " ", in.Kept) != want || len(in.Rejected) > 0 {
			t.Errorf("%s: %+v, want %s", name, in, want)
		}
		for r, err := range trace.Read(acc.Inputs[0].Parts...) { // prompts and keys stand in some of the logs in clear
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"Hardware Store", "handbook", "sk-lab"} {
				if row := fmt.Sprintf("%+v", r); strings.Contains(row, secret) {
					t.Errorf("%s: %q is in the row %s", name, secret, row)
				}
			}
		}
	}
}

// Envoy's access log as it comes through OpenTelemetry's log sink, beside what the client saw of each request.
func TestEnvoyThroughOpenTelemetry(t *testing.T) {
	files := captured(t)
	acc, err := Run(context.Background(), Options{Run: t.TempDir(), Stdin: bytes.NewReader(files["envoy-otlp.log"]),
		Options: decode.Options{Hash: decode.NewHasher(make([]byte, 16))}}, "-")
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]*decode.Value{} // what the engine saw, by the id that Envoy gave the request
	for line := range bytes.Lines(files["envoy-otlp.server"]) {
		v, err := decode.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		sent[decode.Text(v, "x_request_id")] = v
	}
	n := 0
	for r, err := range trace.Read(acc.Inputs[0].Parts...) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		v := sent[r.RequestID]
		id := decode.Text(v, "id")
		recv, _, err := decode.Time(decode.Text(v, "recv"), nil)
		if err != nil {
			t.Fatalf("%s: %v", r.RequestID, err)
		}
		if before := recv - *r.Arrival; id[0] != 'e' && (before < 0 || before > 5000) { // of a retried one recv is the last attempt's
			t.Errorf("%s: arrival %d us before the engine's", id, before)
		}
		first, err := decode.Micros(decode.Text(v, "ttft_ms"), time.Millisecond)
		if known := err == nil; known != (r.FirstUS != nil) || known && max(*r.FirstUS-first, first-*r.FirstUS) > 3000 {
			t.Errorf("%s: first %v, the engine sent it after %d", id, r.FirstUS, first)
		}
		if len(r.TraceID) != 32 || r.Replica != decode.Text(v, "server") {
			t.Errorf("%s: trace %q, replica %q", id, r.TraceID, r.Replica)
		}
	}
	if n != 14 {
		t.Errorf("%d rows of 14", n)
	}
}

// FuzzContainers: whatever a file holds, it is read without a panic and the account adds up, or it is refused.
func FuzzContainers(f *testing.F) {
	for _, format := range Formats() {
		f.Add([]byte(format.Example))
		f.Add([]byte(`{"records":[` + format.Example + `]}`))
	}
	f.Add([]byte(`{"log":"{\"a\":1}","logEvents":[{"message":"{"},1,null]}`))
	f.Add([]byte(otlpLog(`"body":{"kvlistValue":{"values":[{"key":"a\"","value":{"intValue":1}}]}}`)))
	f.Add([]byte("x {\"a\":1}\ny {\n\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		acc, err := Run(context.Background(), Options{Run: t.TempDir(), Stdin: bytes.NewReader(b), Options: decode.Options{Hash: decode.NewHasher(make([]byte, 16))}}, "-")
		if err != nil {
			return
		}
		if in := acc.Inputs[0]; in.Read != in.Kept+sum(in.Rejected)+sum(in.Skipped)+in.Incomplete {
			t.Errorf("%+v", in)
		}
	})
}
