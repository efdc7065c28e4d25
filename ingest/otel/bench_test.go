package otel

import (
	"bytes"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// BenchmarkSpans decodes the spans of the demo (a LiteLLM proxy's, with prompts) from bytes to requests on one core, in
// turn with pdata, which decodes the same bytes to structs and no more. It reports the median of the ratios of CPU time
// (x-pdata; above 1: we take less), so that what else the machine does meets both.
func BenchmarkSpans(b *testing.B) {
	lines, messages := demoSpans(b)
	for _, c := range []struct {
		name    string
		records [][]byte
		decode  func(*decode.Context, *decode.Parser, []byte) error
		pdata   func([]byte) error
	}{
		{"json", lines, func(c *decode.Context, p *decode.Parser, record []byte) error {
			v, err := p.ParseBytes(record)
			if err != nil {
				return err
			}
			return JSON().JSON(c, v)
		}, func(record []byte) error {
			_, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(record)
			return err
		}},
		{"proto", messages, func(c *decode.Context, _ *decode.Parser, record []byte) error {
			return Proto().Message(c, record)
		}, func(record []byte) error {
			_, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(record)
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			ctx := decode.NewContext(decode.Options{Hash: testHasher}, "spans.json", func(*trace.Request, []byte) {}, func(string, int64) {})
			var p decode.Parser
			var ours, ratios []float64
			for b.Loop() {
				us := cpuSeconds(b, c.records, func(r []byte) error { return c.decode(ctx, &p, r) })
				ours, ratios = append(ours, us), append(ratios, cpuSeconds(b, c.records, c.pdata)/us)
			}
			b.ReportMetric(median(ratios), "x-pdata")
			b.ReportMetric(float64(len(bytes.Join(c.records, nil)))/1e6/median(ours), "MB/s")
		})
	}
}

// demoSpans are the spans of the demo as JSON and as protobuf.
func demoSpans(b *testing.B) (lines, messages [][]byte) {
	packed, err := os.ReadFile("../../testdata/demo/baseline.spans.jsonl.zst")
	if err != nil {
		b.Fatal(err)
	}
	z, _ := zstd.NewReader(nil)
	text, err := z.DecodeAll(packed, nil)
	if err != nil {
		b.Fatal(err)
	}
	lines = bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	for _, line := range lines {
		traces, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(line)
		if err != nil {
			b.Fatal(err)
		}
		m, err := new(ptrace.ProtoMarshaler).MarshalTraces(traces)
		if err != nil {
			b.Fatal(err)
		}
		messages = append(messages, m)
	}
	return lines, messages
}

// cpuSeconds is the CPU time that decoding all records takes, garbage collection included.
func cpuSeconds(b *testing.B, records [][]byte, decode func([]byte) error) float64 {
	start := cpuTime()
	for _, r := range records {
		if err := decode(r); err != nil {
			b.Fatal(err)
		}
	}
	return (cpuTime() - start).Seconds()
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
