package fakellm

import (
	"errors"
	"fmt"
	"time"
)

// Call is what a Behave function knows of a generation request.
type Call struct {
	ID           string // x-request-id, or "req-N" with the ordinal when the request has none
	Ordinal      int    // 1 for the first generation request whose body was read
	Path         string
	Model        string
	Stream       bool
	PromptTokens int
	Draw         uint64 // pseudo-random, from Config.Seed and the id (the ordinal without one)
}

// Behaviour is what is special about one answer. The zero value is a plain stream as vLLM sends it: headers at once, a
// frame with the role before the first token, one token a chunk, a finish frame, usage when asked, an end marker. Answers
// that are not streamed heed Status, End, ContentType and what shapes the tokens.
type Behaviour struct {
	// Status answers with this HTTP status and an error body, without the engine. RetryAfter adds the header (429, 503),
	// in whole seconds.
	Status     int           `json:"status"`
	RetryAfter time.Duration `json:"-"`

	// End replaces the rest of the answer once After chunks with tokens are written; with After 0 as soon as the headers
	// are. After more chunks than there are, it replaces the finish frames.
	End   End `json:"end"`
	After int `json:"after"`

	// HoldFor keeps the chunks after the first HoldAfter back: from the moment the next one is made, for HoldFor, then
	// they are written together. The engine goes on meanwhile.
	HoldFor   time.Duration `json:"-"`
	HoldAfter int           `json:"hold_after"`

	// Role says where the frame with the role goes (chat only).
	Role Role `json:"role"`
	// LateHeaders keeps the headers back until the first frame.
	LateHeaders bool `json:"late_headers"`
	// KeepAlive sends a comment line this often until the first token; 0: none.
	KeepAlive time.Duration `json:"-"`
	// ContentType replaces that of the answer.
	ContentType string `json:"content_type"`

	// OutputTokens replaces the length of the answer; 0: what the request asks for.
	OutputTokens int `json:"output_tokens"`
	// TokensPerChunk is how many tokens a decode step makes for this stream, as speculative decoding does; 0: 1. The
	// first chunk, from the prefill, has one.
	TokensPerChunk int `json:"tokens_per_chunk"`
	// ReasoningTokens is how many of the first tokens go into the reasoning channel (chat only).
	ReasoningTokens int `json:"reasoning_tokens"`
	// ReasoningField names that channel in the delta; "": reasoning_content.
	ReasoningField string `json:"reasoning_field"`
	// ToolCall makes what follows the reasoning one tool call: the first token is its name, the rest its argument (chat
	// only).
	ToolCall bool `json:"tool_call"`
}

// End is how an answer that goes wrong ends.
type End string

// The ends of a stream. An unary answer ends alike: with an error status, a body cut short, no answer, no choices.
const (
	EndError   End = "error"   // a frame with an error object, then the end marker; the slot is freed
	EndCut     End = "cut"     // the connection is closed in mid-stream; the slot is freed
	EndSilence End = "silence" // nothing more is written, the connection stays open; the engine goes on
	EndMarker  End = "marker"  // the end marker alone, no finish frame; the slot is freed
)

// Role is where the frame with the role goes.
type Role string

// The places of the role frame.
const (
	RoleWithFirst Role = ""      // a frame of its own, written with the first token
	RoleEarly     Role = "early" // a frame of its own, as soon as the headers are out
	RoleNone      Role = "none"  // never
)

// check refuses values that have no meaning. A call whose Behaviour does not pass gets a 500 that says why.
func (b Behaviour) check() error {
	switch b.End {
	case "", EndError, EndCut, EndSilence, EndMarker:
	default:
		return fmt.Errorf("end: want error, cut, silence or marker, got %q", b.End)
	}
	switch b.Role {
	case RoleWithFirst, RoleEarly, RoleNone:
	default:
		return fmt.Errorf("role: want early, none or nothing, got %q", b.Role)
	}
	if b.Status != 0 && (b.Status < 400 || b.Status > 599) {
		return fmt.Errorf("status: want 400 to 599, got %d", b.Status)
	}
	if min(b.After, b.HoldAfter, b.OutputTokens, b.TokensPerChunk, b.ReasoningTokens) < 0 || b.OutputTokens > maxOutput {
		return fmt.Errorf("counts of tokens and chunks: want 0 to %d, got %+v", maxOutput, b)
	}
	if min(b.RetryAfter, b.HoldFor, b.KeepAlive) < 0 {
		return errors.New("times: want 0 or more")
	}
	return nil
}
