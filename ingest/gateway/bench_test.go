package gateway

import (
	"bytes"
	"testing"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

func BenchmarkLiteLLM(b *testing.B) {
	data := read(b, "../../testdata/demo/baseline.litellm.jsonl.zst")
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	c := decode.NewContext(decode.Options{Hash: decode.NewHasher(make([]byte, 16))}, "", func(*trace.Request, []byte) {}, func(string, int64) {})
	f := LiteLLM()
	for _, decoding := range []bool{false, true} {
		b.Run(map[bool]string{false: "parse", true: "decode"}[decoding], func(b *testing.B) {
			var p decode.Parser
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for range b.N {
				for _, line := range lines {
					v, err := p.ParseBytes(line)
					if err == nil && decoding {
						err = f.JSON(c, v)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
