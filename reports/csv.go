package reports

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"reprise/analyze"
)

// CSVWriter writes the rows of a result under a header of column names. Numbers are exact, times are microseconds since 1970,
// booleans true and false, lists JSON; NULL and a number that is not finite are empty. A text that a spreadsheet would
// take for a formula has an apostrophe before it; else names are written as they are.
func CSVWriter(w io.Writer) analyze.Writer { return &csvWriter{out: csv.NewWriter(w)} }

type csvWriter struct {
	out     *csv.Writer
	columns []analyze.Column
	record  []string
}

func (c *csvWriter) Begin(r *analyze.Result) error {
	c.columns, c.record = r.Columns, make([]string, len(r.Columns))
	for i, col := range r.Columns {
		c.record[i] = noFormula(col.Name)
	}
	return c.out.Write(c.record)
}

func (c *csvWriter) Row(row []any) error {
	for i, v := range row {
		field, err := exact(c.columns[i].Named(v))
		if err != nil {
			return err
		}
		c.record[i] = field
	}
	return c.out.Write(c.record)
}

func (c *csvWriter) End(*analyze.Result) error {
	c.out.Flush()
	return c.out.Error()
}

// noFormula keeps a text from being computed when a spreadsheet opens the file: a name in a log could fetch or send what stands
// beside it.
func noFormula(s string) string {
	if strings.ContainsAny(s[:min(len(s), 1)], "=+-@\t\r\n") {
		return "'" + s
	}
	return s
}

func exact(v any) (string, error) {
	switch v := finite(v).(type) {
	case nil:
		return "", nil
	case string:
		return noFormula(v), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case bool:
		return strconv.FormatBool(v), nil
	default:
		b, err := json.Marshal(v)
		return string(b), err
	}
}
