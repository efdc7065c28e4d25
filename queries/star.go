package queries

import (
	"regexp"
	"slices"
	"strings"
)

var (
	starPattern = regexp.MustCompile(`\* (?:EXCLUDE|REPLACE) \(`)
	replacing   = regexp.MustCompile(`^\s*REPLACE \(`)
	fromWord    = regexp.MustCompile(`\bFROM\b`)
	selectWord  = regexp.MustCompile(`^\s*SELECT(?: DISTINCT)?\s`)
	named       = regexp.MustCompile(`(?s)\bAS ([a-z_0-9]+)\s*$`)
	bareName    = regexp.MustCompile(`^(?:[a-z_]+\.)?([a-z_0-9]+)$`)
	tableName   = regexp.MustCompile(`^\s*([a-z_]+)`)
)

// stars writes out "* EXCLUDE (a, b) REPLACE (x AS c)" for engines that have only the bare star, in the order of the columns.
func stars(text string) string {
	for {
		masked := mask(text)
		m := starPattern.FindStringIndex(masked)
		if m == nil {
			return text
		}
		var out []string
		replaced := map[string]string{}
		end := closing(masked, m[1]-1)
		clause := text[m[1]:end]
		if strings.Contains(text[m[0]:m[1]], "EXCLUDE") {
			out = split(clause)
			clause = ""
			if r := replacing.FindStringIndex(masked[end+1:]); r != nil {
				from := end + 1 + r[1]
				end = closing(masked, from-1)
				clause = text[from:end]
			}
		}
		for _, item := range split(clause) {
			if n := named.FindStringSubmatch(item); n != nil {
				replaced[n[1]] = item
			}
		}
		from := outermost(masked, end+1, fromWord)
		if from == nil {
			return text
		}
		var list []string
		for _, c := range source(text[from[1]:]) {
			switch {
			case slices.Contains(out, c):
			case replaced[c] != "":
				list = append(list, replaced[c])
			default:
				list = append(list, c)
			}
		}
		text = text[:m[0]] + strings.Join(list, ", ") + text[end+1:]
	}
}

// source are the columns of what stands first after FROM: a view or a SELECT in brackets.
func source(text string) []string {
	masked := mask(text)
	if trimmed := strings.TrimLeft(masked, " \n"); strings.HasPrefix(trimmed, "(") {
		open := len(masked) - len(trimmed)
		return columns(text[open+1 : closing(masked, open)])
	}
	if n := tableName.FindStringSubmatch(masked); n != nil {
		return columns(load().views[n[1]].Text)
	}
	return nil
}

// columns are the names that a SELECT of the catalogue gives. A part of it that is not understood gives no name.
func columns(text string) []string {
	masked := mask(text)
	head := selectWord.FindStringIndex(masked)
	if head == nil {
		return nil
	}
	from := outermost(masked, head[1], fromWord)
	if from == nil {
		return nil
	}
	var names []string
	for _, item := range split(text[head[1]:from[0]]) {
		item = strings.TrimSpace(noiseComments.ReplaceAllString(item, ""))
		if item == "*" || strings.HasPrefix(item, "* ") {
			names = append(names, source(text[from[1]:])...)
		} else if n := named.FindStringSubmatch(item); n != nil {
			names = append(names, n[1])
		} else if n := bareName.FindStringSubmatch(item); n != nil {
			names = append(names, n[1])
		}
	}
	return names
}

var noiseComments = regexp.MustCompile(`--[^\n]*`)
