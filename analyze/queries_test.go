package analyze

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"reprise/queries"
)

// TestExamples runs testdata/queries/NAME.txtar: NAME is a query or a base view. A file "requests" is a run, "metrics" what its target said of itself, "params"
// sets parameters (and by, from, to, slo), and each "want" is compared with the answer for the run and parameters that
// stand before it, by the columns that it names; of a "has" only the rows that it lists must be there. Numbers agree to
// 1e-9.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../testdata/queries/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	e := newEngine(t)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) { runExample(t, e, name, file) })
	}
}

func runExample(t *testing.T, e *Engine, name, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var run *Run
	var sc Scope
	params := map[string]string{}
	for _, f := range ar.Files {
		word, _, _ := strings.Cut(f.Name, " ")
		switch word {
		case "requests":
			run = writeRun(t, readTable(t, string(f.Data)).requests(t))
		case "metrics":
			run = addMetrics(t, run, readTable(t, string(f.Data)))
		case "params":
			sc, params = readParams(t, string(f.Data))
		case "want", "has":
			a := answer{e, run, sc, params}
			want := readTable(t, string(f.Data))
			t.Run(f.Name, func(t *testing.T) {
				if got := cells(t, a.ask(t, name, want.names), want.names); word == "has" {
					checkHas(t, got, want)
				} else {
					checkWant(t, got, want)
				}
			})
		default:
			t.Fatalf("%s: unknown section %q", file, f.Name)
		}
	}
}

type answer struct {
	e      *Engine
	run    *Run
	scope  Scope
	params map[string]string
}

func readParams(t *testing.T, text string) (Scope, map[string]string) {
	var sc Scope
	params := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "":
		case "by":
			sc.By = strings.Split(value, ",")
		case "from", "to":
			n, err := micros(value)
			if err != nil {
				t.Fatal(err)
			}
			if key == "from" {
				sc.From = &n
			} else {
				sc.To = &n
			}
		case "slo":
			var err error
			if sc.SLO, err = ParseSLO(value); err != nil {
				t.Fatal(err)
			}
		default:
			params[key] = value
		}
	}
	return sc, params
}

// ask runs the query, or for a base view a statement that reads the columns.
func (a answer) ask(t *testing.T, name string, columns []string) *Result {
	t.Helper()
	var res *Result
	var err error
	if slices.Contains(queries.Views(), name) {
		res, err = a.e.SQL(context.Background(), a.run, a.scope, "SELECT "+strings.Join(columns, ", ")+" FROM "+name+" ORDER BY ALL")
	} else {
		res, err = a.e.Query(context.Background(), a.run, name, a.scope, a.params)
	}
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func checkWant(t *testing.T, got [][]any, want table) {
	t.Helper()
	for i := range max(len(got), len(want.rows)) {
		switch {
		case i >= len(got):
			t.Errorf("row %d: missing, want %v", i+1, want.rows[i])
		case i >= len(want.rows):
			t.Errorf("row %d: got %v, want no more rows", i+1, got[i])
		default:
			for j, name := range want.names {
				if !sameCell(got[i][j], want.rows[i][j]) {
					t.Errorf("row %d, %s: got %v, want %s", i+1, name, got[i][j], want.rows[i][j])
				}
			}
		}
	}
}

func checkHas(t *testing.T, got [][]any, want table) {
	t.Helper()
	for _, row := range want.rows {
		if !slices.ContainsFunc(got, func(g []any) bool { return slices.EqualFunc(g, row, sameCell) }) {
			t.Errorf("no row %v in %v", row, got)
		}
	}
}

// cells picks the named columns of a result.
func cells(t *testing.T, res *Result, names []string) [][]any {
	t.Helper()
	var out [][]any
	for _, row := range res.Rows {
		var cut []any
		for _, n := range names {
			i := slices.IndexFunc(res.Columns, func(c Column) bool { return c.Name == n })
			if i < 0 {
				t.Fatalf("no column %q", n)
			}
			cut = append(cut, row[i])
		}
		out = append(out, cut)
	}
	return out
}

// sameCell compares a value with the text of a cell.
func sameCell(got any, want string) bool {
	switch v := got.(type) {
	case nil:
		return want == "-"
	case string:
		return v == want
	case bool:
		return strconv.FormatBool(v) == want
	case int64:
		n, err := micros(want)
		return err == nil && n == v
	case float64:
		f, err := strconv.ParseFloat(want, 64)
		return err == nil && near(v, f)
	}
	return false
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }
