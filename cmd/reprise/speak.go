package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// printable makes text from a log safe for a terminal: control characters (ANSI sequences among them) become \xNN.
// Line breaks of our own messages stay.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != '\n' && (unicode.IsControl(r) || r == unicode.ReplacementChar) {
			fmt.Fprintf(&b, `\x%02x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// count writes 1284310 as 1,284,310.
func count(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// counted writes 1 as "1 request" and 1284 as "1,284 requests".
func counted[N int | int64](n N, what string) string {
	if n != 1 {
		what += "s"
	}
	return count(int64(n)) + " " + what
}

// reasons writes {"bad_json":2} as "2 bad_json", in order of name.
func reasons(m map[string]int64) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, count(m[k])+" "+k)
	}
	return strings.Join(parts, ", ")
}
