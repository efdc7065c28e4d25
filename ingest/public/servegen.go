package public

import (
	"errors"
	"strconv"
	"strings"

	"reprise/ingest/decode"
)

// ServeGen are the descriptions of clients that ServeGen publishes. They hold no request; the format is known so that
// the refusal can say so.
func ServeGen() decode.Format {
	return decode.Format{Name: "servegen", Title: "ServeGen client descriptions (no requests: reprise plan FOLDER draws some)", About: aboutServeGen,
		Units: "windows of 600 s (arrivals) and 21,600 s (lengths); requests a second", Defects: "the distributions are Python texts inside JSON", Detect: detectServeGen,
		CSV:  func([]string) (func(*decode.Context, []string) error, error) { return nil, errServeGen },
		JSON: func(c *decode.Context, _ *decode.Value) error { return c.Reject("not_requests", "%v", errServeGen) }}
}

const aboutServeGen = `chunk-N-trace.csv (no header: window start in seconds, requests a second, their coefficient of variation, Gamma, Weibull or
nothing, two parameters) and chunk-N-dataset.json (distributions of lengths by window) describe how one client behaves
(https://github.com/alibaba/ServeGen). They are refused as a log, since nobody sent the requests that one could draw from them;
reprise plan FOLDER draws them, seeded, for a replay.
`

var errServeGen = errors.New("expected requests, got a ServeGen description of a client: reprise plan FOLDER draws requests from it")

func detectServeGen(s *decode.Sample) int {
	if h := s.Header; len(h) == 6 && (h[3] == "" || h[3] == "Gamma" || h[3] == "Weibull") {
		for _, i := range []int{0, 1, 2, 4, 5} {
			if _, err := strconv.ParseFloat(h[i], 64); err != nil {
				return 0
			}
		}
		return 2
	}
	best := 0
	for _, v := range s.Records {
		v.Visit(func(key []byte, window *decode.Value) {
			_, err := strconv.Atoi(string(key))
			dict := func(name string) bool { return strings.HasPrefix(decode.Text(window, name), "{") }
			if err == nil && dict("output_tokens") && (dict("input_tokens") || dict("text_tokens")) {
				best = 2
			}
		})
	}
	return best
}
