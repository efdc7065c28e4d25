package mapping

import (
	"bytes"
	"strconv"
)

// pairs appends the key=value pairs of a line as members. A value may stand in double quotes, in which a backslash
// takes away a quote's meaning. Words without a value are the members "1", "2" and so on: the time and the level often
// stand so.
func pairs(dst, line []byte) []byte {
	words := 0
	for {
		line = bytes.TrimLeft(line, " \t")
		if len(line) == 0 {
			return dst
		}
		n := bytes.IndexAny(line, "= \t")
		if n <= 0 || line[n] != '=' { // a word; one that begins with = is odd, but a word
			word := line
			if n = bytes.IndexAny(line, " \t"); n >= 0 {
				word = line[:n]
			}
			words++
			dst, line = appendMember(dst, strconv.AppendInt(nil, int64(words), 10), word), line[len(word):]
			continue
		}
		value, rest := valueOf(line[n+1:])
		dst, line = appendMember(dst, line[:n], value), rest
	}
}

// valueOf cuts the value at the start of s off.
func valueOf(s []byte) (value, rest []byte) {
	if len(s) == 0 || s[0] != '"' {
		if n := bytes.IndexAny(s, " \t"); n >= 0 {
			return s[:n], s[n:]
		}
		return s, nil
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i < len(s) && (s[i] == '"' || s[i] == '\\') {
				value = append(value, s[i])
			} else {
				value = append(value, s[i-1:min(i+1, len(s))]...)
			}
		case '"':
			return value, s[i+1:]
		default:
			value = append(value, s[i])
		}
	}
	return value, nil // a quote that is never closed
}
