package otel

import (
	"bytes"
	"encoding/base64"

	"reprise/ingest/decode"
)

// Base64 is OTLP as protobuf in base64, a message a line: what consumers of a message queue print.
func Base64() decode.Format {
	return decode.Format{Name: "otlp-base64", Title: "OpenTelemetry spans, OTLP protobuf in base64 lines", About: about, Units: units, Defects: defects, Example: exampleBase64,
		Detect: detectBase64,
		Line: func(c *decode.Context, line []byte) error {
			message, err := unbase64(line)
			if err != nil {
				return c.Reject("bad_base64", "expected a message in base64, got %q", line[:min(len(line), 40)])
			}
			return takeAll(c, "otlp-base64", func(visit func(*span)) error { return walkProto(c, message, visit) })
		}}
}

// exampleBase64 is exampleProto.
const exampleBase64 = `Cs0BEsgBEr0BegBKHxIGCgRjaGF0ChVnZW5fYWkub3BlcmF0aW9uLm5hbWVKGxIDCgFtChRnZW5fYWkucmVxdWVzdC5tb2RlbEofEgIYawoZZ2VuX2FpLnVzYWdlLmlucHV0X3Rva2Vuc0ogEgIYGwoaZ2VuX2FpLnVzYWdlLm91dHB1dF90b2tlbnNBAEful9WJ7Bg5QJ/BVNWJ7BgwAyoGY2hhdCBtIgASCO7hm37DwbF0ChBbjv/3mAOBA9JptjOBP8YMCgYKBGRlbW8KAA==`

// detectBase64: the first line is base64 of a message. One that is longer than the head is cut to whole groups of four.
func detectBase64(s *decode.Sample) int {
	for line := range s.Lines() {
		line = bytes.TrimSpace(line)
		if message, err := unbase64(line[:len(line)/4*4]); err == nil && len(message) > 0 {
			return detectProto(&decode.Sample{Message: message})
		}
		break
	}
	return 0
}

func unbase64(line []byte) ([]byte, error) {
	message := make([]byte, base64.StdEncoding.DecodedLen(len(line)))
	n, err := base64.StdEncoding.Decode(message, line)
	return message[:n], err
}
