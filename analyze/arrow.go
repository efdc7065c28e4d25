package analyze

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// WriteArrow writes a result as one Arrow IPC stream. A column's type is that of its first known value; the unit is
// field metadata.
func WriteArrow(w io.Writer, r *Result) error {
	fields := make([]arrow.Field, len(r.Columns))
	for i, c := range r.Columns {
		fields[i] = arrow.Field{Name: c.Name, Type: arrowType(r, i), Nullable: true, Metadata: arrow.NewMetadata([]string{"unit"}, []string{c.Unit})}
	}
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, row := range r.Rows {
		for i, v := range row {
			appendArrow(b.Field(i), r.Columns[i].Named(v))
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	out := ipc.NewWriter(w, ipc.WithSchema(schema))
	if err := out.Write(batch); err != nil {
		return fmt.Errorf("writing Arrow: %w", err)
	}
	return out.Close()
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

func appendArrow(b array.Builder, v any) {
	switch b := b.(type) {
	case *array.Int64Builder:
		if n, ok := v.(int64); ok {
			b.Append(n)
			return
		}
	case *array.Float64Builder:
		if n, ok := v.(float64); ok {
			b.Append(n)
			return
		}
	case *array.BooleanBuilder:
		if n, ok := v.(bool); ok {
			b.Append(n)
			return
		}
	case *array.StringBuilder:
		if v != nil {
			b.Append(fmt.Sprint(v))
			return
		}
	}
	b.AppendNull()
}
