package queries

import (
	"regexp"
	"strings"
)

// mask is the text with comments and string literals blanked, byte for byte, so that a place in one is a place in the other.
func mask(text string) string {
	return noise.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
}

// closing is the place in masked text of the bracket that closes the one at open; len(masked) when none does.
func closing(masked string, open int) int {
	depth := 0
	for i := open; i < len(masked); i++ {
		switch masked[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(masked)
}

// split cuts the text at its outermost commas.
func split(text string) []string {
	masked := mask(text)
	var parts []string
	depth, from := 0, 0
	for i := range len(masked) {
		switch masked[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts, from = append(parts, strings.TrimSpace(text[from:i])), i+1
			}
		}
	}
	return append(parts, strings.TrimSpace(text[from:]))
}

// outermost is the first match of the pattern in masked text from a place on that stands in no bracket; nil without one.
func outermost(masked string, from int, pattern *regexp.Regexp) []int {
	for _, m := range pattern.FindAllStringIndex(masked[from:], -1) {
		before := masked[from : from+m[0]]
		if strings.Count(before, "(") == strings.Count(before, ")") {
			return []int{from + m[0], from + m[1]}
		}
	}
	return nil
}

// cte is one step of a WITH. mode is MATERIALIZED, NOT MATERIALIZED or "".
type cte struct{ name, text, mode string }

var (
	cteHead = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_]*)\s+AS\s*((?:NOT\s+)?MATERIALIZED\s*)?\(`)
	comma   = regexp.MustCompile(`^\s*,`)
)

// steps cuts a statement in the steps of its outermost WITH and what stands after them.
func steps(text string) ([]cte, string) {
	masked := mask(text)
	head := leadingWith.FindStringIndex(masked)
	if head == nil {
		return nil, strings.TrimSpace(text)
	}
	var list []cte
	at := head[1]
	for {
		m := cteHead.FindStringSubmatchIndex(masked[at:])
		if m == nil {
			return nil, strings.TrimSpace(text) // a form that is not ours, such as a list of columns: it stays whole
		}
		end := closing(masked, at+m[1]-1)
		c := cte{name: strings.ToLower(text[at+m[2] : at+m[3]]), text: strings.TrimSpace(text[at+m[1] : min(end, len(text))])}
		if m[4] >= 0 {
			c.mode = strings.TrimSpace(text[at+m[4] : at+m[5]])
		}
		list = append(list, c)
		at = min(end+1, len(text))
		next := comma.FindStringIndex(masked[at:])
		if next == nil {
			return list, strings.TrimSpace(text[at:])
		}
		at += next[1]
	}
}

var leadingWith = regexp.MustCompile(`^\s*(?i:WITH)\s`)
