package wire

import (
	"encoding/json"
	"unicode/utf8"
)

// maxDepth bounds nesting, so that hostile JSON cannot exhaust the stack.
const maxDepth = 200

// scan walks over one JSON value and builds nothing: a frame of a stream holds ten facts that count, and decoding it
// with encoding/json costs several times as much as everything else the client does with it (BenchmarkFrame).
// The grammar is checked as strictly as json.Valid does; bad is set at the first violation.
type scan struct {
	b     []byte
	i     int
	depth int
	bad   bool
}

// finish says whether the whole input was one valid value.
func (s *scan) finish() bool {
	s.space()
	return !s.bad && s.i == len(s.b)
}

func (s *scan) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\n' || s.b[s.i] == '\r' || s.b[s.i] == '\t') {
		s.i++
	}
}

// peek returns the first byte of the next value, 0 at the end or after an error.
func (s *scan) peek() byte {
	s.space()
	if s.bad || s.i >= len(s.b) {
		return 0
	}
	return s.b[s.i]
}

func (s *scan) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.i++
	return true
}

// object calls field for each key of an object; field must consume the value. Any other value is skipped.
func (s *scan) object(field func(key []byte)) {
	s.list('{', '}', func() {
		key, ok := s.text()
		if !ok || !s.take(':') {
			s.bad = true
			return
		}
		field(key)
	})
}

// array calls item for each element of an array; item must consume it. Any other value is skipped.
func (s *scan) array(item func()) { s.list('[', ']', item) }

func (s *scan) list(open, end byte, item func()) {
	if s.peek() != open {
		s.skip()
		return
	}
	s.i++
	if s.depth++; s.depth > maxDepth {
		s.bad = true
	}
	for more := !s.take(end); more && !s.bad; {
		item()
		if more = s.take(','); !more && !s.take(end) {
			s.bad = true
		}
	}
	s.depth--
}

// skip passes over any value.
func (s *scan) skip() {
	switch c := s.peek(); {
	case c == '{':
		s.object(func([]byte) { s.skip() })
	case c == '[':
		s.array(s.skip)
	case c == '"':
		s.text()
	case c == 't':
		s.word("true")
	case c == 'f':
		s.word("false")
	case c == 'n':
		s.word("null")
	case c == '-' || digit(c):
		s.number()
	default:
		s.bad = true
	}
}

func (s *scan) word(w string) {
	if s.i+len(w) > len(s.b) || string(s.b[s.i:s.i+len(w)]) != w {
		s.bad = true
		return
	}
	s.i += len(w)
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scan) digits() {
	if s.i >= len(s.b) || !digit(s.b[s.i]) {
		s.bad = true
	}
	for s.i < len(s.b) && digit(s.b[s.i]) {
		s.i++
	}
}

func (s *scan) at(c byte) bool { return s.i < len(s.b) && s.b[s.i] == c }

func (s *scan) number() {
	if s.at('-') {
		s.i++
	}
	if s.at('0') {
		s.i++
	} else {
		s.digits()
	}
	if s.at('.') {
		s.i++
		s.digits()
	}
	if s.at('e') || s.at('E') {
		if s.i++; s.at('+') || s.at('-') {
			s.i++
		}
		s.digits()
	}
}

// integer returns a non-negative whole number below 10^18; ok is false (and the value is skipped) for anything else.
func (s *scan) integer() (n int64, ok bool) {
	s.space()
	start := s.i
	s.skip()
	text := s.b[start:s.i]
	if s.bad || len(text) > 18 {
		return 0, false
	}
	for _, c := range text {
		if !digit(c) {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// count is integer for a field that may be unknown.
func (s *scan) count() *int64 {
	n, ok := s.integer()
	if !ok {
		return nil
	}
	return &n
}

// name returns a string, or a number as it is written; "" for anything else.
func (s *scan) name() string {
	if s.peek() == '"' {
		raw, _ := s.text()
		return plain(raw)
	}
	start := s.i
	s.skip()
	if text := s.b[start:s.i]; len(text) > 0 && (digit(text[0]) || text[0] == '-') {
		return string(text)
	}
	return ""
}

// text returns a string as it stands between its quotes, escapes and all. ok is false (and the value is skipped) for
// anything else.
func (s *scan) text() (raw []byte, ok bool) {
	if s.peek() != '"' {
		s.skip()
		return nil, false
	}
	start := s.i + 1
	b := s.b
	for i := start; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			s.i = i + 1
			return b[start:i], true
		case c == '\\':
			if i = escape(b, i); i < 0 {
				s.bad = true
				return nil, false
			}
		case c < ' ':
			s.bad = true
			return nil, false
		}
	}
	s.bad = true
	return nil, false
}

// escape returns the place of the last byte of the escape that begins at b[i], -1 when it is none.
func escape(b []byte, i int) int {
	if i+1 >= len(b) {
		return -1
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		if i+5 < len(b) && hex(b[i+2]) && hex(b[i+3]) && hex(b[i+4]) && hex(b[i+5]) {
			return i + 5
		}
	}
	return -1
}

func hex(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// plain decodes a string returned by text.
func plain(raw []byte) string {
	var s string
	if json.Unmarshal(append(append([]byte{'"'}, raw...), '"'), &s) != nil {
		return ""
	}
	return s
}

// textSize returns the length of a string returned by text: bytes of its UTF-8 form and characters.
func textSize(raw []byte) (size, chars int) {
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '\\' && raw[i+1] == 'u':
			n := unicodeSize(raw[i:])
			i, size = i+n, size+utf8Size(raw[i:i+n])
		case c == '\\':
			i, size = i+2, size+1
		case c < utf8.RuneSelf:
			i, size = i+1, size+1
		default:
			_, n := utf8.DecodeRune(raw[i:])
			i, size = i+n, size+n
		}
		chars++
	}
	return size, chars
}

// unicodeSize is the length in the source of one character written as \uXXXX, 12 for a surrogate pair.
func unicodeSize(raw []byte) int {
	if len(raw) >= 12 && highSurrogate(raw[2:]) && raw[6] == '\\' && raw[7] == 'u' && lowSurrogate(raw[8:]) {
		return 12
	}
	return 6
}

func highSurrogate(h []byte) bool {
	return h[0]|0x20 == 'd' && (h[1] == '8' || h[1] == '9' || h[1]|0x20 == 'a' || h[1]|0x20 == 'b')
}

func lowSurrogate(h []byte) bool { return h[0]|0x20 == 'd' && h[1]|0x20 >= 'c' }

func utf8Size(escaped []byte) int { return len(plain(escaped)) }
