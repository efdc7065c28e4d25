package trace

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Check makes a decoded request consistent before it is stored. It never invents: what contradicts itself is set to nil
// and named in Quality. Rules: pitfalls ING-01 to ING-12 and metrics.md 1.1.
func Check(r *Request) {
	cleanText(r)
	if r.RootRequestID == "" {
		r.RootRequestID = r.RequestID
	}
	r.Attempt = max(r.Attempt, 1)
	checkGaps(r)
	checkTimes(r)
	checkFirst(r)
	checkTokens(r)
	checkPrefix(r)
}

// checkGaps drops impossible chunk times and takes first and last from them where the source gave no better.
func checkGaps(r *Request) {
	if r.GapsUS == nil {
		r.ChunkTokens = nil
		return
	}
	sum := int64(0)
	for _, g := range r.GapsUS {
		if g < 0 {
			r.GapsUS, r.ChunkTokens = nil, nil
			r.AddQuality(QNegative)
			return
		}
		sum += int64(g)
	}
	checkChunkTokens(r)
	if len(r.GapsUS) == 0 {
		return
	}
	if r.FirstUS == nil {
		r.FirstUS = Ptr(int64(r.GapsUS[0]))
	}
	if r.LastUS == nil {
		r.LastUS = &sum
	}
	if len(r.GapsUS) == 1 && r.OutputTokens != nil && *r.OutputTokens >= 2 {
		r.AddQuality(QPseudoStream)
	}
}

// mostChunked bounds the tokens of a stream's chunks: a figure by token takes as many values.
const mostChunked = 1 << 20

// checkChunkTokens drops counts that are not one for each chunk or that no stream has.
func checkChunkTokens(r *Request) {
	if len(r.ChunkTokens) != len(r.GapsUS) {
		r.ChunkTokens = nil
	}
	sum := int64(0)
	for _, n := range r.ChunkTokens {
		if sum += int64(n); n < 0 || sum > mostChunked {
			r.ChunkTokens = nil
			r.AddQuality(QChunkTokens)
			return
		}
	}
}

// checkTimes drops durations that end before they begin (ING-04, ING-05) or take a year (a stamp in place of a duration, or none that
// was ever set), and an arrival that no calendar has.
func checkTimes(r *Request) {
	for _, d := range []**int64{&r.FirstUS, &r.FirstVisibleUS, &r.HeadersUS, &r.LastUS, &r.EndUS, &r.QueueUS, &r.PrefillUS, &r.DecodeUS} {
		switch {
		case *d == nil || **d >= 0 && **d <= year:
			continue
		case **d < 0:
			r.AddQuality(QNegative)
		default:
			r.AddQuality(QTooLong)
		}
		*d = nil
	}
	if r.Arrival != nil && (*r.Arrival < firstYear || *r.Arrival > lastYear) {
		r.Arrival = nil
		r.AddQuality(QTimeRange)
	}
}

// year is in microseconds.
const year = 366 * 24 * 3600 * 1_000_000

// firstYear and lastYear bound the years 1000 to 9999: dates of four digits, without 0001-01-01, which is Go's unset time.
const firstYear, lastYear = -30610224000000000, 253402300799999999

// checkFirst keeps a first-token time only where it can be one (ING-01, ING-02, ING-03, ING-09).
func checkFirst(r *Request) {
	switch {
	case r.FirstUS == nil:
	case r.Stream != nil && !*r.Stream:
		r.FirstUS, r.FirstVisibleUS, r.LastUS, r.GapsUS, r.ChunkTokens = nil, nil, nil, nil, nil
	case r.EndUS != nil && *r.FirstUS > *r.EndUS:
		r.FirstUS, r.FirstVisibleUS = nil, nil
		r.AddQuality(QFirstAfterEnd)
	case r.GapsUS == nil && r.EndUS != nil && storedEnd(*r.FirstUS, *r.EndUS, r.OutputTokens):
		r.FirstUS, r.FirstVisibleUS = nil, nil
		r.AddQuality(QFirstIsEnd)
	case *r.FirstUS < 5000 && r.InputTokens != nil && *r.InputTokens-deref(r.CachedInputTokens) > 1000:
		r.AddQuality(QSuspectFirst)
	}
	if r.FirstUS == nil {
		r.TTFTKind = ""
	}
}

// storedEnd says that a first-token stamp is really the end: so close to it that the tokens cannot have come between
// (formats.md 3.1; seen 1 ms before the end, so equality is not enough). Near alone would not do: a short answer after
// a first token of many seconds ends within 1 % of the whole, and dropping those would hide the tail. So the tokens
// must also have come faster than one a millisecond, which no engine does.
func storedEnd(first, end int64, out *int64) bool {
	if first == end {
		return out == nil || *out > 1
	}
	near := max(int64(5000), end/100)
	return out != nil && *out > 4 && end-first < min(near, (*out-1)*1000)
}

// checkTokens drops counts that contradict each other (ING-12) and marks finished calls without any (ING-11).
func checkTokens(r *Request) {
	for _, n := range []**int64{&r.InputTokens, &r.CachedInputTokens, &r.CacheWriteTokens, &r.OutputTokens, &r.ReasoningTokens, &r.MaxTokens, &r.SystemPromptTokens} {
		switch {
		case *n == nil || **n >= 0 && **n <= mostTokens:
			continue
		case **n > 0 && n != &r.MaxTokens: // as a limit, both ends of the numbers are ways to say none
			r.AddQuality(QTokensTooMany)
		}
		*n = nil
	}
	if r.CachedInputTokens != nil && r.InputTokens != nil && *r.CachedInputTokens > *r.InputTokens {
		r.CachedInputTokens = nil
		r.AddQuality(QCachedOver)
	}
	if r.ReasoningTokens != nil && r.OutputTokens != nil && *r.ReasoningTokens > *r.OutputTokens {
		r.ReasoningTokens = nil
		r.AddQuality(QReasoningOver)
	}
	if r.ErrorClass == ClassOK && r.OutputTokens == nil {
		r.AddQuality(QTokensMissing)
	}
	if r.InputTokens == nil && r.OutputTokens == nil {
		r.TokensSource = ""
	}
	if r.TokensSource == "estimated" {
		r.AddQuality(QTokensEstimated)
	}
}

// mostTokens bounds a count: some hundred times the longest prompts there are, and sums of it stay in range.
const mostTokens = math.MaxInt32

// checkPrefix drops block hashes whose number does not fit the prompt's length (RPL-21).
func checkPrefix(r *Request) {
	if r.PrefixHashIDs == nil || r.PrefixBlockTokens == nil || r.InputTokens == nil {
		return
	}
	if b := int64(*r.PrefixBlockTokens); b <= 0 || (*r.InputTokens+b-1)/b != int64(len(r.PrefixHashIDs)) {
		r.PrefixHashIDs, r.PrefixBlockTokens = nil, nil
		r.AddQuality(QPrefixInvalid)
	}
}

// SetGaps stores chunk offsets from arrival, in microseconds and in order of arrival, as gaps. A gap that does not fit
// 32 bits (35 minutes) drops the list and is flagged.
func (r *Request) SetGaps(offsets []int64) {
	r.GapsUS = make([]int32, 0, len(offsets))
	last := int64(0)
	for _, o := range offsets {
		if o-last > math.MaxInt32 || o-last < math.MinInt32 {
			r.GapsUS = nil
			r.AddQuality(QGapOverflow)
			return
		}
		r.GapsUS = append(r.GapsUS, int32(o-last))
		last = o
	}
}

// maxName bounds a name from a log: long enough for any real id, short enough that a hostile one costs nothing.
const maxName = 512

// cleanText makes every text column valid UTF-8 (DuckDB refuses anything else) and bounds its length. Texts that are
// often the same stand side by side.
func cleanText(r *Request) {
	clean := ""
	for _, s := range [...]*string{&r.RequestID, &r.RootRequestID, &r.ResponseID, &r.TraceID, &r.SessionID, &r.SpanID, &r.ParentSpanID,
		&r.FinishReason, &r.EndpointKind, &r.ModelRequested, &r.ModelServed, &r.Provider, &r.Deployment, &r.Replica, &r.Tenant,
		&r.App, &r.Route, &r.KeyHash, &r.UserHash, &r.SystemPromptHash, &r.SourceFile} {
		if *s == clean || *s == "" {
			continue
		}
		if len(*s) > maxName {
			*s = (*s)[:maxName]
		}
		if !utf8.ValidString(*s) {
			*s = strings.ToValidUTF8(*s, "\uFFFD")
		}
		clean = *s
	}
}

func deref(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
