package queries

import (
	"fmt"
	"strings"
)

// Step is an intermediate result that is worked out once and kept as a table: its name, and the statement that gives its rows.
type Step struct{ Table, Text string }

// MaxScans is how often one statement may read the run before its steps are kept in tables. An engine that works out each
// step of a WITH wherever it is read, as Trino does, bounds the stages of a statement (150 by default).
const MaxScans = 24

// Stage cuts a composed statement for an engine that does not keep the steps of a WITH. With keep, the base views that are kept become
// tables, as with [Keep]. A statement that still reads the run more than MaxScans times is cut further: each step that is read twice or
// more and is more than one reading of the run becomes a table. table names it from the statement of the step, so that equal steps of
// several statements are one. A statement without tables comes back as it is.
func Stage(text string, keep bool, table func(text string) string) ([]Step, string) {
	g := graph{nodes: map[string]*node{}}
	final := g.add("", text, nil)
	if keep {
		for _, n := range g.nodes {
			if n.kept {
				n.table = keptMark // named below
			}
		}
	}
	large := g.scans(final, map[string]int{}) > MaxScans
	for _, n := range g.nodes {
		large = large || n.table != "" && g.scans(n, map[string]int{}) > MaxScans
	}
	var out []Step
	for _, name := range g.order {
		n := g.nodes[name]
		if n.table != "" || large && n.readers > 1 && g.scans(n, map[string]int{}) > 1 {
			s := Step{Text: g.statement(n)}
			s.Table = table(s.Text)
			n.table = s.Table
			out = append(out, s)
		}
	}
	if out == nil {
		return nil, text
	}
	return out, g.statement(final)
}

// graph holds the steps of a statement, those inside of steps too, under names of their own.
type graph struct {
	nodes map[string]*node
	order []string
}

// node is one step: reads are the names of others that it reads, as often as it does; table is where it is, "" in the statement itself;
// kept says that it is a base view that is kept.
type node struct {
	name, text, table string
	reads             []string
	readers           int
	kept              bool
}

// add takes a SELECT, which may begin with a WITH of its own. scope says what the names of steps mean here.
func (g *graph) add(name, text string, scope map[string]string) *node {
	inner := map[string]string{}
	for k, v := range scope {
		inner[k] = v
	}
	list, body := steps(text)
	for _, c := range list {
		unique := c.name
		for i := 2; g.nodes[unique] != nil || unique == name; i++ {
			unique = fmt.Sprintf("%s_%d", c.name, i)
		}
		own, kept := strings.CutPrefix(c.text, keptMark)
		g.nodes[unique] = g.add(unique, own, inner)
		g.nodes[unique].kept = kept
		g.order = append(g.order, unique)
		inner[c.name] = unique
	}
	n := &node{name: name}
	n.text = readTables(body, func(table string) string {
		unique, ok := inner[table]
		if !ok {
			return table
		}
		n.reads = append(n.reads, unique)
		g.nodes[unique].readers++
		return unique
	})
	return n
}

// readTables gives every table that the text reads another name; one without a name of its own keeps the old one.
func readTables(text string, rename func(table string) string) string {
	var b strings.Builder
	at := 0
	for _, p := range tablePlaces(mask(text)) {
		old := strings.ToLower(text[p.from:p.to])
		name := rename(old)
		b.WriteString(text[at:p.from] + name)
		if name != old && !p.alias {
			b.WriteString(" AS " + old)
		}
		at = p.to
	}
	return b.String() + text[at:]
}

// scans counts how often working out the node reads the run, or the table of a step.
func (g *graph) scans(n *node, known map[string]int) int {
	total := strings.Count(n.text, sourceMark)
	for _, name := range n.reads {
		if g.nodes[name].table != "" {
			total++
			continue
		}
		if _, ok := known[name]; !ok {
			known[name] = g.scans(g.nodes[name], known)
		}
		total += known[name]
	}
	return total
}

// sourceMark stands beside the table of a run wherever a composed statement reads it.
const sourceMark = "/* run */"

// statement is the node's text with those steps in front that it reads and that are not tables.
func (g *graph) statement(n *node) string {
	var list []cte
	for _, name := range g.order {
		if step := g.nodes[name]; step.table == "" && step != n {
			list = append(list, cte{name: name, text: g.tables(step)})
		}
	}
	return with(list, g.tables(n), tables)
}

// tables is the text of the node with the steps that are kept under the names of their tables.
func (g *graph) tables(n *node) string {
	return readTables(n.text, func(table string) string {
		if r := g.nodes[table]; r != nil && r.table != "" {
			return r.table
		}
		return table
	})
}
