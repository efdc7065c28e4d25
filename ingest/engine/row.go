package engine

import (
	"fmt"
	"path"
	"strings"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// newRow starts a row; one without an id gets FILE:LINE.
func newRow(c *decode.Context, format, id string) *trace.Request {
	r := c.New(format, trace.Engine)
	if r.RequestID = id; id == "" {
		r.RequestID = fmt.Sprintf("%s:%d", path.Base(c.File), c.Line)
		r.AddQuality(trace.QIDDerived)
	}
	r.RootRequestID = r.RequestID
	return r
}

// endAt gives a row the arrival that its end and its duration imply; without a duration there is none.
func endAt(r *trace.Request, end int64, took *int64) {
	if took == nil {
		return
	}
	r.Arrival, r.EndUS = trace.Ptr(end-*took), took
	r.AddQuality(trace.QArrivalDerived)
}

// micros reads a JSON number of units; nil when it is none or out of any range.
func micros(v *decode.Value, unit time.Duration) *int64 {
	return microsOf(decode.Text(v), unit)
}

func microsOf(text string, unit time.Duration) *int64 {
	n, err := decode.Micros(text, unit)
	if err != nil || n > maxMicros || n < -maxMicros {
		return nil
	}
	return &n
}

// maxMicros bounds stamps, so that differences cannot overflow: the year 38535.
const maxMicros = 1 << 60

// between is the time from one stamp to another; nil when one is unknown, or 0, which engines write for unset.
func between(from, to *int64) *int64 {
	if from == nil || to == nil || *from == 0 || *to == 0 {
		return nil
	}
	return trace.Ptr(*to - *from)
}

// stage drops a stage that an engine computed from stamps it never set (ING-04): a negative one.
func stage(r *trace.Request, d *int64) *int64 {
	if d != nil && *d < 0 {
		r.AddQuality(trace.QNegative)
		return nil
	}
	return d
}

// duration reads 735.2ms, 955.594µs, 25.09s, 1m5s as microseconds; nil when it is none.
func duration(text string) *int64 {
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil
	}
	return trace.Ptr((d.Nanoseconds() + 500) / 1000)
}

// inside returns what stands between two marks: of the last begin, up to the next end.
func inside(text, begin, end string) string {
	i := strings.LastIndex(text, begin)
	if i < 0 {
		return ""
	}
	text = text[i+len(begin):]
	if i = strings.Index(text, end); i < 0 {
		return ""
	}
	return text[:i]
}

// number reads the digits that a text begins with, behind spaces.
func number(text string) *int64 {
	text = strings.TrimLeft(text, " ")
	i := 0
	for i < len(text) && i < 18 && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	return microsOf(text[:i], time.Microsecond)
}

// path kinds of OpenAI-compatible servers and of Ollama and TGI; "" for paths that ask no model.
func pathKind(p string) string {
	p, _, _ = strings.Cut(p, "?")
	switch p {
	case "/v1/chat/completions", "/chat/completions", "/api/chat":
		return "chat"
	case "/v1/completions", "/completions", "/completion", "/api/generate", "/generate", "/generate_stream", "/":
		return "completions"
	case "/v1/responses":
		return "responses"
	case "/v1/messages":
		return "messages"
	case "/v1/embeddings", "/api/embed", "/api/embeddings", "/embeddings", "/embedding":
		return "embeddings"
	case "/v1/rerank", "/rerank":
		return "rerank"
	}
	return ""
}
