package engine

import "strings"

// pyDict reads the repr of a Python dict as flat names: nested dicts give "outer.inner". Strings lose their quotes and
// simple escapes, other scalars stay as written, None is left out, lists are skipped. ok is false where the text ends
// inside it or is something else.
func pyDict(text string) (fields map[string]string, ok bool) {
	p := pyReader{text: text, fields: map[string]string{}}
	return p.fields, p.dict("", 0)
}

type pyReader struct {
	text   string
	at     int
	fields map[string]string
}

const maxPyDepth, maxPyFields = 16, 256

func (p *pyReader) skipSpace() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// eat consumes c if it is next.
func (p *pyReader) eat(c byte) bool {
	p.skipSpace()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *pyReader) dict(prefix string, depth int) bool {
	if depth > maxPyDepth || !p.eat('{') {
		return false
	}
	for !p.eat('}') {
		key, ok := p.quoted()
		if !ok || !p.eat(':') || !p.value(prefix+key, depth) {
			return false
		}
		if !p.eat(',') && !(p.at < len(p.text) && p.text[p.at] == '}') {
			return false
		}
	}
	return true
}

func (p *pyReader) value(name string, depth int) bool {
	p.skipSpace()
	if p.at >= len(p.text) {
		return false
	}
	switch p.text[p.at] {
	case '{':
		return p.dict(name+".", depth+1)
	case '[', '(':
		return p.list(depth + 1)
	case '\'', '"':
		s, ok := p.quoted()
		p.keep(name, s)
		return ok
	}
	end := strings.IndexAny(p.text[p.at:], ",}])")
	if end < 0 {
		return false
	}
	if s := strings.TrimSpace(p.text[p.at : p.at+end]); s != "None" {
		p.keep(name, s)
	}
	p.at += end
	return true
}

func (p *pyReader) keep(name, s string) {
	if _, twice := p.fields[name]; !twice && len(p.fields) < maxPyFields {
		p.fields[name] = s
	}
}

// list skips a list or tuple.
func (p *pyReader) list(depth int) bool {
	closing := byte(']')
	if p.text[p.at] == '(' {
		closing = ')'
	}
	p.at++
	for !p.eat(closing) {
		if depth > maxPyDepth || !p.value("", depth) {
			return false
		}
		if !p.eat(',') && !(p.at < len(p.text) && p.text[p.at] == closing) {
			return false
		}
	}
	delete(p.fields, "")
	return true
}

// quoted reads a string in either kind of quotes.
func (p *pyReader) quoted() (string, bool) {
	p.skipSpace()
	if p.at >= len(p.text) || p.text[p.at] != '\'' && p.text[p.at] != '"' {
		return "", false
	}
	quote := p.text[p.at]
	b := strings.Builder{}
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == quote:
			p.at++
			return b.String(), true
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			b.WriteByte(p.text[p.at])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}
