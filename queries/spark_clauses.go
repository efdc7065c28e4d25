package queries

import (
	"regexp"
	"strings"
)

var (
	unnestPattern = regexp.MustCompile(`\bCROSS JOIN UNNEST\(`)
	listedAs      = regexp.MustCompile(`^( WITH ORDINALITY)? AS ([a-z_]+)\(`)
)

// lateralViews rewrites CROSS JOIN UNNEST(list, ...) [WITH ORDINALITY] AS name(columns). The first of several lists is the longest, or as long.
func lateralViews(text string) string {
	for {
		masked := mask(text)
		m := unnestPattern.FindStringIndex(masked)
		if m == nil {
			return text
		}
		end := closing(masked, m[1]-1)
		as := listedAs.FindStringSubmatchIndex(masked[end+1:])
		if as == nil {
			return text
		}
		after := closing(masked, end+as[1])
		lists, columns := split(text[m[1]:end]), text[end+1+as[1]:after]
		rows := "explode(" + lists[0] + ")"
		switch {
		case as[2] >= 0:
			fields := "x"
			for _, l := range lists[1:] {
				fields += ", try_element_at(" + l + ", i + 1)"
			}
			rows = "inline(transform(" + lists[0] + ", (x, i) -> struct(" + fields + ", CAST(i + 1 AS BIGINT))))"
		case strings.Contains(columns, ","): // of rows
			rows = "inline(" + lists[0] + ")"
		}
		text = text[:m[0]] + "LATERAL VIEW " + rows + " " + text[end+1+as[4]:end+1+as[5]] + " AS " + columns + text[after+1:]
	}
}

// constructors rewrites ROW and ARRAY, of types and of values.
func constructors(text string) string {
	for _, c := range []struct{ word, open, close string }{{"AS ROW(", "AS STRUCT<", ">"}, {"ROW(", "struct(", ")"}, {"ARRAY[", "array(", ")"}} {
		for at := 0; ; {
			masked := mask(text)
			i := strings.Index(masked[at:], c.word)
			if i < 0 {
				break
			}
			from := at + i
			end := closing(masked, from+len(c.word)-1)
			text = text[:from] + c.open + text[from+len(c.word):end] + c.close + text[end+1:]
			at = from + len(c.open)
		}
	}
	return text
}

var rankPattern = regexp.MustCompile(`\brow_number\(\) OVER \(`)

// wideRanks makes whole numbers of 64 bits of ranks, as they are elsewhere: products of theirs would overflow.
func wideRanks(text string) string {
	at := 0
	for {
		masked := mask(text)
		m := rankPattern.FindStringIndex(masked[at:])
		if m == nil {
			return text
		}
		from, end := at+m[0], closing(masked, at+m[1]-1)
		text = text[:from] + "CAST(" + text[from:end+1] + " AS BIGINT)" + text[end+1:]
		at = from + len("CAST(") + m[1] - m[0]
	}
}

var (
	orderPattern = regexp.MustCompile(`\bORDER BY `)
	frameWord    = regexp.MustCompile(`\s(?:ROWS|RANGE|LIMIT)\b`)
)

// nullsLast says of every order where unknown values stand: first, for Spark, where the other engines have them last.
func nullsLast(text string) string {
	for at := 0; ; {
		masked := mask(text)
		m := orderPattern.FindStringIndex(masked[at:])
		if m == nil {
			return text
		}
		from := at + m[1]
		end := unopened(masked, from)
		if f := outermost(masked[:end], from, frameWord); f != nil {
			end = f[0]
		}
		end = from + len(strings.TrimRight(text[from:end], " \n"))
		var items []string
		for _, item := range split(text[from:end]) {
			if !strings.Contains(item, " NULLS ") {
				item += " NULLS LAST"
			}
			items = append(items, item)
		}
		text = text[:from] + strings.Join(items, ", ") + text[end:]
		at = from
	}
}

// unopened is the place of the bracket that closes one before from; len(masked) without one.
func unopened(masked string, from int) int {
	depth := 0
	for i := from; i < len(masked); i++ {
		switch masked[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return len(masked)
}
