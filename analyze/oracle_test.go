package analyze

import (
	"math"
	"slices"

	"reprise/ingest/trace"
)

// This file is metrics.md parts 0 to 3 in plain Go over records, against which the queries are checked on random data.

// figures are the metrics of one request; nil is undefined.
type figures struct {
	r                           *trace.Request
	status, verdict             string
	generation, cached, latency bool
	whole                       bool // known not to have come piece by piece
	ttft, ttfvt, e2e, maxGap    *float64
	tpot, ntpot                 *float64
	gaps                        []float64 // after merging
	tokens                      []int64   // of the chunks that end gaps; nil when unknown
	chunks                      int       // after merging; -1 when unknown
	paced                       *int64    // tokens that the stream carried
}

// measure is metrics.md 0.1, 0.2, 1 and 1.1.
func measure(r *trace.Request) *figures {
	f := &figures{r: r, chunks: -1}
	f.generation = slices.Contains([]string{"", "chat", "completions", "responses", "messages"}, r.EndpointKind)
	f.cached = r.CachedResponse != nil && *r.CachedResponse
	f.status = status(r)
	f.latency = f.generation && !f.cached && f.status == "ok"
	f.whole = r.Stream != nil && !*r.Stream || r.HasQuality("pseudo_stream")
	till := r.LastUS
	if till == nil {
		till = r.EndUS
	}
	f.paced = paced(r)
	if !f.whole && r.FirstUS != nil {
		f.stream(*r.FirstUS, till)
	}
	streamed := !f.whole && (r.Stream != nil && *r.Stream || r.FirstUS != nil)
	if f.status == "ok" {
		f.e2e = float(r.EndUS)
		if streamed {
			f.e2e = float(till)
		}
		if f.e2e != nil && r.OutputTokens != nil && *r.OutputTokens > 0 {
			f.ntpot = trace.Ptr(*f.e2e / float64(*r.OutputTokens))
		}
	}
	f.merge()
	return f
}

func status(r *trace.Request) string {
	switch r.ErrorClass {
	case "ok":
		return "ok"
	case "content_filter":
		if r.HTTPStatus != nil && *r.HTTPStatus >= 400 {
			return "client_error"
		}
		return "ok"
	case "client_cancel":
		return "cancelled"
	case "client_error", "context_length":
		return "client_error"
	case "in_flight", "unknown":
		return r.ErrorClass
	}
	return "failed"
}

// paced counts the tokens that the stream carried; nil when the log cannot tell whether reasoning was among them.
func paced(r *trace.Request) *int64 {
	switch {
	case r.OutputTokens == nil || r.ReasoningTokens == nil || *r.ReasoningTokens == 0:
		return r.OutputTokens
	case r.FirstVisibleUS == nil || r.FirstUS == nil:
		return nil
	case *r.FirstVisibleUS > *r.FirstUS:
		return r.OutputTokens
	}
	return trace.Ptr(*r.OutputTokens - *r.ReasoningTokens)
}

// stream fills in what needs a first token.
func (f *figures) stream(first int64, till *int64) {
	r := f.r
	f.ttft = float(&first)
	switch {
	case r.FirstVisibleUS != nil:
		f.ttfvt = float(r.FirstVisibleUS)
	case r.ReasoningTokens != nil && *r.ReasoningTokens == 0:
		f.ttfvt = f.ttft
	}
	if f.paced != nil && *f.paced >= 2 && till != nil && *till > first {
		f.tpot = trace.Ptr(float64(*till-first) / float64(*f.paced-1))
	}
}

// merge joins the chunks of one read: within min(1 ms, pace / 5) of the first of the group, greedily.
func (f *figures) merge() {
	g := f.r.GapsUS
	if g == nil {
		return
	}
	eps := 1000.0
	switch {
	case f.tpot != nil:
		eps = min(eps, *f.tpot/5)
	case len(g) > 1:
		sum := 0.0
		for _, v := range g[1:] {
			sum += float64(v)
		}
		eps = min(eps, sum/float64(len(g)-1)/5)
	}
	at, start := int64(g[0]), int64(g[0])
	f.chunks = 1
	if f.r.ChunkTokens != nil {
		f.tokens = []int64{}
	}
	for i, v := range g[1:] {
		at += int64(v)
		if float64(at-start) > eps {
			f.gaps, f.chunks, start = append(f.gaps, float64(at-start)), f.chunks+1, at
			if f.tokens != nil {
				f.tokens = append(f.tokens, 0)
			}
		}
		if len(f.tokens) > 0 {
			f.tokens[len(f.tokens)-1] += int64(f.r.ChunkTokens[i+1])
		}
	}
	for _, v := range f.gaps {
		if f.whole {
			break
		}
		if f.maxGap == nil || v > *f.maxGap {
			f.maxGap = trace.Ptr(v)
		}
	}
}

func float(v *int64) *float64 {
	if v == nil {
		return nil
	}
	return trace.Ptr(float64(*v))
}

// judge is metrics.md 0.2, 1.1 and 3.1: the verdict and, term by term, whether it was met (vacuously too).
func (f *figures) judge(s SLO) (verdict string, met map[string]bool) {
	met = map[string]bool{}
	if !f.generation || f.cached {
		return "excluded", met
	}
	streamingOnly := !slices.ContainsFunc(s.Terms, func(t Term) bool { return t.Metric == "e2e" })
	switch f.status {
	case "failed":
		return "bad", met
	case "client_error":
		if f.whole && streamingOnly {
			return "unevaluable", met
		}
		return "excluded", met
	case "unknown":
		return "excluded", met
	case "cancelled", "in_flight":
		if f.overdue(s) {
			return "bad", met
		}
		return "excluded", met
	}
	applied, unknown, bad := false, false, false
	for _, t := range s.Terms {
		v, applies := f.term(t.Metric)
		met[t.Metric] = !applies || v == nil || *v <= float64(t.Bound)
		applied = applied || applies && v != nil
		unknown = unknown || applies && v == nil
		bad = bad || !met[t.Metric]
	}
	switch {
	case bad:
		return "bad", met
	case unknown || !applied:
		return "unevaluable", met
	}
	return "good", met
}

// term returns the measure of a term and whether the term applies to the request; nil when it does and is not known.
func (f *figures) term(metric string) (v *float64, applies bool) {
	if metric == "e2e" {
		return f.e2e, true
	}
	out := f.r.OutputTokens
	switch metric {
	case "ttft":
		return f.ttft, f.ttft != nil || !f.whole && (out == nil || *out >= 1)
	case "ttfvt":
		return f.ttfvt, f.ttfvt != nil || !f.whole && (out == nil || *out >= 1)
	case "tpot":
		return f.tpot, f.tpot != nil || !f.whole && (f.paced == nil || *f.paced >= 2)
	}
	if f.maxGap != nil {
		return f.maxGap, true
	}
	if f.chunks >= 0 {
		return nil, !f.whole && f.chunks >= 2
	}
	return nil, !f.whole && (out == nil || *out >= 2)
}

// overdue says that a deadline had passed when a call was cut off.
func (f *figures) overdue(s SLO) bool {
	r := f.r
	streamed := !f.whole && (r.Stream != nil && *r.Stream || r.FirstUS != nil)
	for _, t := range s.Terms {
		late := func(v *float64) bool { return v != nil && *v > float64(t.Bound) }
		waited := f.ttft
		if waited == nil {
			waited = float(r.EndUS)
		}
		switch {
		case t.Metric == "e2e" && late(float(r.EndUS)), streamed && t.Metric == "ttft" && late(waited), streamed && t.Metric == "max_gap" && late(f.maxGap),
			streamed && t.Metric == "ttfvt" && (late(f.ttfvt) || f.ttft == nil && late(float(r.EndUS))):
			return true
		}
	}
	return false
}

// type7 is the quantile of metrics.md 2.1; NaN of nothing.
func type7(v []float64, p float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	h := float64(len(s)-1) * p
	lo := int(math.Floor(h))
	if lo+1 >= len(s) {
		return s[len(s)-1]
	}
	return s[lo] + (h-float64(lo))*(s[lo+1]-s[lo])
}
