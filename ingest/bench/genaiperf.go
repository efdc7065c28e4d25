package bench

import (
	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// GenAIPerf is profile_export.json of genai-perf and perf_analyzer.
func GenAIPerf() decode.Format {
	return decode.Format{Name: "genai-perf", Title: "genai-perf profile_export.json", About: aboutGenAIPerf, Units: "epoch nanoseconds",
		Defects: "its inter-token latency meant other things in other versions: not read. Requests outside the measured windows (window_boundaries) are in the file too",
		Example: `{"service_kind":"openai","endpoint":"v1/chat/completions","experiments":[{"experiment":{"mode":"concurrency","value":1},"requests":[{"timestamp":1745526100322752068,"response_timestamps":[1745526100365982228,1745526100385982228]}]}]}`,
		Detect:  detectGenAIPerf, JSON: genaiPerf}
}

const aboutGenAIPerf = `One JSON document; every request of every experiment in it is a row.
Can contain: start, every chunk, end (wall clock), and from kept answers tokens, model, finish reason. Cannot: ids
(request_id is FILE:INDEX), sessions, errors (a request without response_timestamps has none: unknown).

first_us       the first response whose text holds tokens, where response_outputs are kept (first_content_chunk); else
               the first response (first_any_chunk). gaps_us: all of them. end_us: the last response of any kind.
tokens         only from a usage chunk in the kept answers.
`

func detectGenAIPerf(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		first := v.Get("experiments", "0")
		request := first.Get("requests", "0")
		n := decode.One(first.GetObject("experiment") != nil) + decode.One(decode.Has(request, "timestamp")) + decode.One(request.Get("response_timestamps").Type() == decode.TypeArray)
		best = max(best, n)
	}
	return best
}

func genaiPerf(c *decode.Context, v *decode.Value) error {
	line := int64(0)
	for _, experiment := range v.GetArray("experiments") {
		for _, request := range experiment.GetArray("requests") {
			line++
			genaiRow(c, v, request, line)
		}
	}
	if line == 0 {
		return c.Reject("no_requests", "expected experiments[].requests with requests in it, got none")
	}
	return nil
}

func genaiRow(c *decode.Context, v, request *decode.Value, line int64) {
	r := newRow(c, "genai-perf", line, "")
	start := sane(decode.Int(request, "timestamp"))
	r.Arrival = micros(start)
	inputs := request.Get("request_inputs")
	body := decode.Nested(inputs, "payload")
	if body.GetObject() == nil {
		body = inputs
	}
	asked(r, body)
	if r.EndpointKind == "" {
		r.EndpointKind = endpointKind(decode.Text(v, "endpoint"))
	}
	if times := request.GetArray("response_timestamps"); start != nil && len(times) > 0 {
		var a answer
		stamps, texts := make([]*int64, len(times)), request.GetArray("response_outputs")
		for i, t := range times {
			stamps[i] = sane(decode.Int(t))
		}
		if r.EndUS = since(start, stamps[len(stamps)-1]); r.EndUS != nil {
			r.ErrorClass = trace.ClassOK
		}
		if len(times) > 1 || r.Stream != nil && *r.Stream {
			recorded(r, &a, *start, stamps, texts)
		} else {
			for _, t := range texts {
				a.chunk(chunkText(t))
			}
		}
		a.fill(r)
	}
	c.Emit(r, nil)
}

func endpointKind(path string) string {
	switch path {
	case "v1/chat/completions", "/v1/chat/completions":
		return "chat"
	case "v1/completions", "/v1/completions":
		return "completions"
	case "v1/embeddings", "/v1/embeddings":
		return "embeddings"
	}
	return ""
}
