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

// tablePlace is where a text names a table, and whether another name follows.
type tablePlace struct {
	from, to int
	alias    bool
}

var (
	tableWord  = regexp.MustCompile(`(?i)\b(?:FROM|JOIN)\s+([a-z_][a-z0-9_]*)`)
	aliasWord  = regexp.MustCompile(`(?i)^\s+(?:AS\s+)?([a-z_][a-z0-9_]*)`)
	listedWord = regexp.MustCompile(`(?i)^\s*,\s*([a-z_][a-z0-9_]*)`)
	clauseWord = regexp.MustCompile(`(?i)^(?:WHERE|ON|USING|JOIN|LEFT|RIGHT|FULL|INNER|CROSS|NATURAL|SEMI|ANTI|ASOF|GROUP|ORDER|HAVING|QUALIFY|WINDOW|LIMIT|OFFSET|FETCH|UNION|INTERSECT|EXCEPT|TABLESAMPLE)$`)
)

// tablePlaces are the places of masked text after FROM, JOIN, and the commas of a list of names after these.
func tablePlaces(masked string) (out []tablePlace) {
	for _, m := range tableWord.FindAllStringSubmatchIndex(masked, -1) {
		for from, to := m[2], m[3]; ; {
			after := to
			a := aliasWord.FindStringSubmatchIndex(masked[to:])
			alias := a != nil && !clauseWord.MatchString(masked[to+a[2]:to+a[3]])
			if alias {
				after += a[1]
			}
			out = append(out, tablePlace{from, to, alias})
			next := listedWord.FindStringSubmatchIndex(masked[after:])
			if next == nil {
				break
			}
			from, to = after+next[2], after+next[3]
		}
	}
	return out
}

// tables are the names at the places of a text.
func tables(text string) (out []string) {
	for _, p := range tablePlaces(mask(text)) {
		out = append(out, strings.ToLower(text[p.from:p.to]))
	}
	return out
}

// possibleTables are these and all that stands after a comma: no table is missed, and a column among them does no harm.
func possibleTables(text string) (out []string) {
	for _, m := range afterComma.FindAllStringSubmatch(strings.ToLower(mask(text)), -1) {
		out = append(out, m[1])
	}
	return out
}

var afterComma = regexp.MustCompile(`(?:\b(?:from|join)\s+|,\s*)([a-z_][a-z0-9_]*)`)

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
