package otel

import (
	"strconv"
	"unicode/utf8"
)

// text reads a string literal in either quote.
func (p *pyReader) text(isRaw bool) {
	quote := p.s[p.i]
	p.i++
	var b []byte
	for p.i < len(p.s) && p.s[p.i] != quote {
		if p.s[p.i] == '\\' && !isRaw {
			b = p.escape(b)
			continue
		}
		b = append(b, p.s[p.i])
		p.i++
	}
	if p.i == len(p.s) {
		p.bad = true
		return
	}
	p.i++
	p.out = appendQuoted(p.out, b)
}

var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'a': 7, 'b': 8, 'f': 12, 'v': 11, '0': 0, '\\': '\\', '\'': '\'', '"': '"'}

// escapeDigits is how many hex digits follow.
var escapeDigits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

func (p *pyReader) escape(b []byte) []byte {
	if p.i+1 == len(p.s) {
		p.i++
		return b
	}
	c := p.s[p.i+1]
	p.i += 2
	if plain, ok := escapes[c]; ok {
		return append(b, plain)
	}
	n := escapeDigits[c]
	if n == 0 || p.i+n > len(p.s) {
		return append(b, '\\', c)
	}
	r, err := strconv.ParseUint(p.s[p.i:p.i+n], 16, 32)
	if err != nil {
		return append(b, '\\', c)
	}
	p.i += n
	return utf8.AppendRune(b, rune(r))
}
