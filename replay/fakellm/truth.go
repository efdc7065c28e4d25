package fakellm

// Truth is what a server did. Config.Truth receives the same values as JSON lines, told apart by their field "kind".
// Times are microseconds since New unless the name says unix; a nil time did not happen.
type Truth struct {
	Server   ServerTruth
	Requests []RequestTruth // in order of end; each is here before its client reads the end of the body
	Steps    []StepTruth    // in order
}

// ServerTruth is the first line: the engine's programme.
type ServerTruth struct {
	Kind          string       `json:"kind"` // "server"
	StartUnixUS   int64        `json:"start_unix_us"`
	Models        []string     `json:"models"`
	Slots         int          `json:"slots"`
	QueueLimit    int          `json:"queue_limit"`
	DecodeBaseNS  int64        `json:"decode_base_ns"`
	DecodePerNS   int64        `json:"decode_per_running_ns"`
	PrefillBaseNS int64        `json:"prefill_base_ns"`
	PrefillPerNS  int64        `json:"prefill_per_token_ns"`
	PrefillChunk  int          `json:"prefill_chunk"`
	BlockTokens   int          `json:"block_tokens"`
	CacheBlocks   int          `json:"cache_blocks"`
	Seed          uint64       `json:"seed"`
	Pauses        []PauseTruth `json:"pauses"`
}

// PauseTruth is a stop of the whole engine.
type PauseTruth struct {
	AtUS  int64 `json:"at_us"`
	ForUS int64 `json:"for_us"`
}

// StepTruth is one step of the engine, by the model.
type StepTruth struct {
	Kind          string     `json:"kind"` // "step"
	Step          int        `json:"step"` // from 0
	StartUS       int64      `json:"start_us"`
	EndUS         int64      `json:"end_us"`
	PausedUS      int64      `json:"paused_us"`      // part of end - start
	Decoding      int        `json:"decoding"`       // streams that got tokens by decode
	Running       int        `json:"running"`        // slots taken
	Waiting       int        `json:"waiting"`        // requests left in the queue at the start
	PrefillTokens int        `json:"prefill_tokens"` // over all prompts in the step
	Prefill       []StepPart `json:"prefill"`
}

// StepPart is what a step prefilled of one prompt.
type StepPart struct {
	ID     string `json:"id"`
	Tokens int    `json:"tokens"`
}

// RequestTruth is one request to a generation endpoint.
type RequestTruth struct {
	Kind    string `json:"kind"` // "request"
	ID      string `json:"id"`   // x-request-id, or "req-N"
	Ordinal int    `json:"ordinal"`
	Path    string `json:"path"`
	Model   string `json:"model"`
	Stream  bool   `json:"stream"`

	ArrivalUnixUS int64  `json:"arrival_unix_us"` // body read to its end
	ArrivalUS     int64  `json:"arrival_us"`      // the same moment
	EnqueuedUS    *int64 `json:"enqueued_us"`     // handed to the engine, after parsing; the model's time of arrival
	AdmittedUS    *int64 `json:"admitted_us"`     // start of the step that gave it a slot; the queue ends here
	QueuedUS      *int64 `json:"queued_us"`       // admitted - enqueued
	FirstTokenUS  *int64 `json:"first_token_us"`  // modelled
	EndUS         int64  `json:"end_us"`          // the last frame or the answer was written, a refusal decided

	Prefill     []PrefillTruth `json:"prefill"`
	ChunkUS     []int64        `json:"chunk_us"`     // modelled time of each chunk made
	ChunkTokens []int          `json:"chunk_tokens"` // tokens in it
	WritingUS   []int64        `json:"writing_us"`   // call of write() for each chunk written, so maybe fewer; nil for an answer that came whole
	WrittenUS   []int64        `json:"written_us"`   // return of it
	CancelledUS *int64         `json:"cancelled_us"` // the engine was told to drop it
	HeldFromUS  *int64         `json:"held_from_us"` // first chunk held back was made
	HeldToUS    *int64         `json:"held_to_us"`   // held chunks were let go

	PromptTokens    int    `json:"prompt_tokens"`
	CachedTokens    int    `json:"cached_tokens"` // 0 unless admitted
	OutputTokens    int    `json:"output_tokens"` // made by the engine, written or not
	ReasoningTokens int    `json:"reasoning_tokens"`
	HTTPStatus      int    `json:"http_status"`
	Outcome         string `json:"outcome"`
}

// PrefillTruth is a step's work on one prompt.
type PrefillTruth struct {
	Step    int   `json:"step"`
	StartUS int64 `json:"start_us"` // of the step
	EndUS   int64 `json:"end_us"`
	Tokens  int   `json:"tokens"`
}

// Values of RequestTruth.Outcome beside the finish reasons stop, length and tool_calls, and the ends error, cut, silence
// and marker of Behaviour.
const (
	OutcomeRefused   = "refused"   // an HTTP error status
	OutcomeCancelled = "cancelled" // the client went away
	OutcomeClosed    = "closed"    // the server was closed meanwhile
)

// stepTruth is the public form of a step.
func stepTruth(s *step) StepTruth {
	t := StepTruth{
		Kind: "step", Step: s.index, StartUS: s.start.Microseconds(), EndUS: s.end.Microseconds(),
		PausedUS: s.paused.Microseconds(), Decoding: len(s.decode), Running: s.running, Waiting: s.waiting,
		PrefillTokens: s.prefillTokens,
	}
	for _, p := range s.prefill {
		t.Prefill = append(t.Prefill, StepPart{p.job.id, p.tokens})
	}
	return t
}

// fill copies what the model knows of a job.
func (t *RequestTruth) fill(j *job) {
	enqueued := j.arrived.Microseconds()
	t.EnqueuedUS = &enqueued
	t.PromptTokens, t.CachedTokens, t.OutputTokens = j.tokens, j.cached, j.made
	t.Prefill = j.prefills
	if len(j.prefills) > 0 {
		admitted := j.admitted.Microseconds()
		queued := admitted - enqueued
		t.AdmittedUS, t.QueuedUS = &admitted, &queued
	}
	chunks, _ := j.after(0)
	for i, c := range chunks {
		at := c.at.Microseconds()
		t.ChunkUS, t.ChunkTokens = append(t.ChunkUS, at), append(t.ChunkTokens, c.tokens)
		if i == 0 {
			t.FirstTokenUS = &at
		}
	}
	if j.cancelled {
		at := j.cancelledAt.Microseconds()
		t.CancelledUS = &at
	}
}

// serverTruth is the public form of a configuration.
func serverTruth(c Config, startUnixUS int64) ServerTruth {
	t := ServerTruth{
		Kind: "server", StartUnixUS: startUnixUS, Models: c.Models, Slots: c.Slots, QueueLimit: c.QueueLimit,
		DecodeBaseNS: int64(c.DecodeBase), DecodePerNS: int64(c.DecodePerRunning),
		PrefillBaseNS: int64(c.PrefillBase), PrefillPerNS: int64(c.PrefillPerToken), PrefillChunk: c.PrefillChunk,
		BlockTokens: c.BlockTokens, CacheBlocks: c.CacheBlocks, Seed: c.Seed,
	}
	for _, p := range c.Pauses {
		t.Pauses = append(t.Pauses, PauseTruth{p.At.Microseconds(), p.For.Microseconds()})
	}
	return t
}
