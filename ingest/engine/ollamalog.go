package engine

import (
	"bytes"
	"strings"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// OllamaLog is Ollama's server log: the access lines of its web framework (GIN).
func OllamaLog() decode.Format {
	return decode.Format{Name: "ollama-log", Title: "Ollama server log (GIN access lines)", About: aboutOllamaLog,
		Units:   `durations as Go writes them ("2.02ms", "36.70s"; above a minute cut to whole seconds: "1m5s"); the stamp is the END, whole seconds, local time`,
		Defects: "a client that hangs up while it waits is logged as 500, one that hangs up mid-answer as 200 (0.17.4)",
		Example: `[GIN] 2026/11/29 - 12:59:03 | 200 | 36.702006224s |       127.0.0.1 | POST     "/api/chat"`,
		Detect:  detectOllamaLog, Group: ollamaLog}
}

const aboutOllamaLog = `Text lines "[GIN] date - time | status | duration | client | METHOD "path"", one a request, at its end.
Can contain: end and duration (so the arrival, to a second: arrival_derived), status. Cannot: first token, tokens, models,
streams, ids (request_id is FILE:LINE), tenants (the client address is not kept).

arrival        the stamp is cut to whole seconds, so up to a second early; local time: read as UTC (--assume-tz).
error_class    from the status; 500 right behind "aborting completion request due to client closing the connection" is
               client_cancel. A client that leaves mid-answer looks like any other 200.
Lines of other paths (models, pulls, health) are skipped: not_a_model_call.
`

func detectOllamaLog(s *decode.Sample) int {
	best := 0
	for line := range s.Lines() {
		g, ok := readGIN(string(line))
		n := decode.One(ok) + decode.One(ok && (strings.HasPrefix(g.path, "/api/") || strings.HasPrefix(g.path, "/v1/")))
		best = max(best, n)
	}
	return best
}

type ginLine struct {
	time, method, path string
	status             int32
	took               *int64
}

// readGIN reads one access line.
func readGIN(line string) (g ginLine, ok bool) {
	i := strings.Index(line, "[GIN] ")
	if i < 0 {
		return g, false
	}
	f := strings.SplitN(strings.TrimSpace(line[i+len("[GIN] "):]), "|", 5)
	if len(f) < 5 {
		return g, false
	}
	g.time, g.status, g.took = strings.TrimSpace(f[0]), decode.StatusCode(strings.TrimSpace(f[1])), duration(strings.TrimSpace(f[2]))
	method, path, _ := strings.Cut(strings.TrimSpace(f[4]), " ")
	g.method, g.path = method, strings.Trim(strings.TrimSpace(path), `"`)
	return g, g.status != 0 && strings.HasPrefix(g.path, "/")
}

// ginTime is the layout of the stamp.
const ginTime = "2006/01/02 - 15:04:05"

// abortWithin is how many access lines may stand between the end of a wait and the line of its request: the handler
// returns at once.
const abortWithin = 8

var abortLine = []byte("aborting completion request due to client closing the connection")

// ollamaReader reads one log: how many requests gave up their wait and have no access line yet, and how many access lines
// stand behind the last of them.
type ollamaReader struct{ aborted, since int }

func ollamaLog() decode.Group { return decode.Group{Line: new(ollamaReader).line} }

func (o *ollamaReader) line(c *decode.Context, line []byte) error {
	if bytes.Contains(line, abortLine) {
		o.aborted, o.since = o.aborted+1, 0
		c.Skip(partOfRequest)
		return nil
	}
	g, ok := readGIN(string(line))
	if !ok {
		c.Skip(otherLine)
		return nil
	}
	if o.since++; o.since > abortWithin {
		o.aborted = 0
	}
	if g.method != "POST" || g.path == "/" || pathKind(g.path) == "" {
		c.Skip("not_a_model_call")
		return nil
	}
	r, err := g.row(c)
	if err != nil {
		return err
	}
	if g.status == 500 && o.aborted > 0 {
		o.aborted--
		r.ErrorClass = trace.ClassCancel
	}
	c.Emit(r, nil)
	return nil
}

func (g *ginLine) row(c *decode.Context) (*trace.Request, error) {
	zone := c.Zone
	if zone == nil {
		zone = time.UTC
	}
	at, err := time.ParseInLocation(ginTime, g.time, zone)
	if err != nil {
		return nil, c.Reject("bad_time", "expected a time such as 2026/11/29 - 12:58:28, got %q", g.time)
	}
	if g.took == nil || *g.took < 0 {
		return nil, c.Reject("bad_duration", "expected a duration such as 2.02ms or 1m5s in %q", g.time)
	}
	r := newRow(c, "ollama-log", "")
	r.TimePrecision = 1e6
	r.AddQuality(trace.QNaiveTime)
	endAt(r, at.UnixMicro(), g.took)
	r.HTTPStatus, r.ErrorClass, r.EndpointKind = &g.status, trace.HTTPClass(g.status), pathKind(g.path)
	return r, nil
}
