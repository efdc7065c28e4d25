package queries

import "strings"

// keptMark stands in front of a step that [Keep] and [Stage] may move into a table, sweptMark in front of one that a sweep may fill.
const (
	keptMark  = "/* kept */"
	sweptMark = "/* swept "
)

// Kept is a step that is worked out once for all statements: a table with the rows of Text. Where Sweep is set, the sweep
// of that name, the first word, gives the same rows from those of Reads, statements by the name of a view, without a row a chunk gap.
type Kept struct {
	Step
	Sweep string
	Reads map[string]string
}

// reads says whether working out the step reads the table.
func (k Kept) reads(table string) bool {
	if k.Sweep == "" {
		return strings.Contains(k.Text, table)
	}
	for _, text := range k.Reads {
		if strings.Contains(text, table) {
			return true
		}
	}
	return false
}

// Keep cuts the base views that are kept or swept out of a composed statement: each becomes a table, in order of need, that later
// statements with the same step read too. table names it from the statement that gives its rows. What the statement
// no longer reads is left out of it. A statement without such views comes back as it is.
func Keep(text string, table func(text string) string) ([]Kept, string) {
	list, body := steps(text)
	if !strings.Contains(text, keptMark) && !strings.Contains(text, sweptMark) || list == nil {
		return nil, text
	}
	var out []Kept
	for i, c := range list {
		mark, own, ok := marked(c)
		if !ok {
			continue
		}
		k := Kept{Step: Step{Text: with(append(list[:i:i], own), "SELECT * FROM "+c.name, possibleTables)}}
		k.Table = table(k.Text)
		if sweep, views, ok := strings.Cut(mark, " | "); ok {
			k.Sweep, k.Reads = sweep, map[string]string{}
			for _, view := range strings.Fields(views) {
				k.Reads[view] = with(list[:i], "SELECT * FROM "+view, possibleTables)
			}
		}
		out = append(out, k)
		list[i] = cte{c.name, "SELECT * FROM " + k.Table, "NOT MATERIALIZED"}
	}
	final := with(list, body, possibleTables)
	return needed(out, final), final
}

// marked is a step without its mark, and what a sweep's mark says; ok when it has one.
func marked(c cte) (sweep string, own cte, ok bool) {
	own = c
	own.mode = "NOT MATERIALIZED"
	if text, ok := strings.CutPrefix(c.text, keptMark); ok {
		own.text = strings.TrimSpace(text)
		return "", own, true
	}
	rest, ok := strings.CutPrefix(c.text, sweptMark)
	sweep, text, _ := strings.Cut(rest, " */")
	own.text = strings.TrimSpace(text)
	return sweep, own, ok
}

// needed leaves out the steps that only others read which are left out, or swept.
func needed(all []Kept, final string) []Kept {
	var out []Kept
	for i := len(all) - 1; i >= 0; i-- {
		reads := strings.Contains(final, all[i].Table)
		for _, k := range out {
			reads = reads || k.reads(all[i].Table)
		}
		if reads {
			out = append([]Kept{all[i]}, out...)
		}
	}
	return out
}

// with puts those of the steps in front of a text that it reads, each behind what it reads itself: the text of a step is the same in
// whatever statement it stands. reads finds the tables of a text.
func with(list []cte, body string, reads func(text string) []string) string {
	names := map[string]int{}
	for i, c := range list {
		names[c.name] = i
	}
	var parts []string
	done := map[string]bool{}
	var need func(text string, before int)
	need = func(text string, before int) {
		for _, name := range reads(text) {
			i, ok := names[name]
			if !ok || i >= before || done[name] { // no step reads a later one: that is a column of the name
				continue
			}
			done[name] = true
			need(list[i].text, i)
			mode := list[i].mode
			if mode != "" {
				mode += " "
			}
			parts = append(parts, list[i].name+" AS "+mode+"(\n"+list[i].text+"\n)")
		}
	}
	need(body, len(list))
	if parts == nil {
		return body
	}
	return "WITH " + strings.Join(parts, ",\n") + "\n" + body
}
