package engine

import (
	"strings"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// VLLMLog is the text log of vLLM with --enable-log-requests (and perhaps --enable-log-outputs).
func VLLMLog() decode.Format {
	return decode.Format{Name: "vllm-log", Title: "vLLM server log", About: aboutVLLMLog,
		Units:   `stamps "MM-DD HH:MM:SS": no year, no zone, whole seconds (relative: microseconds since the begin of an unnamed leap year; a wall time with --assume-year)`,
		Defects: "newer versions mark no end (0.32); access lines carry no id and no duration; a request refused with 400 has no line with an id",
		Example: `INFO 11-29 14:43:37 [request_logger.py:65] Received request chatcmpl-a: params: SamplingParams(n=1, temperature=0.8, max_tokens=20, min_tokens=0), lora_request: None.`,
		Detect:  detectVLLMLog, Group: vllmLog}
}

const aboutVLLMLog = `Text lines; those of a request are put together by its id.
Can contain: arrivals to a second, the caller's limit, cancels, failures; the end and the finish reason where outputs are
logged. Cannot: first tokens, stages, tokens, status codes. Use vLLM's spans for those.

arrival        of "Received request". With --assume-year (and --assume-tz) a wall time, flagged naive_time; else of a
               clock of its own (clock_domain relative): do not put such a log into one run with others.
error_class    client_cancel where the request was aborted; upstream_error where it failed ("engine dead"); ok with
               "Finished request" or "Generated response"; else unknown: the log does not say how it ended.
request_id     as logged (chatcmpl-ID); response_id without the prompt's index of /v1/completions. Two requests of one
               X-Request-Id look like one id: the later line begins a new row.
`

func detectVLLMLog(s *decode.Sample) int {
	received, stamp := false, false
	for line := range s.Lines() {
		text := string(line)
		if _, ok := vllmStamp(text); !ok {
			continue
		}
		stamp = true
		received = received || strings.Contains(text, "] Received request ")
		if received {
			break
		}
	}
	return decode.One(stamp) + 2*decode.One(received)
}

// vllmReader reads one log.
type vllmReader struct {
	open  *pending[*trace.Request]
	last  time.Time // the stamp before, to see a year end
	years int       // that ended
}

func vllmLog() decode.Group {
	l := &vllmReader{open: newPending(func(c *decode.Context, r **trace.Request) { c.Emit(*r, nil) })}
	return decode.Group{Line: l.line, End: l.open.finish}
}

// leapYear stands for a year that is not known: it has every day that any year has.
const leapYear, leapDays = 1972, 366

// vllmStamp reads "INFO MM-DD HH:MM:SS " at the begin or behind "(APIServer pid=1) ", as a time of the leap year.
func vllmStamp(text string) (at time.Time, ok bool) {
	for _, level := range []string{"INFO ", "DEBUG ", "WARNING ", "ERROR "} {
		i := strings.Index(text, level)
		if i < 0 || i > 128 || len(text) < i+len(level)+14 {
			continue
		}
		at, err := time.Parse("2006-01-02 15:04:05", "1972-"+text[i+len(level):i+len(level)+14])
		if err == nil {
			return at, true
		}
	}
	return at, false
}

// now is the stamp of a line: a time of the year that was given, or microseconds since the begin of an unnamed one;
// counted on over the end of a year.
func (l *vllmReader) now(c *decode.Context, text string) (us int64, ok bool) {
	at, ok := vllmStamp(text)
	if !ok {
		return 0, false
	}
	if at.Before(l.last.AddDate(0, 0, -leapDays/2)) {
		l.years++
	}
	l.last = at
	if c.Year == 0 {
		begin := time.Date(leapYear, 1, 1, 0, 0, 0, 0, time.UTC)
		return at.Sub(begin).Microseconds() + int64(l.years)*leapDays*24*3600e6, true
	}
	zone := c.Zone
	if zone == nil {
		zone = time.UTC
	}
	return time.Date(c.Year+l.years, at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, zone).UnixMicro(), true
}

func (l *vllmReader) line(c *decode.Context, line []byte) error {
	text := plain(string(line))
	at, ok := l.now(c, text)
	_, message, found := strings.Cut(text, "] ")
	if !ok || !found {
		c.Skip(otherLine)
		return nil
	}
	id := func(prefix, end string) string {
		after, ok := strings.CutPrefix(message, prefix)
		id, _, ended := strings.Cut(after, end)
		if !ok || !ended || strings.ContainsAny(id, " ,") {
			return ""
		}
		return id
	}
	if name := id("Received request ", ": "); name != "" {
		l.received(c, name, at, message)
		return nil
	}
	for _, e := range []struct {
		prefix, end, class string
	}{{"Request ", " aborted.", trace.ClassCancel}, {"Aborted request ", ".", trace.ClassCancel}, {"Request ", " failed", trace.ClassUpstream},
		{"Finished request ", ".", trace.ClassOK}, {"Generated response ", ": output: ", trace.ClassOK}, {"Generated response ", " (streaming complete): ", trace.ClassOK}} {
		if r := l.open.get(id(e.prefix, e.end)); r != nil {
			l.ended(c, *r, at, e.class, message)
			return nil
		}
	}
	c.Skip(otherLine)
	return nil
}

func (l *vllmReader) received(c *decode.Context, id string, at int64, message string) {
	r := newRow(c, "vllm-log", id)
	if r.TimePrecision, r.Arrival = 1e6, &at; c.Year == 0 {
		r.ClockDomain = trace.Relative
	} else {
		r.AddQuality(trace.QNaiveTime)
	}
	r.ResponseID, r.EndpointKind = decode.AnswerID(id), decode.AnswerKind(id)
	params := inside(message, "params: SamplingParams(", "), ") // behind the prompt, which may hold anything
	r.MaxTokens = number(inside(" "+params+",", " max_tokens=", ","))
	l.open.add(c, id, r)
	c.Skip(partOfRequest)
}

func (l *vllmReader) ended(c *decode.Context, r *trace.Request, at int64, class, message string) {
	l.open.take(r.RequestID)
	r.EndUS, r.ErrorClass = trace.Ptr(at-*r.Arrival), class
	if strings.HasPrefix(message, "Generated response ") {
		r.FinishReason = decode.FinishReason(message[strings.LastIndex(message, " ")+1:])
		r.Stream = trace.Ptr(strings.Contains(message[:min(len(message), 200)], " (streaming complete): "))
	}
	c.Emit(r, nil)
}
