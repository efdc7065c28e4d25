package otel

import (
	"math"
	"strings"
	"time"

	"reprise/ingest/trace"
)

// judgeTGI: Text Generation Inference writes the times of a request on the span of its handler, as texts with a unit.
func judgeTGI(s *span) (string, bool) { return "", s.tgi() }

func (s *span) tgi() bool {
	return s.attrs.has("total_time") && s.attrs.has("queue_time") && s.attrs.has("inference_time")
}

// refineTGI reads them. inference_time holds prefill and decode together, and time_per_token is inference_time by the
// number of tokens: that number is theirs, when it comes out whole.
func refineTGI(b *build) {
	if !b.s.tgi() {
		return
	}
	a, r := b.s.attrs, b.r
	inference, each := textDuration(a.text("inference_time")), textDuration(a.text("time_per_token"))
	if total := textDuration(a.text("total_time")); total > 0 {
		r.EndUS, b.finished = trace.Ptr(round(total)), !b.s.failed
	}
	if queue := textDuration(a.text("queue_time")); queue > 0 {
		r.QueueUS = trace.Ptr(round(queue))
	}
	if n := float64(inference) / float64(each); inference > 0 && each > 0 && n < 1e6 && math.Abs(n-math.Round(n)) < 0.01 && r.OutputTokens == nil {
		r.OutputTokens, r.TokensSource = trace.Ptr(int64(math.Round(n))), "estimated"
	}
	switch {
	case strings.Contains(b.s.name, "chat"):
		r.EndpointKind = "chat"
	case r.EndpointKind == "":
		r.EndpointKind = "completions"
	}
	if strings.HasSuffix(b.s.name, "generate_stream") {
		r.Stream = trace.Ptr(true)
	}
}

// textDuration reads "735.200735ms", "955.594µs" or "25.09s" as nanoseconds; 0 when it is none.
func textDuration(text string) int64 {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0
	}
	return int64(d)
}
