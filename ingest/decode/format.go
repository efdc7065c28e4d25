package decode

import (
	"bytes"
	"fmt"
	"iter"
	"time"
	"unsafe"

	"reprise/ingest/trace"
)

// Format is one kind of log. At least one of JSON, CSV, Message, Line and Group is set; they fix the containers the
// format may come in. The texts are what `reprise formats NAME` prints; Units, Defects and Example are at most a few lines each.
type Format struct {
	Name    string // as -f takes it: litellm, otlp, mooncake
	Title   string // for people, one line
	About   string // what it can and cannot contain, and what each column is taken from
	Units   string // of times and durations as the log writes them, and which moment a stamp is: "duration in ms; time is the END"
	Defects string // what the producer is known to get wrong, with its version; "none known" when nothing is
	Example string // the shortest text that is detected as this format and read without a reject; of a binary one hex digits

	// Detect returns how many independent signs of the format the sample shows; under 2 is "not this one".
	Detect func(*Sample) int

	JSON    func(*Context, *Value) error                                  // one JSON record
	CSV     func(header []string) (func(*Context, []string) error, error) // called once a file; an error names the missing column
	Message func(*Context, []byte) error                                  // one binary message
	Line    func(*Context, []byte) error                                  // one line of a text log, without white space around it
	Group   func() Group                                                  // in place of JSON and Line: records that tell of one request together
}

// Group decodes the records of one file in their order, one at a time: for logs that tell of a request in several
// records. It keeps what is open between them. JSON or Line is set.
type Group struct {
	JSON func(*Context, *Value) error
	Line func(*Context, []byte) error
	End  func(*Context) // emits what is still open, at the end of the file; may be nil
}

// Sample is the head of an input, decompressed and split by its container.
type Sample struct {
	Head    []byte   // first bytes as they are
	Records []*Value // up to 50 JSON records, when it is JSON
	Header  []string // first row, when it is CSV
	Message []byte   // first message, when it is binary
}

// Lines gives the lines of the head, when it is text; the last may be cut.
func (s *Sample) Lines() iter.Seq[[]byte] {
	if s.Message != nil {
		return func(func([]byte) bool) {}
	}
	return bytes.Lines(s.Head)
}

// Options are the choices of the person who runs ingest.
type Options struct {
	Zone       *time.Location // for stamps without a zone; nil is UTC
	Year       int            // for stamps without a year; 0: they are of a relative clock
	Vantage    string         // overrides the format's own, when set
	Hash       *Hasher        // keyed hashes; never nil
	PlainUser  bool           // keep user ids in clear
	HashNames  []string       // name fields (trace.NameFields) to store as keyed hashes
	KeepBodies bool           // pass request bodies to Emit
}

// Context is where a decoder puts what it found in one record.
type Context struct {
	Options
	File string // base name of the input
	Line int64  // 1-based line, row or message number
	Row  int    // 1-based place in the record of the line when it holds several, else 0

	// Emit stores a request. body is the request body as JSON, for --keep-bodies; nil when there is none or it is not
	// wanted. A body that is no JSON, for the log's own was not quite, is dropped: no server would take it. The decoder must not
	// touch r afterwards.
	Emit func(r *trace.Request, body []byte)

	// Scratch is memory that the format uses again from record to record; nothing of it may show in a row.
	Scratch any

	// Spare gives requests that nobody needs any longer, to be used again; nil when there are none now. It may be nil.
	Spare func() []*trace.Request

	skipped func(reason string, n int64)
	rows    []*trace.Request // room for the next ones
	used    bool             // they hold what they held
	memory  memory
	prompt  Prompt

	harmless [scrubbed]string // the last text of each kind without a secret
}

// NewContext returns a context whose Skip counts into skipped. It remembers hashes it has made, so one worker should
// keep it.
func NewContext(o Options, file string, emit func(*trace.Request, []byte), skipped func(string, int64)) *Context {
	c := &Context{Options: o, File: file, skipped: skipped, memory: memory{h: o.Hash}}
	c.Emit = func(r *trace.Request, body []byte) {
		if body != nil && !valid(body) {
			body = nil
		}
		emit(r, body)
	}
	c.prompt.memory = &c.memory
	return c
}

// Prompt starts an empty prompt, as Hasher.Prompt does but with what the context remembers. It is valid until the next.
func (c *Context) Prompt() *Prompt {
	c.prompt.reset()
	return &c.prompt
}

// Skip counts one record (or one span of it) that is well formed but not a request to a model.
func (c *Context) Skip(reason string) { c.skipped(reason, 1) }

// New returns a request with the provenance filled in and the defaults every source shares: first attempt, wall
// clock, microsecond stamps.
func (c *Context) New(format, vantage string) *trace.Request {
	if c.Vantage != "" {
		vantage = c.Vantage
	}
	if len(c.rows) == 0 {
		c.more()
	}
	r := c.rows[len(c.rows)-1]
	c.rows = c.rows[:len(c.rows)-1]
	if c.used {
		*r = trace.Request{}
	}
	r.Attempt, r.Vantage, r.ClockDomain, r.TimePrecision, r.ErrorClass = 1, vantage, trace.Wall, 1, trace.ClassUnknown
	r.SourceFormat, r.SourceFile, r.SourceLine = format, c.File, c.Line
	return r
}

// more makes room for requests: of those used before, else of rowsPiece new ones.
func (c *Context) more() {
	const rowsPiece = 16
	if c.Spare != nil {
		c.rows = c.Spare()
	}
	if c.used = len(c.rows) > 0; c.used {
		return
	}
	for piece := make([]trace.Request, rowsPiece); len(piece) > 0; piece = piece[1:] {
		c.rows = append(c.rows, &piece[0])
	}
}

// Position names the record: FILE:LINE, with the row behind it when the line holds several.
func (c *Context) Position() string {
	if c.Row > 0 {
		return fmt.Sprintf("%s:%d:%d", c.File, c.Line, c.Row)
	}
	return fmt.Sprintf("%s:%d", c.File, c.Line)
}

// Int returns a pointer to n, cheaper than one of its own.
func (c *Context) Int(n int64) *int64 { return c.memory.kept.int(n) }

// Keep copies a text that is a view of the record, cheaper than into memory of its own.
func (c *Context) Keep(s string) string {
	return c.memory.kept.string(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// User gives the form in which a user id, which may be a view, is stored: a keyed hash unless the person asked for plain
// ids.
func (c *Context) User(id string) string {
	if id == "" || c.PlainUser {
		return c.Keep(id)
	}
	return c.memory.name("user", id)
}

// Key gives the form in which an API key (or a hash of one), which may be a view, is stored: always a keyed hash.
func (c *Context) Key(key string) string { return c.memory.name("key", key) }

// LineError refuses one record and lets the file go on. Reason is a short stable name (bad_json, no_time) used as a
// counter; Detail says what was expected and what was got.
type LineError struct {
	Line           int64
	Reason, Detail string
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s: %s", e.Line, e.Reason, e.Detail) }

// Reject makes the error that refuses the current record.
func (c *Context) Reject(reason, format string, args ...any) error {
	return &LineError{Line: c.Line, Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// Containers names what the format's records may stand in: JSON (lines, arrays, documents, exports' wrappers), CSV, text,
// binary.
func (f *Format) Containers() (list []string) {
	isJSON, isText := f.JSON != nil, f.Line != nil
	if f.Group != nil {
		g := f.Group()
		isJSON, isText = g.JSON != nil, g.Line != nil
	}
	for _, c := range []struct {
		name  string
		reads bool
	}{{"JSON", isJSON}, {"CSV", f.CSV != nil}, {"text", isText}, {"binary", f.Message != nil}} {
		if c.reads {
			list = append(list, c.name)
		}
	}
	return list
}

// One is 1 for a sign that is there, so that [Format].Detect can add them up.
func One(sign bool) int {
	if sign {
		return 1
	}
	return 0
}
