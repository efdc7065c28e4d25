package reports

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain makes a name from a log safe to show: what cannot be seen (control characters, escape sequences, marks that
// turn the direction of writing, broken UTF-8) is spelt out as a Go escape. Without this a model name could clear the
// reader's terminal or show a row in another order than it has.
func plain(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i])|0x100, 16)[1:])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		i += size
	}
	return b.String()
}

func isPlain(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// shorten cuts s to at most n runes, the last one an ellipsis when something was cut.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
