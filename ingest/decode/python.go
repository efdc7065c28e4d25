package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// PythonParser is a [Parser] of what Python prints for dictionaries and lists of texts, numbers, True, False and None, as
// long as no text holds an escape or a quote. For all else it gives an error: it may be a literal nevertheless.
type PythonParser struct{ doc doc }

// maxPython bounds the nesting of a Python literal.
const maxPython = 100

// ParseBytes parses one literal. The value points into b.
func (p *PythonParser) ParseBytes(b []byte) (*Value, error) {
	if i := bytes.IndexByte(b, '"'); i >= 0 { // around a text with an apostrophe, or to be escaped in JSON
		return nil, fmt.Errorf("expected no quote, got one at byte %d", i)
	}
	p.doc.python = true
	return p.doc.parse(b)
}

// pythonText returns the index behind the text that opens at i. What is in it could stand in JSON.
func (d *doc) pythonText(i int) (int, error) {
	if d.at(i) != '\'' {
		return i, d.expected("a text", i)
	}
	s := d.src[i+1:]
	n := bytes.IndexByte(s, '\'')
	if n < 0 {
		return len(d.src), errEnd
	}
	ascii := true
	for _, c := range s[:n] {
		if c == '\\' || c < ' ' {
			return i, d.expected("a text without escapes", i)
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if !ascii && !utf8.Valid(s[:n]) {
		return i, d.expected("a text in UTF-8", i)
	}
	return i + 1 + n + 1, nil
}

// pythonNumber is number without what JSON does not know, such as 007.
func (d *doc) pythonNumber(i int) (int, error) {
	end, err := d.number(i)
	if err != nil {
		return end, err
	}
	s := d.src[i:end]
	if _, simple := digits(s); (!simple || s[0] == '0' && len(s) > 1) && !json.Valid(s) {
		return i, d.expected("a number", i)
	}
	return end, nil
}

// pythonValue reads a text or a word.
func (d *doc) pythonValue(i int) (Type, int, error) {
	s := d.src[min(i, len(d.src)):]
	switch {
	case len(s) > 0 && s[0] == '\'':
		end, err := d.pythonText(i)
		return TypeString, end, err
	case len(s) >= 4 && string(s[:4]) == "None":
		return TypeNull, i + 4, nil
	case len(s) >= 4 && string(s[:4]) == "True":
		return TypeTrue, i + 4, nil
	case len(s) >= 5 && string(s[:5]) == "False":
		return TypeFalse, i + 5, nil
	}
	return 0, i, d.expected("a value", i)
}

// pythonScalar appends a value that is no list or dictionary as JSON.
func (v *Value) pythonScalar(dst []byte) []byte {
	switch v.kind {
	case TypeString:
		return append(append(append(dst, '"'), v.doc.src[v.from+1:v.to-1]...), '"')
	case TypeNull:
		return append(dst, "null"...)
	}
	return append(dst, text(v)...)
}
