package replay

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"reprise/ingest/trace"
)

// Reasons why a request is left out of a plan.
const (
	OutNoArrival     = "no_arrival"
	OutCached        = "cached_response"
	OutNotGeneration = "not_generation" // reranking, audio and the like
	OutClientError   = "client_error"   // refused for what it asked; synthetic prompts cannot reproduce that
	OutNoCounts      = "no_token_counts"
	OutZeroTokens    = "zero_tokens"
	OutPrefix        = "prefix_mismatch" // number of block hashes does not fit the length (RPL-21)
)

// view is what the plan needs of one row: one attempt as one source saw it.
type view struct {
	item    Item
	reason  string // why the call cannot be planned from this row, "" when it can
	ok      bool
	attempt int32
	rank    int // client before gateway before engine: whose arrival counts
	order   string
	stream  bool // Stream is known
	timed   bool // Arrival is recorded
	called  bool // it ended in a tool call
	file    string
	line    int64 // of the first telling
}

func (v *view) session() string { return cmp.Or(v.item.SessionID, v.item.RequestID) }

// collapse makes one view a logical call out of its attempts and sources, sorted by the calls' identity.
func collapse(rows iter.Seq2[trace.Request, error], o PlanOptions) ([]view, error) {
	groups := map[string][]view{}
	var keys []string
	for r, err := range rows {
		if err != nil {
			return nil, err
		}
		key := cmp.Or(r.RootRequestID, r.RequestID)
		if r.HasQuality(trace.QIDDerived) {
			key += "\x00" + r.SourceFile // made from a line number or the like: says nothing across files
		}
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], newView(&r, o))
	}
	slices.Sort(keys)
	merged := make([]view, len(keys))
	for i, k := range keys {
		merged[i] = mergeViews(groups[k])
	}
	return merged, nil
}

func newView(r *trace.Request, o PlanOptions) view {
	v := view{ok: r.ErrorClass == trace.ClassOK, attempt: r.Attempt, stream: r.Stream != nil, called: r.FinishReason == "tool_calls", timed: r.Arrival != nil, file: r.SourceFile, line: r.SourceLine,
		rank:  slices.Index([]string{trace.Client, trace.Gateway, trace.Engine, trace.Replay}, r.Vantage),
		order: r.SourceFile + "\x00" + r.RequestID}
	v.item = Item{RequestID: r.RequestID, RootID: cmp.Or(r.RootRequestID, r.RequestID), SessionID: r.SessionID, Turn: r.Turn, Endpoint: "chat", Stream: r.Stream == nil || *r.Stream,
		Model: cmp.Or(r.ModelRequested, r.ModelServed), Tenant: r.Tenant, App: r.App, Route: r.Route, CachedTokens: r.CachedInputTokens,
		MaxTokens: r.MaxTokens, SystemHash: r.SystemPromptHash, PrefixIDs: r.PrefixHashIDs, EndUS: r.EndUS}
	switch kind := r.EndpointKind; kind {
	case "completions":
		v.item.Endpoint = kind
	case "responses", "messages":
		if o.Endpoint == "" {
			v.item.Endpoint = kind
		}
	case "embeddings":
		v.item.Endpoint, v.item.Stream, v.stream = kind, false, true
	}
	if r.Arrival != nil {
		v.item.Arrival = *r.Arrival
	}
	if r.SystemPromptTokens != nil && r.SystemPromptHash != "" {
		v.item.SystemTokens = *r.SystemPromptTokens
	}
	if r.ErrorClass == trace.ClassCancel {
		v.item.CancelUS = r.EndUS
	}
	if r.ErrorClass == trace.ClassTimeout {
		v.item.TimeoutUS = r.EndUS
	}
	if r.PrefixBlockTokens != nil && r.InputTokens != nil {
		v.item.BlockTokens = r.PrefixBlockTokens
		v.item.PrefixTokens = fixedBlocks(*r.InputTokens, *r.PrefixBlockTokens, len(r.PrefixHashIDs))
	}
	if o.Body != nil && (o.Endpoint == "" || v.item.Endpoint == cmp.Or(r.EndpointKind, v.item.Endpoint)) {
		v.item.Body = o.Body(r.RequestID, r.Attempt)
	}
	v.reason = v.judge(r, &o)
	return v
}

// judge says why a row cannot be sent again, and takes its lengths when it can.
func (v *view) judge(r *trace.Request, o *PlanOptions) string {
	out := r.OutputTokens
	if out == nil && (r.ErrorClass == trace.ClassCancel || r.ErrorClass == trace.ClassInFlight || r.ErrorClass == trace.ClassTimeout) {
		out = r.MaxTokens // the answer was under way when the log lost sight of it
	}
	switch {
	case r.Arrival == nil && o.Rate == 0: // else it will be made up
		return OutNoArrival
	case r.CachedResponse != nil && *r.CachedResponse:
		return OutCached
	case !sends(r.EndpointKind), o.Generation && r.EndpointKind == "embeddings":
		return OutNotGeneration
	case r.ErrorClass == trace.ClassClientError || r.ErrorClass == trace.ClassContextLength:
		return OutClientError
	case r.InputTokens != nil && *r.InputTokens > 0 && r.EndpointKind == "embeddings":
		out = new(int64)
	case r.InputTokens == nil || out == nil:
		return OutNoCounts
	case *r.InputTokens < 1 || *out < 1:
		return OutZeroTokens
	case r.HasQuality(trace.QPrefixInvalid) || r.PrefixBlockTokens != nil && r.PrefixHashIDs != nil && v.item.PrefixTokens == nil:
		return OutPrefix
	}
	v.item.InputTokens, v.item.OutputTokens = *r.InputTokens, *out
	return ""
}

// sends says whether there is a way to send an endpoint's calls again.
func sends(kind string) bool {
	switch kind {
	case "", "chat", "completions", "responses", "messages", "embeddings":
		return true
	}
	return false
}

// mergeViews takes arrival and id from the first attempt, lengths and outcome from the one that counted in the end, and
// fills what that one does not know from the others.
func mergeViews(views []view) view {
	slices.SortStableFunc(views, func(a, b view) int {
		return cmp.Or(cmp.Compare(a.attempt, b.attempt), cmp.Compare(a.rank, b.rank), strings.Compare(a.order, b.order))
	})
	best := &views[0]
	for i := range views {
		if v := &views[i]; v.score() > best.score() || v.score() == best.score() && v.attempt > best.attempt {
			best = v
		}
	}
	merged := *best
	for i := range views {
		merged.fill(&views[i])
		if why := views[i].reason; why == OutCached || why == OutNotGeneration { // no engine was asked, whatever the others say
			merged.reason = why
		}
	}
	merged.item.RequestID, merged.file, merged.line = views[0].item.RequestID, views[0].file, views[0].line
	for _, v := range views {
		if v.timed {
			merged.lengthen(best, &v)
			merged.item.Arrival, merged.timed = v.item.Arrival, true
			break
		}
	}
	return merged
}

// lengthen counts the times of a retried call from its first attempt, where one clock saw both.
func (v *view) lengthen(best, first *view) {
	if !best.timed || best.rank != first.rank || best.attempt == first.attempt {
		return
	}
	for _, at := range []**int64{&v.item.EndUS, &v.item.CancelUS, &v.item.TimeoutUS} {
		if *at != nil {
			*at = trace.Ptr(**at + best.item.Arrival - first.item.Arrival)
		}
	}
}

// score orders views by how well a request can be planned from them.
func (v *view) score() int {
	n := 0
	if v.reason == "" {
		n += 4
	}
	if v.ok {
		n += 2
	}
	if v.item.PrefixIDs != nil {
		n++
	}
	return n
}

func (v *view) fill(from *view) {
	a, b := &v.item, &from.item
	a.SessionID, a.Model, a.Tenant = cmp.Or(a.SessionID, b.SessionID), cmp.Or(a.Model, b.Model), cmp.Or(a.Tenant, b.Tenant)
	a.App, a.Route = cmp.Or(a.App, b.App), cmp.Or(a.Route, b.Route)
	a.Turn, a.CachedTokens, a.MaxTokens = cmp.Or(a.Turn, b.Turn), cmp.Or(a.CachedTokens, b.CachedTokens), cmp.Or(a.MaxTokens, b.MaxTokens)
	if a.SystemHash == "" {
		a.SystemHash, a.SystemTokens = b.SystemHash, b.SystemTokens
	}
	if a.PrefixIDs == nil && (b.PrefixTokens == nil || b.InputTokens == a.InputTokens) {
		a.PrefixIDs, a.PrefixTokens, a.BlockTokens = b.PrefixIDs, b.PrefixTokens, b.BlockTokens
	}
	if a.Body == nil {
		a.Body = b.Body
	}
	if !v.stream && from.stream {
		a.Stream, v.stream = b.Stream, true
	}
}
