package engine

import (
	"strings"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// TGI is the log of text-generation-inference's router, as text or with --json-output.
func TGI() decode.Format {
	return decode.Format{Name: "tgi", Title: "text-generation-inference (TGI) router log", About: aboutTGI,
		Units:   `durations with a unit each ("735.200735ms", "955.594µs", "25.099483509s"); the stamp is the END, in UTC`,
		Defects: `"time_per_token" is inference_time/tokens, prefill included: not tpot, not read as one`,
		Example: `2024-12-10T21:50:03.478010Z  INFO chat_completions{total_time="735.200735ms" validation_time="955.594µs" queue_time="73.176µs" inference_time="734.172108ms" time_per_token="36.708605ms" seed="None"}: text_generation_router::server: router/src/server.rs:622: Success`,
		Detect:  detectTGI, JSON: tgiJSON, Line: tgiLine}
}

const aboutTGI = `One line a request that went well, written at its end.
Can contain: end and duration (so the arrival: arrival_derived), waiting time, output tokens. Cannot: the first token,
prefill or decode alone, prompt tokens, ids, models, failures with times (error lines are skipped: error_line).

end_us         total_time; queue_us queue_time. Prefill and decode are one number (inference_time): unknown.
output_tokens  the one whole number that gives time_per_token when inference_time is divided by it, which TGI does in
               whole nanoseconds; unknown when more than one does.
stream         true for generate_stream, false for generate; chat and completions do not say.
`

func detectTGI(s *decode.Sample) int {
	best := 0
	for _, v := range s.Records {
		n := decode.One(strings.HasPrefix(decode.Text(v, "target"), "text_generation_router"))
		best = max(best, n+decode.One(decode.Has(v, "span", "inference_time"))+decode.One(decode.Has(v, "span", "total_time")))
	}
	if len(s.Records) > 0 {
		return best
	}
	for line := range s.Lines() {
		text := string(line)
		n := decode.One(strings.Contains(text, ` inference_time="`)) + decode.One(strings.Contains(text, `total_time="`)) + decode.One(strings.Contains(text, "text_generation_router"))
		best = max(best, n)
	}
	return best
}

// tgiCall is one line in either form: field gives the text of a field of the innermost span.
type tgiCall struct {
	time, route, span string
	parameters        string
	field             func(name string) string
}

func tgiLine(c *decode.Context, line []byte) error {
	text := plain(string(line))
	if !strings.HasSuffix(text, ": Success") || !strings.Contains(text, `total_time="`) {
		return tgiOther(c, strings.Contains(text, " ERROR "))
	}
	// The span's fields stand behind the parameters, which hold text of the caller; the last of a name is the span's.
	stamp, rest, _ := strings.Cut(text, " INFO ")
	stamp = strings.TrimSpace(stamp)
	stamp = stamp[strings.LastIndexByte(stamp, ' ')+1:]                    // behind what a container runtime puts there
	rest = " " + strings.Replace(rest, "{total_time=", "{ total_time=", 1) // where it is the first field
	call := tgiCall{time: stamp, route: inside(rest, "http.route=", " "), field: func(name string) string { return inside(rest, " "+name+`="`, `"`) }}
	for _, name := range []string{"chat_completions", "generate_stream", "completions", "generate"} {
		if call.span == "" && (strings.Contains(rest, " "+name+"{") || strings.Contains(rest, ":"+name+"{")) {
			call.span = name
		}
	}
	if i := strings.LastIndex(rest, "parameters=GenerateParameters {"); i >= 0 {
		call.parameters = rest[i:]
	}
	return call.emit(c)
}

func tgiJSON(c *decode.Context, v *decode.Value) error {
	if decode.Text(v, "message") != "Success" || !decode.Has(v, "span", "total_time") {
		return tgiOther(c, decode.Text(v, "level") == "ERROR")
	}
	call := tgiCall{time: decode.Text(v, "timestamp"), span: decode.Text(v, "span", "name"), parameters: decode.Text(v, "span", "parameters"),
		field: func(name string) string { return decode.Text(v, "span", name) }}
	for _, s := range v.GetArray("spans") {
		call.route = firstOf(call.route, decode.Text(s, "http.route"))
	}
	return call.emit(c)
}

func tgiOther(c *decode.Context, failed bool) error {
	if failed {
		c.Skip("error_line")
	} else {
		c.Skip(otherLine)
	}
	return nil
}

func (call *tgiCall) emit(c *decode.Context) error {
	end, naive, err := decode.Time(call.time, c.Zone)
	if err != nil {
		return c.Reject("bad_time", "%v", err)
	}
	took := duration(call.field("total_time"))
	if took == nil || *took < 0 {
		return c.Reject("bad_duration", "total_time: expected a duration such as 735.2ms, got %q", call.field("total_time"))
	}
	r := newRow(c, "tgi", "")
	if naive {
		r.AddQuality(trace.QNaiveTime)
	}
	endAt(r, end, took)
	r.ErrorClass, r.QueueUS = trace.ClassOK, stage(r, duration(call.field("queue_time")))
	r.OutputTokens, r.TokensSource = tgiTokens(call.field("inference_time"), call.field("time_per_token")), "usage"
	if _, limit, ok := strings.Cut(call.parameters, "max_new_tokens: "); ok { // the first: stop texts come behind it
		r.MaxTokens = number(strings.TrimPrefix(limit, "Some("))
	}
	r.EndpointKind = pathKind(call.route)
	switch call.span {
	case "generate_stream":
		r.Stream, r.EndpointKind = trace.Ptr(true), firstOf(r.EndpointKind, "completions")
	case "generate":
		r.Stream, r.EndpointKind = trace.Ptr(false), firstOf(r.EndpointKind, "completions")
	case "chat_completions":
		r.EndpointKind = "chat"
	case "completions":
		r.EndpointKind = "completions"
	}
	if r.EndpointKind == "chat" {
		r.Stream = nil // chat goes through the same spans, streamed or not
	}
	c.Emit(r, nil)
	return nil
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// tgiTokens finds n with inference/n = perToken, both whole nanoseconds, the quotient cut off.
func tgiTokens(inference, perToken string) *int64 {
	all, err := time.ParseDuration(inference)
	each, err2 := time.ParseDuration(perToken)
	if err != nil || err2 != nil || all <= 0 || each <= 0 {
		return nil
	}
	n := all / each // the largest n whose quotient is not below each
	if n < 1 || all/n != each || n > 1 && all/(n-1) == each {
		return nil
	}
	return trace.Ptr(int64(n))
}

// plain removes the colours that a terminal log carries.
func plain(text string) string {
	for {
		i := strings.Index(text, "\x1b[")
		if i < 0 {
			return text
		}
		j := strings.IndexByte(text[i:], 'm')
		if j < 0 {
			return text[:i]
		}
		text = text[:i] + text[i+j+1:]
	}
}
