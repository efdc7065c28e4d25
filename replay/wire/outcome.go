package wire

import "time"

// Classes of an outcome, the same words as the record's error_class.
const (
	ClassOK            = "ok"
	ClassCancel        = "client_cancel" // the caller's context ended
	ClassTimeout       = "timeout"
	ClassRateLimited   = "rate_limited"
	ClassClientError   = "client_error"
	ClassContextLength = "context_length"
	ClassContentFilter = "content_filter"
	ClassUpstream      = "upstream_error"
	ClassNetwork       = "network"
)

// Where the arrival stamps of an outcome come from.
const (
	StampKernel = "kernel" // when the bytes reached this machine
	StampUser   = "user"   // when this program got to read them; grows when the client is busy
)

// Outcome is what happened to one call. Times are monotonic and relative to Sent unless they say otherwise.
type Outcome struct {
	Begun time.Time // Do was called
	Sent  time.Time // the first byte of the request was handed to the kernel; zero when nothing was written

	ConnWait time.Duration // from Begun until a connection was there: dial, name look-up and TLS, near 0 when reused
	Reused   bool          // the connection had carried a request before

	Headers *time.Duration // first byte of the answer; nil when none came
	End     *time.Duration // whole answer received, or the failure noticed; nil when nothing was written
	Chunks  []Chunk        // frames with generated payload, in order of arrival; nil when not streamed

	Streamed bool // the answer was an event stream
	Status   int  // HTTP status, 0 when no answer came
	Finish   string
	Choices  int // distinct choice indexes seen
	Usage    Usage
	ID       string // of the answer (chatcmpl-...)
	Model    string // as the server names it
	Text     string // of the answer without reasoning and tool calls, only when Call.Keep asked for it
	Replica  string // value of the response header the Client was told to look at

	Class      string
	Reason     string        // why it failed, a fixed short word (refused, silence, empty ...); "" when ok
	Code       string        // the server's error code or type, letters and digits only; never its message
	RetryAfter time.Duration // what the server asked for; 0 when it did not. Never obeyed

	Stamps    string        // StampKernel when every read had a kernel stamp
	Lateness  time.Duration // longest time between the arrival of bytes and their processing
	Coalesced int           // payload frames that came out of one read together with an earlier one: they share its stamp
}

// Chunk is one frame of generated payload of one choice.
type Chunk struct {
	At     time.Duration
	Bytes  int32 // of generated text, UTF-8
	Chars  int32
	Tokens int32 // when the server says for each frame; -1 unknown
	Choice int16
	Kind   Kind
}

// Kind is the set of channels a chunk carries.
type Kind uint8

// Channels.
const (
	Content Kind = 1 << iota
	Reasoning
	Tool
)

// Visible says whether the user sees something of it.
func (k Kind) Visible() bool { return k&(Content|Tool) != 0 }

// First returns when the first payload came, FirstVisible the first that is not reasoning, Last the last. nil without.
func (o *Outcome) First() *time.Duration { return o.pick(0) }

// Last is described at First.
func (o *Outcome) Last() *time.Duration { return o.pick(len(o.Chunks) - 1) }

// FirstVisible is described at First.
func (o *Outcome) FirstVisible() *time.Duration {
	for i, c := range o.Chunks {
		if c.Kind.Visible() {
			return o.pick(i)
		}
	}
	return nil
}

func (o *Outcome) pick(i int) *time.Duration {
	if i < 0 || i >= len(o.Chunks) {
		return nil
	}
	return &o.Chunks[i].At
}
