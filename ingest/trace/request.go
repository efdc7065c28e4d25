package trace

import "strings"

// Request is one attempt of one call. The Parquet column is the first word of each tag; all engines read the types
// alike (signed integers, microseconds, text, booleans, lists of integers).
type Request struct {
	// Identity.
	RequestID     string `parquet:"request_id"`              // the source's id; a decoder derives one when there is none (quality id_derived)
	RootRequestID string `parquet:"root_request_id"`         // groups retries and fallbacks of one user call; equals RequestID without them
	Attempt       int32  `parquet:"attempt"`                 // 1 for the first try
	ResponseID    string `parquet:"response_id,optional"`    // the id in the answer's body (chatcmpl-...)
	TraceID       string `parquet:"trace_id,optional"`       // lower-case hex where it was hex or base64, else verbatim
	SpanID        string `parquet:"span_id,optional"`        // as TraceID
	ParentSpanID  string `parquet:"parent_span_id,optional"` // as TraceID
	SessionID     string `parquet:"session_id,optional"`     // conversation
	Turn          *int32 `parquet:"turn,optional"`           // 1 for the first turn of the session, when the source says

	// Times. Arrival is the vantage's start of the call; in a replay it is the time the request was DUE, so that every
	// latency counts from the schedule and a late client cannot hide (SendLagUS shows by how much it was late).
	Arrival        *int64  `parquet:"arrival,optional,timestamp(microsecond)"`                          // UTC microseconds since 1970; NULL when the source has no time
	FirstUS        *int64  `parquet:"first_us,optional"`                                                // first token-bearing chunk (TTFTKind says which event); NULL unless streamed
	FirstVisibleUS *int64  `parquet:"first_visible_us,optional"`                                        // first chunk that is not reasoning
	HeadersUS      *int64  `parquet:"headers_us,optional"`                                              // response headers; never a first token
	LastUS         *int64  `parquet:"last_us,optional"`                                                 // last token-bearing chunk
	EndUS          *int64  `parquet:"end_us,optional"`                                                  // stream closed or whole body received
	SendLagUS      *int64  `parquet:"send_lag_us,optional"`                                             // replay: sent minus due
	QueueUS        *int64  `parquet:"queue_us,optional"`                                                // engine: waiting to be scheduled
	PrefillUS      *int64  `parquet:"prefill_us,optional"`                                              // engine: scheduled to first token
	DecodeUS       *int64  `parquet:"decode_us,optional"`                                               // engine: first to last token
	GapsUS         []int32 `parquet:"gaps_us,list,optional" parquet-element:",delta,uncompressed"`      // first element: first chunk's offset; then the gap to the chunk before; NULL when chunk times are unknown
	ChunkTokens    []int32 `parquet:"chunk_tokens,list,optional" parquet-element:",delta,uncompressed"` // tokens of each chunk of GapsUS; NULL when unknown

	// What the times mean.
	TTFTKind      string `parquet:"ttft_kind,optional,dict"` // one of the TTFT* constants; "" when FirstUS is nil
	Vantage       string `parquet:"vantage,dict"`            // client, gateway, engine or replay
	ClockDomain   string `parquet:"clock_domain,dict"`       // wall, monotonic or relative; absolute times compare only between wall clocks
	TimePrecision int64  `parquet:"time_precision_us"`       // step of the source's stamps in microseconds: 1, 1000, 1000000

	// Outcome.
	ErrorClass     string `parquet:"error_class,dict"`            // one of the Class* constants
	HTTPStatus     *int32 `parquet:"http_status,optional"`        // NULL when unknown or no answer came
	FinishReason   string `parquet:"finish_reason,optional,dict"` // stop, length, tool_calls, content_filter, abort, error, other
	EndpointKind   string `parquet:"endpoint_kind,optional,dict"` // chat, completions, responses, messages, embeddings, rerank, other
	Stream         *bool  `parquet:"stream,optional"`             // NULL when the source does not say
	CachedResponse *bool  `parquet:"cached_response,optional"`    // the gateway answered from its own response cache

	// Who and where. Names are what an SRE groups by and are kept plain by default; keys and users are keyed hashes.
	ModelRequested string `parquet:"model_requested,optional,dict"`
	ModelServed    string `parquet:"model_served,optional,dict"`
	Provider       string `parquet:"provider,optional,dict"`
	Deployment     string `parquet:"deployment,optional,dict"`
	Replica        string `parquet:"replica,optional,dict"` // one engine instance (scheduler loop)
	Tenant         string `parquet:"tenant,optional,dict"`
	App            string `parquet:"app,optional,dict"`
	Route          string `parquet:"route,optional,dict"`
	KeyHash        string `parquet:"key_hash,optional,dict"`
	UserHash       string `parquet:"user_hash,optional,dict"`

	// Tokens.
	InputTokens       *int64 `parquet:"input_tokens,optional"`        // includes cached and cache-written tokens
	CachedInputTokens *int64 `parquet:"cached_input_tokens,optional"` // part of InputTokens
	CacheWriteTokens  *int64 `parquet:"cache_write_tokens,optional"`  // part of InputTokens
	OutputTokens      *int64 `parquet:"output_tokens,optional"`       // includes reasoning tokens
	ReasoningTokens   *int64 `parquet:"reasoning_tokens,optional"`    // part of OutputTokens
	MaxTokens         *int64 `parquet:"max_tokens,optional"`          // the caller's limit
	TokensSource      string `parquet:"tokens_source,optional,dict"`  // usage (the server counted), estimated, chunks; "" without counts

	// Prompt shape, without text.
	SystemPromptTokens *int64  `parquet:"system_prompt_tokens,optional"`                                       // tokens of system and developer messages and tools; estimated from text shares when quality says so
	SystemPromptHash   string  `parquet:"system_prompt_hash,optional,dict"`                                    // keyed hash of that text
	PrefixHashIDs      []int64 `parquet:"prefix_hash_ids,list,optional" parquet-element:",plain,uncompressed"` // chained block hashes (64-bit patterns): equal id means equal prefix up to and including the block
	PrefixBlockTokens  *int32  `parquet:"prefix_block_tokens,optional"`                                        // tokens in a block; NULL when blocks are equal shares of the text (then InputTokens / number of ids)

	// Provenance.
	SourceFormat string `parquet:"source_format,dict"`
	SourceFile   string `parquet:"source_file,dict"`      // base name of the input
	SourceLine   int64  `parquet:"source_line,delta"`     // 1-based line, row or message
	Quality      string `parquet:"quality,optional,dict"` // sorted Q* flags joined by commas
}

// Vantage points.
const (
	Client  = "client"
	Gateway = "gateway"
	Engine  = "engine"
	Replay  = "replay"
)

// Clock domains.
const (
	Wall      = "wall"
	Monotonic = "monotonic"
	Relative  = "relative"
)

// What the first-token stamp really is. Percentiles never mix kinds silently.
const (
	TTFTEngine  = "engine_first_token"
	TTFTContent = "first_content_chunk"
	TTFTAny     = "first_any_chunk"
	TTFTBody    = "first_body_byte"
)

// Outcome classes. ClassInFlight: the log ends before the call does. ClassUnknown: the source does not tell.
const (
	ClassOK            = "ok"
	ClassCancel        = "client_cancel"
	ClassTimeout       = "timeout"
	ClassRateLimited   = "rate_limited"
	ClassClientError   = "client_error"
	ClassContextLength = "context_length"
	ClassContentFilter = "content_filter"
	ClassUpstream      = "upstream_error"
	ClassNetwork       = "network"
	ClassInFlight      = "in_flight"
	ClassUnknown       = "unknown"
)

// Quality flags. Each names a fact a reader must know before trusting a figure of the row.
const (
	QIDDerived       = "id_derived"              // the source had no id
	QEndOnly         = "end_only"                // the source has the end of the call and no duration: arrival is NULL
	QFirstIsEnd      = "ttft_equals_end"         // first token stored as the end: dropped
	QFirstIsHeaders  = "ttft_is_headers"         // only the headers' time is known
	QNegative        = "negative_interval"       // an end before its start: that duration dropped
	QTooLong         = "duration_too_long"       // a duration of more than a year: dropped
	QTimeRange       = "time_out_of_range"       // an arrival before the year 1000 or after 9999: dropped
	QFirstAfterEnd   = "ttft_after_end"          // first token after the end: dropped
	QSuspectFirst    = "ttft_suspect"            // under 5 ms for over 1000 uncached prompt tokens
	QTokensEstimated = "tokens_estimated"        // counts are the gateway's own guess
	QTokensMissing   = "tokens_missing"          // no counts on a finished call
	QChunkTokens     = "chunk_tokens_invalid"    // tokens of chunks below 0 or above a million together: dropped
	QTokensTooMany   = "tokens_too_many"         // a count above 2^31-1: dropped
	QCachedExclusive = "cached_added"            // the source's input excluded cached tokens: added
	QCachedOver      = "cached_over_input"       // more cached than input tokens: cached dropped
	QReasoningOver   = "reasoning_over_output"   // more reasoning than output tokens: reasoning dropped
	QNaiveTime       = "naive_time"              // stamps without a zone, read in the stated zone
	QHourTwice       = "hour_twice"              // such a stamp in an hour that the zone's clock shows twice: it may be an hour off
	QSystemEstimated = "system_tokens_estimated" // system tokens from the share of text
	QPseudoStream    = "pseudo_stream"           // one chunk, several tokens: buffered on the way
	QGapOverflow     = "gap_overflow"            // a gap above 2^31 us: chunk times dropped
	QAliasConflict   = "alias_conflict"          // two names of one attribute disagree: the newer won
	QParentMissing   = "parent_missing"          // span without its parent in the input
	QPrefixInvalid   = "prefix_invalid"          // block count does not fit the length: ids dropped
	QModelTextCut    = "text_cut"                // message text was truncated by the producer
	QNoServerCount   = "chunks_counted"          // output tokens counted from chunks
	QArrivalDerived  = "arrival_derived"         // arrival is the end minus the duration
	QProbe           = "probe"                   // replay: a long prompt sent to see what it does to others (kind other)
	QProbeControl    = "probe_control"           // replay: the short one that it is held against
	QQueueUnseen     = "queue_unseen"            // arrival is the start of work, after a wait the log does not know: no first_us, no end_us
)

// HTTPClass gives the outcome class of an HTTP status (metrics.md 0.2): 408 is a timeout, 429 rate limiting, other
// 4xx the caller's error, 499 a cancel, 5xx ours; under 400 ok.
func HTTPClass(status int32) string {
	switch {
	case status == 408 || status == 504:
		return ClassTimeout
	case status == 429:
		return ClassRateLimited
	case status == 499:
		return ClassCancel
	case status >= 500:
		return ClassUpstream
	case status >= 400:
		return ClassClientError
	case status == 0:
		return ClassNetwork
	}
	return ClassOK
}

// Ptr returns a pointer to v: optional fields are nil or set.
func Ptr[T any](v T) *T { return &v }

// AddQuality adds a flag, keeping the list sorted and without doubles.
func (r *Request) AddQuality(flag string) { r.Quality = addFlag(r.Quality, flag) }

// QualityFlags are the flags that are set.
func (r *Request) QualityFlags() []string {
	if r.Quality == "" {
		return nil
	}
	return strings.Split(r.Quality, ",")
}

// HasQuality says whether the flag is set.
func (r *Request) HasQuality(flag string) bool { return hasFlag(r.Quality, flag) }
