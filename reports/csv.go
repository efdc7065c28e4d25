package reports

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"reprise/analyze"
)

// ResultCSV writes the rows of r under a header of column names. Numbers are exact, times are microseconds since 1970,
// booleans true and false, lists JSON; NULL and a number that is not finite are empty. A text that a spreadsheet would
// take for a formula has an apostrophe before it; else names are written as they are.
func ResultCSV(w io.Writer, r *analyze.Result) error {
	out := csv.NewWriter(w)
	record := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		record[i] = noFormula(c.Name)
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for _, row := range r.Rows {
		for i, v := range row {
			field, err := exact(r.Columns[i].Named(v))
			if err != nil {
				return err
			}
			record[i] = field
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
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
