package replay

import (
	"time"

	"reprise/ingest/trace"
	"reprise/replay/wire"
)

// Format is the source format of a replayed run.
const Format = "reprise-replay"

// result is a finished call.
type result struct {
	index, attempt int
	due            time.Time
	out            wire.Outcome
	final          bool // no further attempt follows
	free           bool // its length was not forced although lengths are
	over           bool // the replay was being stopped when the call ended
}

// record makes the row of a finished call. All times count from the instant it was due.
func (r *run) record(res *result) *trace.Request {
	it, o := &r.plan.Items[res.index], &res.out
	row := &trace.Request{RequestID: attemptID(it.RequestID, res.attempt), RootRequestID: it.RootID, Attempt: int32(max(res.attempt, 1)), ResponseID: o.ID, SessionID: it.SessionID, Turn: it.Turn,
		Arrival: trace.Ptr(res.due.UnixMicro()), Vantage: trace.Replay, ClockDomain: trace.Wall, TimePrecision: 1,
		ErrorClass: o.Class, FinishReason: o.Finish, EndpointKind: it.Endpoint, Stream: trace.Ptr(it.Stream),
		ModelRequested: r.opt.model(it.Model), ModelServed: o.Model, Replica: o.Replica, Tenant: it.Tenant, App: it.App, Route: it.Route,
		SourceFormat: Format, SourceLine: int64(res.index) + 1}
	if row.Replica == "" {
		row.Replica = r.opt.replica()
	}
	if o.Status != 0 {
		row.HTTPStatus = trace.Ptr(int32(o.Status))
		if o.Class == wire.ClassOK {
			row.Stream = &o.Streamed // a server may answer whole what was asked for as a stream
		}
	}
	if o.Class == wire.ClassCancel && res.over && !r.hungUp(it, res) {
		row.ErrorClass = trace.ClassInFlight // not the recorded user: the replay ended
	}
	if it.Probe != "" {
		row.EndpointKind = "other" // of no kind that figures count
		row.AddQuality(it.Probe)
	}
	times(row, res)
	tokens(row, o)
	shape(row, it)
	return row
}

// shape says what the prompts had in common. Where the target counts a prompt differently from the log, the number of
// blocks no longer fits their size, and they count as equal shares.
func shape(row *trace.Request, it *Item) {
	row.PrefixHashIDs, row.SystemPromptHash = it.PrefixIDs, it.SystemHash
	if row.InputTokens != nil && *row.InputTokens == it.InputTokens {
		row.PrefixBlockTokens = it.BlockTokens
	}
	if it.SystemTokens > 0 {
		row.SystemPromptTokens = &it.SystemTokens
	}
}

// hungUp says whether a call was cancelled because its recorded user hung up.
func (r *run) hungUp(it *Item, res *result) bool {
	return r.opt.Cancel == CancelRecorded && it.CancelUS != nil && res.out.End != nil &&
		res.out.Sent.Add(*res.out.End).Sub(res.due) >= time.Duration(*it.CancelUS)*time.Microsecond
}

// times fills the durations, in whole microseconds from the due time.
func times(row *trace.Request, res *result) {
	o := &res.out
	if o.Sent.IsZero() {
		return
	}
	lag := o.Sent.Sub(res.due)
	from := func(d *time.Duration) *int64 {
		if d == nil {
			return nil
		}
		return trace.Ptr(int64((lag + *d) / time.Microsecond))
	}
	row.SendLagUS = trace.Ptr(int64(lag / time.Microsecond))
	row.HeadersUS, row.EndUS = from(o.Headers), from(o.End)
	row.FirstUS, row.FirstVisibleUS, row.LastUS = from(o.First()), from(o.FirstVisible()), from(o.Last())
	if row.FirstUS == nil {
		return
	}
	row.TTFTKind = trace.TTFTContent
	if o.Choices > 1 {
		return // several answers in one stream are not one timeline
	}
	offsets := make([]int64, len(o.Chunks))
	row.ChunkTokens = make([]int32, len(o.Chunks))
	known := true
	for i, c := range o.Chunks {
		offsets[i] = *from(&c.At)
		row.ChunkTokens[i] = c.Tokens
		known = known && c.Tokens >= 0
	}
	if !known {
		row.ChunkTokens = nil
	}
	row.SetGaps(offsets)
}

// tokens takes the server's counts and nothing else.
func tokens(row *trace.Request, o *wire.Outcome) {
	row.InputTokens, row.OutputTokens = o.Usage.Input, o.Usage.Output
	row.CachedInputTokens, row.CacheWriteTokens, row.ReasoningTokens = o.Usage.Cached, o.Usage.Written, o.Usage.Reasoning
	if row.InputTokens != nil || row.OutputTokens != nil {
		row.TokensSource = "usage"
	}
}
