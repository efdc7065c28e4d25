package decode

import (
	"bytes"
	"strconv"
	"strings"
	"unsafe"
)

// Text returns the string at the path, or a number or boolean as it was written. JSON null, "None", "null", "-" and
// a missing key are "".
func Text(v *Value, path ...string) string {
	if v = v.Get(path...); v == nil {
		return ""
	}
	b := text(v)
	if len(b) > maxName || v.at == &v.doc.nowhere {
		return v.doc.kept.string(b)
	}
	const always = 32 // so often in a row another text: an id
	switch k := v.at.known; {
	case k.changed == always:
		return v.doc.kept.string(b)
	case string(b) != k.text: // often it is what it was in the record before
		k.text, k.changed = v.doc.kept.string(b), k.changed+1
		return k.text
	default:
		k.changed = 0
		return k.text
	}
}

// View is Text without a copy: valid as long as v is. It is for texts that are read or compared and not kept.
func View(v *Value, path ...string) string {
	b := text(v.Get(path...))
	return unsafe.String(unsafe.SliceData(b), len(b))
}

func text(v *Value) []byte {
	switch v.Type() {
	case TypeString:
		switch b := v.GetStringBytes(); string(b) {
		case "", "None", "null", "-":
		default:
			return b
		}
	case TypeTrue, TypeFalse:
		if v.doc.python {
			return bytes.ToLower(v.Raw())
		}
		return v.Raw()
	case TypeNumber:
		return v.Raw()
	}
	return nil
}

// Int returns the integer at the path, also when it is written as text or as 12.0; nil for anything else, never a
// rounded value.
func Int(v *Value, path ...string) *int64 {
	if v = v.Get(path...); v == nil {
		return nil
	}
	if v.Type() == TypeNumber && int(v.to-v.from) < len("999999999999999999") { // the common case
		if n, ok := digits(v.Raw()); ok {
			return v.doc.kept.int(n)
		}
	}
	s := View(v)
	if s == "" {
		return nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return v.doc.kept.int(n)
	}
	f, err := strconv.ParseFloat(s, 64)
	if n := int64(f); err == nil && float64(n) == f && f < 1<<53 && f > -1<<53 {
		return v.doc.kept.int(n)
	}
	return nil
}

// digits reads a number of digits alone, at most 18.
func digits[T string | []byte](s T) (n int64, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, len(s) > 0
}

// Bool returns the boolean at the path, also from the text "True" or "false"; nil for anything else.
func Bool(v *Value, path ...string) *bool {
	v = v.Get(path...)
	switch text := v.GetStringBytes(); {
	case v.Type() == TypeTrue || strings.EqualFold(string(text), "true"):
		return v.doc.kept.bool(true)
	case v.Type() == TypeFalse || strings.EqualFold(string(text), "false"):
		return v.doc.kept.bool(false)
	}
	return nil
}

// Has says whether the key exists at the path, whatever its value.
func Has(v *Value, path ...string) bool { return v.Exists(path...) }

// Nested parses JSON that is stored inside a string (or returns the object as it is). nil when there is none or it
// does not parse: the text was cut.
func Nested(v *Value, path ...string) *Value {
	v = v.Get(path...)
	if v == nil || v.Type() != TypeString {
		return v
	}
	b := v.GetStringBytes()
	if len(b) == 0 || (b[0] != '{' && b[0] != '[') {
		return nil
	}
	inner, err := Parse(b)
	if err != nil {
		return nil
	}
	return inner
}
