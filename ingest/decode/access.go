package decode

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Exists says whether there is a value at the path, null included.
func (v *Value) Exists(path ...string) bool { return v.Get(path...) != nil }

// GetObject returns the value at the path if it is an object, else nil.
func (v *Value) GetObject(path ...string) *Value {
	if v = v.Get(path...); v.Type() == TypeObject {
		return v
	}
	return nil
}

// Blank says that the value is an object without members.
func (v *Value) Blank() bool { return v.Type() == TypeObject && v.first() == nil }

// GetArray returns the elements of the array at the path; nil when it is none.
func (v *Value) GetArray(path ...string) []*Value {
	v = v.Get(path...)
	if v.Type() != TypeArray {
		return nil
	}
	start := len(v.doc.list)
	for c := v.first(); c != nil; c = v.after(c) {
		v.doc.list = append(v.doc.list, c)
	}
	return v.doc.list[start:len(v.doc.list):len(v.doc.list)]
}

// GetStringBytes returns the text of the string at the path, unescaped; nil when it is none.
func (v *Value) GetStringBytes(path ...string) []byte {
	v = v.Get(path...)
	if v.Type() != TypeString {
		return nil
	}
	s := v.doc.src[v.from+1 : v.to-1]
	if !v.long {
		return s
	}
	return v.doc.unescape(s)
}

// Raw returns the value as it is written.
func (v *Value) Raw() []byte {
	if v == nil {
		return nil
	}
	return v.doc.src[v.from:v.to]
}

// MarshalTo appends the value as JSON without white space between its parts; strings and numbers as they are written.
func (v *Value) MarshalTo(dst []byte) []byte {
	switch v.Type() {
	case 0:
		return dst
	case TypeObject, TypeArray:
	default:
		if v.doc.python {
			return v.pythonScalar(dst)
		}
		return append(dst, v.Raw()...)
	}
	open := v.doc.src[v.from]
	dst = append(dst, open)
	for c := v.first(); c != nil; c = v.after(c) {
		if c != v.first() {
			dst = append(dst, ',')
		}
		if open == '{' {
			dst = append(append(append(dst, '"'), v.doc.src[c.key:c.keyTo]...), '"', ':')
		}
		dst = c.MarshalTo(dst)
	}
	return append(dst, open+2)
}

// String returns the value as JSON.
func (v *Value) String() string { return string(v.MarshalTo(nil)) }

// unescape returns s without its escapes: s itself when it has none. Escapes that JSON does not know stay as they are.
func (d *doc) unescape(s []byte) []byte {
	n := bytes.IndexByte(s, '\\')
	if n < 0 {
		return s
	}
	d.text = slices.Grow(d.text, len(s)) // the result is no longer: a long text is copied once
	start := len(d.text)
	for n >= 0 {
		d.text = append(d.text, s[:n]...)
		s = d.escape(s[n:])
		n = bytes.IndexByte(s, '\\')
	}
	d.text = append(d.text, s...)
	return d.text[start:len(d.text):len(d.text)]
}

const escaped, plain = `"\/bfnrt`, "\"\\/\b\f\n\r\t"

// escape decodes the escape at the start of s and returns the rest.
func (d *doc) escape(s []byte) []byte {
	if len(s) < 2 {
		d.text = append(d.text, s...)
		return nil
	}
	if i := bytes.IndexByte([]byte(escaped), s[1]); i >= 0 {
		d.text = append(d.text, plain[i])
		return s[2:]
	}
	r, ok := hex4(s)
	if !ok {
		d.text = append(d.text, s[:2]...)
		return s[2:]
	}
	s = s[6:]
	if low, ok := hex4(s); utf16.IsSurrogate(r) && ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			r, s = pair, s[6:]
		}
	}
	d.text = utf8.AppendRune(d.text, r) // a lone surrogate becomes U+FFFD
	return s
}

// hex4 reads \uXXXX.
func hex4(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return rune(n), err == nil
}
