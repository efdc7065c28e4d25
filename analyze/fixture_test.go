package analyze

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reprise/ingest/trace"
)

// table is a text table of a test: names, then rows of cells separated by blanks. "-" is unknown; "200ms" and
// "[200,40]ms" are microseconds times 1000; a cell in double quotes may hold blanks.
type table struct {
	names []string
	rows  [][]string
}

func readTable(t *testing.T, text string) table {
	t.Helper()
	var tab table
	for line := range strings.Lines(text) {
		cells := splitCells(line)
		switch {
		case len(cells) == 0:
		case tab.names == nil:
			tab.names = cells
		case len(cells) != len(tab.names):
			t.Fatalf("row has %d cells, header has %d: %s", len(cells), len(tab.names), line)
		default:
			tab.rows = append(tab.rows, cells)
		}
	}
	return tab
}

func splitCells(line string) []string {
	line, _, _ = strings.Cut(strings.TrimRight(line, "\n"), "#")
	var cells []string
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		if line[0] == '"' {
			end := strings.IndexByte(line[1:], '"') + 2
			cells, line = append(cells, line[1:end-1]), line[end:]
			continue
		}
		cell, rest, _ := strings.Cut(line, " ")
		cells, line = append(cells, cell), rest
	}
	return cells
}

// requests turns the table into records. Columns are the Parquet names; those not given have the defaults of a call
// that one client saw and that went well.
func (tab table) requests(t *testing.T) []trace.Request {
	t.Helper()
	out := make([]trace.Request, len(tab.rows))
	for i, row := range tab.rows {
		r := &out[i]
		*r = trace.Request{RequestID: fmt.Sprint("q", i+1), Attempt: 1, Vantage: trace.Client, ClockDomain: trace.Wall,
			TimePrecision: 1, ErrorClass: trace.ClassOK, SourceFormat: "test", SourceFile: "test", SourceLine: int64(i + 1)}
		for j, name := range tab.names {
			if err := set(r, name, row[j]); err != nil {
				t.Fatalf("row %d, column %s: %v", i+1, name, err)
			}
		}
		if r.RootRequestID == "" {
			r.RootRequestID = r.RequestID
		}
	}
	return out
}

// set puts the text of a cell into the field whose Parquet column has the name.
func set(r *trace.Request, name, cell string) error {
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		column, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("parquet"), ",")
		if column != name {
			continue
		}
		if cell == "-" {
			v.Field(i).SetZero()
			return nil
		}
		return setField(v.Field(i), cell)
	}
	return fmt.Errorf("no such column")
}

func setField(f reflect.Value, cell string) error {
	switch f.Kind() {
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		return setField(f.Elem(), cell)
	case reflect.String:
		f.SetString(cell)
	case reflect.Bool:
		b, err := strconv.ParseBool(cell)
		f.SetBool(b)
		return err
	case reflect.Int32, reflect.Int64:
		n, err := micros(cell)
		f.SetInt(n)
		return err
	case reflect.Slice:
		return setList(f, cell)
	}
	return nil
}

func setList(f reflect.Value, cell string) error {
	inner, unit, _ := strings.Cut(strings.TrimPrefix(cell, "["), "]")
	f.Set(reflect.MakeSlice(f.Type(), 0, 0))
	for s := range strings.SplitSeq(inner, ",") {
		if inner == "" {
			break
		}
		n, err := micros(s + unit)
		if err != nil {
			return err
		}
		f.Set(reflect.Append(f, reflect.ValueOf(n).Convert(f.Type().Elem())))
	}
	return nil
}

func micros(cell string) (int64, error) {
	for _, u := range []struct {
		suffix string
		factor float64
	}{{"us", 1}, {"ms", 1e3}, {"s", 1e6}} {
		if digits, ok := strings.CutSuffix(cell, u.suffix); ok {
			f, err := strconv.ParseFloat(digits, 64)
			return int64(f * u.factor), err
		}
	}
	return strconv.ParseInt(cell, 10, 64)
}

// writeRun stores the records as ingest would and opens the run. A run without records has one empty part.
func writeRun(t testing.TB, rows []trace.Request) *Run {
	t.Helper()
	dir := t.TempDir()
	w, err := trace.NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if err := w.Add(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.Commit("part", nil); err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		return emptyRun(t)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// addMetrics stores samples of the target beside the parts of a run.
func addMetrics(t *testing.T, run *Run, tab table) *Run {
	t.Helper()
	w, err := trace.NewSampleWriter(run.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range tab.rows {
		cell := func(name string) string { return row[slices.Index(tab.names, name)] }
		at, err := micros(cell("at_us"))
		if err != nil {
			t.Fatal(err)
		}
		s := trace.Sample{AtUS: at, Endpoint: cell("endpoint"), Name: cell("name"), Labels: cell("labels")}
		if s.Value, err = strconv.ParseFloat(cell("value"), 64); err != nil {
			t.Fatal(err)
		}
		if err := w.Add([]trace.Sample{s}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit("part"); err != nil {
		t.Fatal(err)
	}
	if run, err = Open(run.Path); err != nil {
		t.Fatal(err)
	}
	return run
}

// emptyRun has one part of the usual columns and no rows, which DuckDB cuts from a run of one row.
func emptyRun(t testing.TB) *Run {
	t.Helper()
	one := writeRun(t, []trace.Request{{RequestID: "q", Attempt: 1}})
	path := t.TempDir() + "/empty.parquet"
	e := newEngine(t)
	if _, err := e.conn.ExecContext(context.Background(), "COPY (SELECT * FROM "+one.scan()+" LIMIT 0) TO '"+path+"' (FORMAT parquet)"); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newEngine(t testing.TB) *Engine {
	t.Helper()
	e, err := NewEngine(context.Background(), EngineOptions{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}
