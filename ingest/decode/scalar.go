package decode

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// scalar reads the text, number or word at i and returns the index behind it. longer says that a text is likely to be
// longer than a few words.
func (d *doc) scalar(v *Value, i int, longer bool) (end int, err error) {
	v.long = false
	switch c := d.at(i); {
	case c == '"':
		v.kind = TypeString
		if v.long = longer; !longer {
			end = d.short(i)
		}
		if end == 0 {
			end, err = d.quoted(i)
			v.long = true
		}
	case c == '-' || c >= '0' && c <= '9':
		v.kind = TypeNumber
		if d.python {
			end, err = d.pythonNumber(i)
		} else {
			end, err = d.number(i)
		}
	case d.python:
		v.kind, end, err = d.pythonValue(i)
	default:
		v.kind, end, err = d.word(i)
	}
	return end, err
}

// short returns the index behind the string that opens at i when it is short and without a backslash, else 0. It looks
// at words of 8 bytes: most keys and many values end before a vectorised search has started.
func (d *doc) short(i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i++
	for range 5 {
		if i+8 > len(d.src) {
			return 0
		}
		w := binary.LittleEndian.Uint64(d.src[i:])
		q, b := w^('"'*ones), w^('\\'*ones)
		q, b = (q-ones)&^q&highs, (b-ones)&^b&highs // the lowest bit set is right, higher ones may not be
		if q != 0 && (b == 0 || q&-q < b&-b) {
			return i + bits.TrailingZeros64(q)/8 + 1
		} else if b != 0 {
			return 0
		}
		i += 8
	}
	return 0
}

// quoted returns the index behind the string that opens at i: the first quote with an even number of backslashes before
// it.
func (d *doc) quoted(i int) (int, error) {
	s := d.src[i+1:]
	for off := 0; ; off++ {
		n := bytes.IndexByte(s[off:], '"')
		if n < 0 {
			return len(d.src), errEnd
		}
		off += n
		k := off
		for k > 0 && s[k-1] == '\\' {
			k--
		}
		if (off-k)%2 == 0 {
			return i + 1 + off + 1, nil
		}
	}
}

// ofNumber are the bytes that a number is made of.
var ofNumber = [256]bool{'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'.': true, 'e': true, 'E': true, '+': true, '-': true}

func (d *doc) number(i int) (int, error) {
	start := i
	if d.src[i] == '-' {
		i++
	}
	digits := i
	for i < len(d.src) && ofNumber[d.src[i]] {
		i++
	}
	if i == digits || d.src[digits] < '0' || d.src[digits] > '9' {
		return i, d.expected("a number", start)
	}
	return i, nil
}

func (d *doc) word(i int) (Type, int, error) {
	s := d.src[min(i, len(d.src)):]
	switch {
	case len(s) >= 4 && string(s[:4]) == "null":
		return TypeNull, i + 4, nil
	case len(s) >= 4 && string(s[:4]) == "true":
		return TypeTrue, i + 4, nil
	case len(s) >= 5 && string(s[:5]) == "false":
		return TypeFalse, i + 5, nil
	}
	return 0, i, d.expected("a value", i)
}
