package queries

import "strings"

// keptMark stands in front of a step that [Keep] and [Stage] may move into a table.
const keptMark = "/* kept */"

// Keep cuts the base views that are kept out of a composed statement: each becomes a table, in order of need, that later
// statements with the same step read too. table names it from the statement that gives its rows. What the statement
// no longer reads is left out of it. A statement without kept views comes back as it is.
func Keep(text string, table func(text string) string) ([]Step, string) {
	list, body := steps(text)
	if !strings.Contains(text, keptMark) || list == nil {
		return nil, text
	}
	var out []Step
	for i, c := range list {
		if !strings.HasPrefix(c.text, keptMark) {
			continue
		}
		own := c
		own.text, own.mode = strings.TrimSpace(strings.TrimPrefix(c.text, keptMark)), "NOT MATERIALIZED"
		s := Step{Text: with(append(list[:i:i], own), "SELECT * FROM "+c.name, possibleTables)}
		s.Table = table(s.Text)
		out = append(out, s)
		list[i] = cte{c.name, "SELECT * FROM " + s.Table, "NOT MATERIALIZED"}
	}
	var needed []Step
	final := with(list, body, possibleTables)
	for i := len(out) - 1; i >= 0; i-- { // a step that only a kept one reads is not read by the rest
		reads := strings.Contains(final, out[i].Table)
		for _, s := range needed {
			reads = reads || strings.Contains(s.Text, out[i].Table)
		}
		if reads {
			needed = append([]Step{out[i]}, needed...)
		}
	}
	return needed, final
}

// with puts those of the steps in front of a text that it reads; reads finds the tables of a text.
func with(list []cte, body string, reads func(text string) []string) string {
	names := map[string]int{}
	for i, c := range list {
		names[c.name] = i
	}
	needed := map[string]bool{}
	var need func(text string)
	need = func(text string) {
		for _, name := range reads(text) {
			if i, ok := names[name]; ok && !needed[name] {
				needed[name] = true
				need(list[i].text)
			}
		}
	}
	need(body)
	var parts []string
	for _, c := range list {
		if needed[c.name] {
			mode := c.mode
			if mode != "" {
				mode += " "
			}
			parts = append(parts, c.name+" AS "+mode+"(\n"+c.text+"\n)")
		}
	}
	if parts == nil {
		return body
	}
	return "WITH " + strings.Join(parts, ",\n") + "\n" + body
}
