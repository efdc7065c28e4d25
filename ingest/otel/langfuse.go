package otel

import (
	"strings"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// langfuseNames are those of Langfuse's SDKs on OpenTelemetry.
var langfuseNames = table{
	modelRequested: names("langfuse.observation.model.name"),
	session:        names("langfuse.session.id"),
	user:           names("langfuse.user.id"),
}

func judgeLangfuse(s *span) (string, bool) {
	switch s.attrs.text("langfuse.observation.type") {
	case "":
		return "", false
	case "generation", "embedding":
		return "", true
	case "tool":
		return toolSpan, true
	case "agent", "chain":
		return agentSpan, true
	}
	return notLLM, true
}

func refineLangfuse(b *build) {
	a := b.s.attrs
	kind := a.text("langfuse.observation.type")
	if kind == "" {
		return
	}
	b.parameters("langfuse.observation.model.parameters")
	if kind == "embedding" {
		b.r.EndpointKind = "embeddings"
	}
	langfuseUsage(b.r, b.object("langfuse.observation.usage_details"))
	b.langfuseFirst(a.text("langfuse.observation.completion_start_time"))
	if a.text("langfuse.observation.level") == "ERROR" {
		b.s.failed = true
		b.s.statusText = firstOf(b.s.statusText, a.text("langfuse.observation.status_message"))
	}
	// The SDK makes a stream's span when the stream ends (one left in the middle makes none): without an error, a first
	// chunk or any usage its reader left before the first chunk.
	streamed := b.r.Stream != nil && *b.r.Stream
	b.finished = streamed && b.r.FirstUS != nil
	b.cancelled = streamed && !b.s.exported && !b.s.failed && b.r.FirstUS == nil && b.r.OutputTokens == nil
}

// langfuseFirst reads an ISO stamp, which older SDKs quote a second time.
func (b *build) langfuseFirst(text string) {
	at, _, err := decode.Time(strings.Trim(text, `"`), b.c.Zone)
	if err != nil || b.r.Arrival == nil {
		return
	}
	b.setFirst(at - *b.r.Arrival)
}

// langfuseUsage reads buckets that do not overlap: input leaves out input_cached_tokens, output leaves out
// output_reasoning_tokens. Where total proves that they do overlap nothing is added.
func langfuseUsage(r *trace.Request, u *decode.Value) {
	in, out := decode.Int(u, "input"), decode.Int(u, "output")
	if in == nil && out == nil {
		return
	}
	r.CachedInputTokens = intOr(decode.Int(u, "input_cached_tokens"), decode.Int(u, "input_cache_read"))
	r.CacheWriteTokens = intOr(decode.Int(u, "input_cache_creation"), decode.Int(u, "input_cache_write_tokens"))
	r.ReasoningTokens = decode.Int(u, "output_reasoning_tokens")
	r.TokensSource = "usage"
	total := decode.Int(u, "total")
	if in != nil && out != nil && total != nil && *in+*out == *total {
		r.InputTokens, r.OutputTokens = in, out
		return
	}
	r.InputTokens, r.OutputTokens = bucket(u, in, "input_"), bucket(u, out, "output_")
	if in != nil && *r.InputTokens != *in {
		r.AddQuality(trace.QCachedExclusive)
	}
}

// bucket adds the details of a count to its rest.
func bucket(u *decode.Value, rest *int64, prefix string) *int64 {
	if rest == nil {
		return nil
	}
	sum := *rest
	u.GetObject().Visit(func(k []byte, v *decode.Value) {
		if n := decode.Int(v); n != nil && strings.HasPrefix(string(k), prefix) {
			sum += *n
		}
	})
	return &sum
}

func intOr(n, other *int64) *int64 {
	if n != nil {
		return n
	}
	return other
}
