package otel

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// build is a request on its way from a span.
type build struct {
	c      *decode.Context
	m      *memory
	s      *span
	r      *trace.Request
	finish string // finish reason as the source says it
	userID string
	// finished: known to have ended well although nothing in the record says so; cancelled: known to have been left.
	finished, cancelled bool
}

// request makes a request of a span that is a call, and its body when bodies are kept.
func request(c *decode.Context, format string, s *span) (r *trace.Request, body []byte) {
	if s.isLog {
		format = "otlp-logs" // a second telling of a call that has a span, too
	}
	b := &build{c: c, m: scratch(c), s: s, r: c.New(format, s.vantage())}
	b.m.parsed = 0
	b.times()
	b.names()
	b.tokens()
	b.first()
	for _, conv := range conventions {
		if conv.refine != nil {
			conv.refine(b)
		}
	}
	if b.r.EndpointKind == "" { // 1.26 has no operation, but names spans "chat MODEL"
		word, _, _ := strings.Cut(s.name, " ")
		b.r.EndpointKind = operationKinds[word]
	}
	b.settleTokens()
	b.ids()
	b.outcome()
	body = b.prompt()
	b.own()
	return b.r, body
}

// own copies the texts of the request, which may be views of the record.
func (b *build) own() {
	r := b.r
	id := r.RequestID
	r.RequestID = b.c.Keep(id)
	for _, text := range []*string{&r.RootRequestID, &r.ResponseID, &r.TraceID, &r.SpanID, &r.ParentSpanID, &r.SessionID, &r.ModelRequested, &r.ModelServed,
		&r.Provider, &r.Deployment, &r.Replica, &r.Tenant, &r.App, &r.Route, &r.FinishReason, &r.UserHash} {
		if *text == id { // the root of most calls is themselves
			*text = r.RequestID
		} else {
			*text = b.c.Keep(*text)
		}
	}
}

// vantage: engines and gateways are known by what they write; else the span's kind tells which side measured.
func (s *span) vantage() string {
	switch {
	case s.engine(), s.tgi():
		return trace.Engine
	case s.litellm() || s.scope == "envoyproxy/ai-gateway" || s.resource.text("service.name") == "ai-gateway" || s.kind == kindServer:
		return trace.Gateway
	}
	return trace.Client
}

func (b *build) times() {
	s, r := b.s, b.r
	if s.naive {
		r.AddQuality(trace.QNaiveTime)
	}
	if s.start == 0 {
		return
	}
	r.Arrival = trace.Ptr(round(s.start)) // to the nearest: a stamp that was float seconds is a little off either way
	if s.coarse {
		r.TimePrecision = 1000
	}
	if s.end != 0 {
		r.EndUS = trace.Ptr(round(s.end - s.start))
	}
}

// round turns nanoseconds into the nearest microsecond.
func round(ns int64) int64 {
	if ns < 0 {
		return -round(-ns)
	}
	return ns/1000 + (ns%1000+500)/1000
}

func (b *build) names() {
	s, r := b.s, b.r
	r.TraceID, r.SpanID, r.ParentSpanID = s.traceID, s.spanID, s.parentID
	r.ModelRequested, r.ModelServed = s.agreed(r, modelRequested), s.first(modelServed)
	r.Provider, r.SessionID, r.Route = s.first(provider), s.first(session), s.first(route)
	r.ResponseID = s.first(responseID)
	r.Stream = truth(s.agreed(r, stream))
	r.MaxTokens = s.count(r, maxTokens)
	b.finish = b.firstElement(s.first(finishReason))
	b.userID = s.first(user)
	if host, port := s.first(address), s.first(port); host != "" && port != "" && port != "443" && s.kind != kindServer {
		r.Replica = host + ":" + port // a public host on the usual port is nobody's single engine
	}
	if name := s.resource.text("service.name"); r.Vantage == trace.Client && !strings.HasPrefix(name, "unknown_service") {
		r.App = name
	}
	r.EndpointKind = operationKinds[s.attrs.text("gen_ai.operation.name")]
}

var operationKinds = map[string]string{"chat": "chat", "generate_content": "chat", "text_completion": "completions",
	"completion": "completions", "embeddings": "embeddings", "responses": "responses", "messages": "messages", "rerank": "rerank"}

// object parses JSON (or a Python literal) held in an attribute; nil when there is none or it does not parse.
func (b *build) object(name string) *decode.Value { return b.m.parse(b.s.attrs.raw(name)) }

// firstElement takes the first of a JSON list, and anything else as it is.
func (b *build) firstElement(text string) string {
	if !strings.HasPrefix(text, "[") {
		return text
	}
	return decode.Text(b.m.parse(text), "0")
}

// ids settles what the row is called. A LiteLLM row is called as LiteLLM's log calls it (refineLiteLLM); "at-" stands
// for a call without any id, which gets the same one in the log and on each of its spans.
func (b *build) ids() {
	s, r := b.s, b.r
	if r.RequestID == "" {
		id := b.firstElement(s.first(requestID))
		if s.engine() && number(id) != nil {
			id = "" // TensorRT-LLM counts its requests from 1 at each start
		}
		r.RequestID = firstOf(id, r.ResponseID, s.spanID, "at-")
	}
	if r.RequestID == "at-" {
		r.AddQuality(trace.QIDDerived)
		if r.Arrival != nil {
			r.RequestID += strconv.FormatInt(*r.Arrival, 10)
		} else {
			r.RequestID = fmt.Sprintf("%s:%d:%d", b.c.File, b.c.Line, s.line)
		}
	}
	r.RootRequestID = r.RequestID
	r.UserHash = b.c.User(b.userID)
}
