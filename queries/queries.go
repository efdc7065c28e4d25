package queries

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed *.sql base/*.sql base/*/*.sql
var files embed.FS

// Query is one entry of the catalogue: its header, and the text from WITH on.
type Query struct {
	Name      string
	Title     string
	About     string
	Level     string   // metrics.md 0.4, "" for a base view
	Metrics   []Metric // what the README says that the query gives
	Params    []Param
	Keys      []Column // identify a row, in order
	Columns   []Column // the others, in the order of the output
	Chart     string   // as written after "chart"; "" is a table only
	Quantiles *Quantiles
	Once      string // of a base view: why one statement computes it once; "" computes it where it is read
	Kept      string // of a base view: why it is computed once for all statements, see [Keep]
	Swept     string // of a base view: the sweep that gives its rows on DuckDB, its arguments, a bar, and the views that the sweep reads; see [Keep]
	Text      string // no header, no trailing semicolon
}

// Metric is a word of the field, its unit ("" when it has several) and its formula.
type Metric struct{ Name, Unit, Formula string }

// Param is a typed value that the text reads as (SELECT name FROM params), a view as {name}. Default "" is NULL; a TEXT
// default of words joined by "|" allows only these words, the first is the default.
type Param struct {
	Name    string
	Type    string // BIGINT, DOUBLE, TEXT or BOOLEAN
	Default string
}

// Value is the default as a value: the first of the choices.
func (p Param) Value() string { return p.value(nil) }

// Column describes one column of the output. Better is higher, lower or none.
type Column struct{ Name, Unit, Better string }

// Quantiles asks for the quantile stage over samples(keys..., Value); the figures are divided by Divisor.
type Quantiles struct {
	Value   string
	Divisor string
	Whole   bool   // the values are integers, which is quicker
	Weight  string // column that says how often a sample counts; "" is once
	Type1   string // condition under which the figures are of type 1; "" never: type 7
	Only    string // condition on the samples, "" for all; DuckDB alone, where no sample has a weight
}

// catalogue is the parsed form of the embedded files, by name.
type catalogue struct {
	queries []Query
	views   map[string]Query
	own     map[string]string // texts of base/DIALECT/NAME.sql by DIALECT/NAME
}

// load parses the embedded files once. A file that does not parse is a defect of the program: a test reads them all.
var load = sync.OnceValue(func() catalogue {
	views := map[string]Query{}
	for _, v := range parseFolder("base") {
		views[v.Name] = v
	}
	own := map[string]string{}
	for _, d := range []Dialect{DuckDB, Trino, Spark} {
		folder := d.folders()[0]
		for _, v := range parseFolder("base/" + folder) {
			own[folder+"/"+v.Name] = v.Text
		}
	}
	return catalogue{parseFolder("."), views, own}
})

func parseFolder(dir string) []Query {
	entries, err := files.ReadDir(dir)
	if err != nil {
		panic(err)
	}
	var out []Query
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".sql") {
			continue
		}
		name := path.Join(dir, e.Name())
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err)
		}
		q, err := Parse(name, string(text))
		if err != nil {
			panic(err)
		}
		out = append(out, q)
	}
	return out
}

// List returns the catalogue in order of name.
func List() []Query { return slices.Clone(load().queries) }

// Names returns the names of the catalogue in order.
func Names() []string {
	var names []string
	for _, q := range load().queries {
		names = append(names, q.Name)
	}
	return names
}

// Views returns the names of the base views in order.
func Views() []string {
	var names []string
	for name := range load().views {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Get returns the query of that name.
func Get(name string) (Query, error) {
	for _, q := range load().queries {
		if q.Name == name {
			return q, nil
		}
	}
	return Query{}, fmt.Errorf("no query %q; there are: %s", name, strings.Join(Names(), ", "))
}
