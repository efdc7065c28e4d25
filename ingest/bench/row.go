package bench

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// nanos reads a number of units as whole nanoseconds, exactly; nil when it is none. A chunk list is summed in
// nanoseconds, or the rounding of each gap would add up.
func nanos(v *decode.Value, unit time.Duration) *int64 {
	n, err := decode.Micros(decode.Text(v), 1000*unit)
	if err != nil {
		return nil
	}
	return &n
}

// micros rounds nanoseconds; nil stays nil.
func micros(ns *int64) *int64 {
	if ns == nil {
		return nil
	}
	return trace.Ptr(roundMicros(*ns))
}

func roundMicros(ns int64) int64 {
	if ns < 0 {
		return -((-ns + 500) / 1000)
	}
	return (ns + 500) / 1000
}

// since is the time from start to at in microseconds; nil when one is unknown.
func since(start, at *int64) *int64 {
	if start == nil || at == nil {
		return nil
	}
	return trace.Ptr(roundMicros(*at - *start))
}

// maxNanos bounds a stamp: the year 2116.
const maxNanos = 1 << 62

// sane drops stamps and durations whose sums would overflow.
func sane(ns *int64) *int64 {
	if ns != nil && (*ns > maxNanos || *ns < -maxNanos) {
		return nil
	}
	return ns
}

// sum adds two durations; what is out of range stays so, without overflow.
func sum(a, b int64) int64 { return min(a, maxNanos/2) + min(b, maxNanos/2) }

// newRow starts a row of a tool. line is its place in the file: the record, or the element of a list in it.
func newRow(c *decode.Context, format string, line int64, id string) *trace.Request {
	r := c.New(format, trace.Client)
	r.SourceLine, r.RequestID = line, id
	if id == "" {
		r.RequestID = fmt.Sprintf("%s:%d", path.Base(c.File), line)
		r.AddQuality(trace.QIDDerived)
	}
	r.RootRequestID = r.RequestID
	return r
}

// setChunks stores chunk times, in nanoseconds after the start, with the first of them as the first token.
func setChunks(r *trace.Request, kind string, offsets []int64) {
	if len(offsets) == 0 {
		return
	}
	us := make([]int64, len(offsets))
	for i, ns := range offsets {
		us[i] = roundMicros(ns)
	}
	r.SetGaps(us)
	r.FirstUS, r.LastUS = &us[0], &us[len(us)-1]
	r.TTFTKind, r.Stream = kind, trace.Ptr(true)
}

// setGaps stores chunk times given as the first one and the gaps behind it. A list with an element that is no duration is
// dropped as a whole: without it two gaps would become one.
func setGaps(r *trace.Request, first int64, gaps []*decode.Value, read func(*decode.Value) *int64) {
	offsets := []int64{first}
	for _, e := range gaps {
		gap := read(e)
		if gap == nil || *gap < 0 {
			return
		}
		offsets = append(offsets, sum(offsets[len(offsets)-1], *gap))
	}
	setChunks(r, trace.TTFTAny, offsets)
}

// setFailure fills the outcome from the name of an exception and its text.
func setFailure(r *trace.Request, class, text string) {
	f := decode.Failure{Status: statusIn(text), Class: class, Text: text}
	if f.Class == "" {
		f.Class = exceptionIn(text)
	}
	if f.Status != 0 {
		r.HTTPStatus = &f.Status
	}
	if r.ErrorClass = f.ErrorClass(); r.ErrorClass == "" {
		r.ErrorClass = trace.ClassUnknown
	}
}

// statusIn finds the status in the message of httpx ("Server error '503 Service Unavailable' for url ..."), or knows the
// bare reason phrase that vLLM's client keeps; 0 when there is neither.
func statusIn(text string) int32 {
	if _, after, ok := strings.Cut(text, " error '"); ok && len(after) > 3 && after[3] == ' ' {
		return decode.StatusCode(after[:3])
	}
	for code := 400; code < 600; code++ {
		if phrase := http.StatusText(code); phrase != "" && phrase == strings.TrimSpace(text) {
			return int32(code)
		}
	}
	return 0
}

// exceptionIn names the exception of the last line of a Python traceback: "aiohttp.ClientOSError: [Errno 104] ...".
func exceptionIn(text string) string {
	text = strings.TrimSpace(text)
	line := text[strings.LastIndexByte(text, '\n')+1:]
	name, _, _ := strings.Cut(line, ":")
	name = name[strings.LastIndexByte(name, '.')+1:]
	if strings.ContainsAny(name, " \t") {
		return ""
	}
	return name
}
