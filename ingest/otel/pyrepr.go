package otel

import (
	"encoding/json"
	"errors"
	"strings"
)

// Bounds on a Python literal: far beyond any usage object, far below what could exhaust the stack.
const (
	maxLiteral      = 4 << 20
	maxLiteralDepth = 100
)

// appendPython writes the repr of a Python value as JSON. Dictionaries, lists, tuples, sets, strings, bytes, numbers,
// True, False and None are what they look like; an object Name(a=1, 'b') becomes {"a":1} and <anything> becomes null.
func appendPython(out []byte, s string) ([]byte, error) {
	if len(s) > maxLiteral {
		return out, errLiteral
	}
	p := pyReader{s: s, out: out}
	p.value(0)
	p.space()
	if p.bad || p.i < len(p.s) {
		return p.out, errLiteral
	}
	return p.out, nil
}

var errLiteral = errors.New("expected a Python literal")

// pyReader reads s from i on and writes JSON to out; bad stays set after the first error.
type pyReader struct {
	s   string
	i   int
	out []byte
	bad bool
}

func (p *pyReader) space() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
}

// peek is the next byte that is not space, 0 at the end.
func (p *pyReader) peek() byte {
	p.space()
	if p.i == len(p.s) {
		return 0
	}
	return p.s[p.i]
}

// take consumes c if it comes next.
func (p *pyReader) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.i++
	return true
}

func (p *pyReader) value(depth int) {
	c := p.peek()
	switch {
	case depth > maxLiteralDepth:
		p.bad = true
	case c == '{':
		p.braces(depth)
	case c == '[':
		p.list('[', ']', depth)
	case c == '(':
		p.list('(', ')', depth)
	case c == '\'' || c == '"':
		p.text(false)
	case c == '<':
		p.angle()
	case c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9':
		p.number()
	default:
		p.word(depth)
	}
}

// list writes the elements up to the closing bracket as a JSON list.
func (p *pyReader) list(open, end byte, depth int) {
	p.take(open)
	p.out = append(p.out, '[')
	for n := 0; !p.bad && !p.take(end); n++ {
		p.out = comma(p.out, n)
		p.value(depth + 1)
		p.between(end)
	}
	p.out = append(p.out, ']')
}

// between wants a comma or, without consuming it, the end.
func (p *pyReader) between(end byte) {
	if !p.take(',') && p.peek() != end {
		p.bad = true
	}
}

// braces reads a dictionary, or a set as a list. Keys that are not text become text.
func (p *pyReader) braces(depth int) {
	p.take('{')
	start := len(p.out)
	p.out = append(p.out, '{')
	for n := 0; !p.bad && !p.take('}'); n++ {
		p.out = comma(p.out, n)
		key := len(p.out)
		p.value(depth + 1)
		switch {
		case p.take(':'):
			if !p.bad && p.out[key] != '"' {
				p.out = appendQuoted(p.out[:key], append([]byte(nil), p.out[key:]...))
			}
			p.out = append(p.out, ':')
			p.value(depth + 1)
		case n == 0: // no colon after the first: a set
			p.out[start] = '['
			p.rest(depth)
			return
		default:
			p.bad = true
		}
		p.between('}')
	}
	p.out = append(p.out, '}')
}

// rest reads a set behind its first element.
func (p *pyReader) rest(depth int) {
	p.between('}')
	for !p.bad && !p.take('}') {
		p.out = append(p.out, ',')
		p.value(depth + 1)
		p.between('}')
	}
	p.out = append(p.out, ']')
}

// number writes a number as it is; what JSON does not know (1_000, 1j, .5, 007) is refused, +1 loses its sign.
func (p *pyReader) number() {
	p.take('+')
	start := p.i
	for p.i < len(p.s) && strings.IndexByte("+-.eE0123456789", p.s[p.i]) >= 0 {
		p.i++
	}
	p.bad = p.bad || !json.Valid([]byte(p.s[start:p.i]))
	p.out = append(p.out, p.s[start:p.i]...)
}

// word reads a constant, a prefixed string (b'x', u'x') or an object Name(...).
func (p *pyReader) word(depth int) {
	start := p.i
	for p.i < len(p.s) && (p.s[p.i] == '_' || p.s[p.i] == '.' || p.s[p.i] >= 'A' && p.s[p.i] <= 'Z' || p.s[p.i] >= 'a' && p.s[p.i] <= 'z' || p.i > start && p.s[p.i] >= '0' && p.s[p.i] <= '9') {
		p.i++
	}
	switch w := p.s[start:p.i]; {
	case w == "":
		p.bad = true
	case p.i < len(p.s) && (p.s[p.i] == '\'' || p.s[p.i] == '"') && (w == "b" || w == "u" || w == "r"):
		p.text(w == "r")
	case w == "True" || w == "true":
		p.out = append(p.out, "true"...)
	case w == "False" || w == "false":
		p.out = append(p.out, "false"...)
	case w == "None" || w == "null" || w == "nan" || w == "inf":
		p.out = append(p.out, "null"...)
	case p.peek() == '(':
		p.object(depth)
	default:
		p.bad = true
	}
}

// object reads (a=1, 2): named arguments become members, others are passed over.
func (p *pyReader) object(depth int) {
	p.take('(')
	p.out = append(p.out, '{')
	for n := 0; !p.bad && !p.take(')'); {
		p.space()
		mark := len(p.out)
		if name := p.argument(); name != "" {
			p.out = append(appendQuoted(comma(p.out, n), []byte(name)), ':')
			p.value(depth + 1)
			n++
		} else {
			p.value(depth + 1)
			p.out = p.out[:mark]
		}
		p.between(')')
	}
	p.out = append(p.out, '}')
}

// argument consumes "name=" and returns the name; "" when something else comes.
func (p *pyReader) argument() string {
	end := strings.IndexByte(p.s[p.i:min(p.i+64, len(p.s))], '=')
	if end <= 0 {
		return ""
	}
	name := p.s[p.i : p.i+end]
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") != "" {
		return ""
	}
	p.i += end + 1
	return name
}

// angle passes over <ClassName object at 0x7f..>.
func (p *pyReader) angle() {
	end := strings.IndexByte(p.s[p.i:], '>')
	if end < 0 {
		p.bad = true
		return
	}
	p.i += end + 1
	p.out = append(p.out, "null"...)
}
