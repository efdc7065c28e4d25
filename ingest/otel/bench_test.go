package otel

import (
	"bytes"
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// BenchmarkSpans decodes the spans of the demo (a LiteLLM proxy's, with prompts) to requests, beside what pdata takes for
// the decoding alone: metadata to rows against the same bytes to structs.
func BenchmarkSpans(b *testing.B) {
	packed, err := os.ReadFile("../../testdata/demo/baseline.spans.jsonl.zst")
	if err != nil {
		b.Fatal(err)
	}
	z, _ := zstd.NewReader(nil)
	text, err := z.DecodeAll(packed, nil)
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	var messages [][]byte
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
	for _, c := range []struct {
		name    string
		records [][]byte
		decode  func(*decode.Context, *decode.Parser, []byte) error
	}{
		{"json", lines, func(c *decode.Context, p *decode.Parser, record []byte) error {
			v, err := p.ParseBytes(record)
			if err != nil {
				return err
			}
			return JSON().JSON(c, v)
		}},
		{"json-pdata", lines, func(_ *decode.Context, _ *decode.Parser, record []byte) error {
			_, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(record)
			return err
		}},
		{"proto", messages, func(c *decode.Context, _ *decode.Parser, record []byte) error { return Proto().Message(c, record) }},
		{"proto-pdata", messages, func(_ *decode.Context, _ *decode.Parser, record []byte) error {
			_, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(record)
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			size := 0
			for _, r := range c.records {
				size += len(r)
			}
			b.SetBytes(int64(size))
			ctx := decode.NewContext(decode.Options{Hash: testHasher}, "spans.json", func(*trace.Request, []byte) {}, func(string, int64) {})
			var p decode.Parser
			for b.Loop() {
				for _, r := range c.records {
					if err := c.decode(ctx, &p, r); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
