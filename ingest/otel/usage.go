package otel

import (
	"reprise/ingest/trace"
)

func (b *build) tokens() {
	s, r := b.s, b.r
	r.InputTokens, r.OutputTokens = s.count(r, inputTokens), s.count(r, outputTokens)
	r.CachedInputTokens, r.CacheWriteTokens = s.count(r, cachedTokens), s.count(r, cacheWriteTokens)
	r.ReasoningTokens = s.count(r, reasoningTokens)
	if r.InputTokens != nil || r.OutputTokens != nil {
		r.TokensSource = "usage"
	}
}

// settleTokens makes the input count include cached tokens. The conventions say that it does (1.40); older builds of
// some instrumentations pass on Anthropic's counts, where it does not. Two proofs: a part larger than the whole, and a
// total that only adds up with the cached tokens on top.
func (b *build) settleTokens() {
	r := b.r
	if r.InputTokens == nil {
		return
	}
	cached := value0(r.CachedInputTokens) + value0(r.CacheWriteTokens)
	total := number(b.s.first(totalTokens))
	exclusive := total != nil && r.OutputTokens != nil && *r.InputTokens+cached+*r.OutputTokens == *total
	if cached > 0 && (cached > *r.InputTokens || exclusive) {
		r.InputTokens = trace.Ptr(*r.InputTokens + cached)
		r.AddQuality(trace.QCachedExclusive)
	}
}

func value0(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
