package analyze

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// fill runs the statement of res and puts in its rows, its coverage and the warnings that the values give.
func (e *Engine) fill(ctx context.Context, r *Run, sc Scope, res *Result, out *outlet) error {
	if err := e.ask(ctx, res, out); err != nil {
		return err
	}
	seen, err := e.coverage(ctx, r, sc)
	if err != nil {
		return err
	}
	res.Coverage = Coverage{seen.Requests, seen.Eligible, maps.Clone(seen.Excluded)}
	res.Warnings = append(res.Warnings, seen.warnings(res, sc)...)
	doubts, err := e.doubts(ctx, r)
	res.Warnings = append(res.Warnings, doubts...)
	return err
}

// ask runs the statement of res and puts in its rows, and the warnings that the values give.
func (e *Engine) ask(ctx context.Context, res *Result, out *outlet) error {
	rows, err := e.query(ctx, res.SQL)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	if err := res.setColumns(names); err != nil {
		return err
	}
	res.Rows = [][]any{}
	c := converter{columns: res.Columns}
	for rows.Next() {
		row, err := c.scan(rows)
		if err != nil {
			return err
		}
		if err := out.row(res, row); err != nil {
			return err
		}
	}
	res.Warnings = append([]Warning{}, c.warnings()...)
	return rows.Err()
}

// setColumns takes the names of the statement when there is no header, else checks that both agree.
func (res *Result) setColumns(names []string) error {
	if res.Columns == nil {
		for _, n := range names {
			res.Columns = append(res.Columns, Column{Name: n, Unit: "text", Better: "none"})
		}
		return nil
	}
	var header []string
	for _, c := range res.Columns {
		header = append(header, c.Name)
	}
	if got, want := strings.Join(names, " "), strings.Join(header, " "); got != want {
		return fmt.Errorf("columns differ from the header: got %s, header says %s", got, want)
	}
	return nil
}

// converter turns values of the driver into those of a Result and counts what JSON could not hold.
type converter struct {
	columns []Column
	dropped map[string]int // numbers that are not finite, by column
	err     error
}

func (c *converter) scan(rows *sql.Rows) ([]any, error) {
	row := make([]any, len(c.columns))
	into := make([]any, len(row))
	for i := range row {
		into[i] = &row[i]
	}
	if err := rows.Scan(into...); err != nil {
		return nil, err
	}
	for i, v := range row {
		row[i] = c.value(c.columns[i].Name, v)
	}
	return row, c.err
}

func (c *converter) value(column string, v any) any {
	switch v := v.(type) {
	case nil, bool, int64, string:
		return v
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case uint8:
		return int64(v)
	case uint16:
		return int64(v)
	case uint32:
		return int64(v)
	case uint64:
		return c.value(column, new(big.Int).SetUint64(v))
	case *big.Int:
		if v.IsInt64() {
			return v.Int64()
		}
		f, _ := new(big.Float).SetInt(v).Float64()
		return c.value(column, f)
	case float32:
		return c.value(column, float64(v))
	case float64:
		return c.finite(column, v)
	case duckdb.Decimal:
		return c.value(column, v.Float64())
	case json.Number: // of a list of Trino's
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, err := v.Float64()
		c.err = errors.Join(c.err, err)
		return c.value(column, f)
	case time.Time:
		return v.UnixMicro()
	case []byte:
		return string(v)
	case []any:
		return c.list(column, v)
	}
	c.err = errors.Join(c.err, fmt.Errorf("column %q: cannot show a value of this kind; cast it to a number or to text", column))
	return nil
}

func (c *converter) list(column string, v []any) []any {
	out := make([]any, len(v))
	for i := range v {
		out[i] = c.value(column, v[i])
	}
	return out
}

// finite gives nil for what is no number.
func (c *converter) finite(column string, f float64) any {
	if !math.IsNaN(f) && !math.IsInf(f, 0) {
		return f
	}
	if c.dropped == nil {
		c.dropped = map[string]int{}
	}
	c.dropped[column]++
	return nil
}

func (c *converter) warnings() []Warning {
	var out []Warning
	for _, col := range c.columns {
		if n := c.dropped[col.Name]; n > 0 {
			out = append(out, Warning{"not_finite", fmt.Sprintf("%s: %d values are not finite and shown as unknown", col.Name, n)})
		}
	}
	return out
}

func firstWord(s string) string {
	if f := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '(' }); len(f) > 0 {
		return f[0]
	}
	return ""
}
