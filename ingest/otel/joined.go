package otel

import (
	"bytes"

	"reprise/ingest/decode"
)

// Joined is OTLP JSON of servers that spread one request over processes, and so over records.
func Joined() decode.Format {
	return decode.Format{Name: "otlp-joined", Title: "OpenTelemetry spans of SGLang or llm-d, OTLP JSON, joined over the file", About: about + aboutJoined, Units: units, Defects: defects,
		Example: exampleJoined, Detect: detectJoined,
		Group: func() decode.Group {
			f := newFamily()
			return decode.Group{JSON: f.decode, End: f.settle}
		}}
}

const (
	aboutJoined = `
As otlp (rows say so), but spans meet that lie in different records: SGLang's stages come from another process than the
request, llm-d's sidecar from another than the engines. Chosen where the begin of a file shows one of the two. Slower: one
worker reads the file. Spans meet when fewer than 100,000 others lie between them.
`
	exampleJoined = `{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"scope":{"name":"sglang server"},"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":" Req 5b8efff7","kind":1,"startTimeUnixNano":"1795961900757000000","endTimeUnixNano":"1795961901884000000","attributes":[{"key":"rid","value":{"stringValue":"5b8efff7"}},{"key":"module","value":{"stringValue":"sglang::request"}},{"key":"gen_ai.usage.completion_tokens","value":{"intValue":"27"}}]}]}]}]}`
)

func detectJoined(s *decode.Sample) int {
	for _, sign := range []string{`"llm_d.`, `"sglang::`, `"prefill_waiting"`} {
		if n := detectJSON(s); n > 0 && bytes.Contains(s.Head, []byte(sign)) {
			return n + 1
		}
	}
	return 0
}

func (f *family) decode(c *decode.Context, v *decode.Value) error {
	scratch(c).reset()
	err := walkJSON(c, v, func(s *span) { f.take(c, "otlp", s) })
	if len(f.nodes) > generation {
		f.age(c)
	}
	return err
}

// generation is how many spans a span waits for its relatives at the least.
const generation = 100_000

// age emits the requests of the generation before and forgets its spans.
func (f *family) age(c *decode.Context) {
	f.descend(f.before)
	f.descend(f.nodes)
	f.emit(c, f.kept)
	f.before, f.kept = f.nodes, f.calls
	f.nodes, f.calls = map[[2]string]*node{}, nil
}
