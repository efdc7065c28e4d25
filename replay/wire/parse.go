package wire

import (
	"bytes"
	"errors"
	"time"
)

// DefaultMaxEvent is the largest event a [Parser] accepts unless told otherwise: 16 MiB.
const DefaultMaxEvent = 16 << 20

// ErrEventTooLarge says that one event (or one line) went over the cap; the stream cannot be read on.
var ErrEventTooLarge = errors.New("event larger than the cap")

// Event is one event of an event stream. Name and Data live until the callback returns.
type Event struct {
	Name       []byte // the event field, empty for a plain message
	Data       []byte // the data lines joined by a line feed
	At         time.Duration
	Unfinished bool // the stream ended without the blank line that ends the event
}

// Parser cuts bytes into events by the rules of the HTML standard ("server-sent events, interpreting an event
// stream"): LF, CRLF or CR end a line, a leading byte order mark is dropped, lines that begin with a colon are comments,
// several data lines are joined, one space after the colon is dropped, an event without data is none. The way the
// bytes are cut into Feed calls changes nothing but the times. The zero value is ready.
type Parser struct {
	Max int // largest event and longest line in bytes; 0 is DefaultMaxEvent

	line    []byte // begun line
	data    []byte
	name    []byte
	at      time.Duration // of the newest data line
	hasData bool
	started bool // the first line is over, so is the byte order mark
	afterCR bool
}

// Feed reads the next bytes, which arrived at the instant at, and calls emit for each event they complete. Event.At is
// the arrival of its last data line: the blank line behind it may come in a later packet.
func (p *Parser) Feed(b []byte, at time.Duration, emit func(Event)) error {
	for len(b) > 0 {
		if p.afterCR {
			p.afterCR = false
			if b[0] == '\n' {
				b = b[1:]
				continue
			}
		}
		end := lineEnd(b)
		if end < 0 {
			return p.grow(b)
		}
		line := b[:end]
		if len(p.line) > 0 {
			if err := p.grow(line); err != nil {
				return err
			}
			line = p.line
		}
		p.afterCR = b[end] == '\r'
		b = b[end+1:]
		if err := p.endLine(line, at, emit); err != nil {
			return err
		}
		p.line = p.line[:0]
	}
	return nil
}

// Close reads a last line without its end and hands out a last event without its blank line, marked Unfinished: the rules
// drop it, but a server that closes right behind its last line is common, and the reader can tell by the content.
func (p *Parser) Close(at time.Duration, emit func(Event)) error {
	if len(p.line) > 0 {
		if err := p.endLine(p.line, at, emit); err != nil {
			return err
		}
		p.line = p.line[:0]
	}
	p.dispatch(emit, true)
	return nil
}

func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf < 0 {
		lf = len(b)
	}
	if cr := bytes.IndexByte(b[:lf], '\r'); cr >= 0 {
		return cr
	}
	if lf == len(b) {
		return -1
	}
	return lf
}

func (p *Parser) grow(b []byte) error {
	if len(p.line)+len(b) > p.max() {
		return ErrEventTooLarge
	}
	p.line = append(p.line, b...)
	return nil
}

func (p *Parser) max() int {
	if p.Max > 0 {
		return p.Max
	}
	return DefaultMaxEvent
}

func (p *Parser) endLine(line []byte, at time.Duration, emit func(Event)) error {
	if !p.started {
		p.started = true
		line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
	}
	if len(line) == 0 {
		p.dispatch(emit, false)
		return nil
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "data":
		if len(p.data)+len(value) > p.max() {
			return ErrEventTooLarge
		}
		if p.hasData {
			p.data = append(p.data, '\n')
		}
		p.data, p.hasData, p.at = append(p.data, value...), true, at
	case "event":
		p.name = append(p.name[:0], value...)
	}
	return nil // a comment has an empty field name; id and retry only matter to a client that reconnects
}

func (p *Parser) dispatch(emit func(Event), unfinished bool) {
	if p.hasData {
		emit(Event{p.name, p.data, p.at, unfinished})
	}
	p.name, p.data, p.hasData = p.name[:0], p.data[:0], false
}
