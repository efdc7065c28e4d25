package analyze

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// ArrowWriter writes a result as one Arrow IPC stream. A column's type is that of its first known value (of the first 10,000 rows;
// text where they know none); the unit is field metadata.
func ArrowWriter(w io.Writer) Writer { return &arrowWriter{w: w} }

// arrowBatch is how many rows go out at once.
const arrowBatch = 10_000

type arrowWriter struct {
	w       io.Writer
	out     *ipc.Writer
	columns []Column
	batch   *array.RecordBuilder
	rows    int // in batch
}

func (a *arrowWriter) Begin(r *Result) error {
	fields := make([]arrow.Field, len(r.Columns))
	for i, c := range r.Columns {
		fields[i] = arrow.Field{Name: c.Name, Type: arrowType(r, i), Nullable: true, Metadata: arrow.NewMetadata([]string{"unit"}, []string{c.Unit})}
	}
	schema := arrow.NewSchema(fields, nil)
	a.columns, a.batch = r.Columns, array.NewRecordBuilder(memory.DefaultAllocator, schema)
	a.out = ipc.NewWriter(a.w, ipc.WithSchema(schema))
	return nil
}

func (a *arrowWriter) Row(row []any) error {
	for i, v := range row {
		if err := appendArrow(a.batch.Field(i), a.columns[i].Named(v)); err != nil {
			return fmt.Errorf("writing Arrow: column %q: %w", a.columns[i].Name, err)
		}
	}
	if a.rows++; a.rows < arrowBatch {
		return nil
	}
	return a.flush()
}

func (a *arrowWriter) flush() error {
	batch := a.batch.NewRecordBatch()
	defer batch.Release()
	a.rows = 0
	if err := a.out.Write(batch); err != nil {
		return fmt.Errorf("writing Arrow: %w", err)
	}
	return nil
}

// End writes what is left; an answer without rows has one empty batch.
func (a *arrowWriter) End(*Result) error {
	defer a.batch.Release()
	if err := a.flush(); err != nil {
		return err
	}
	return a.out.Close()
}

func arrowType(r *Result, column int) arrow.DataType {
	for _, row := range r.Rows {
		switch row[column].(type) {
		case int64:
			return arrow.PrimitiveTypes.Int64
		case float64:
			return arrow.PrimitiveTypes.Float64
		case bool:
			return arrow.FixedWidthTypes.Boolean
		case nil:
			continue
		}
		break
	}
	return arrow.BinaryTypes.String
}

// appendArrow adds v; a value of another kind than the column's is an error, not unknown (a sum beyond 64 bits is a float64).
func appendArrow(b array.Builder, v any) error {
	if v == nil {
		b.AppendNull()
		return nil
	}
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(fmt.Sprint(v))
		return nil
	case *array.Int64Builder:
		if n, ok := v.(int64); ok {
			b.Append(n)
			return nil
		}
	case *array.Float64Builder:
		switch n := v.(type) {
		case float64:
			b.Append(n)
			return nil
		case int64:
			b.Append(float64(n))
			return nil
		}
	case *array.BooleanBuilder:
		if n, ok := v.(bool); ok {
			b.Append(n)
			return nil
		}
	}
	return fmt.Errorf("expected %s as in the rows before, got %v; cast the column", b.Type(), v)
}
