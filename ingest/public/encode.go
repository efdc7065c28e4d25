package public

import (
	"encoding/json"
	"reflect"
	"strconv"

	"reprise/ingest/trace"
)

// EncodeReprise returns r as one line of our JSON lines, without a line end: reading it back gives r again, but for
// source_file and source_line, which name the place it is read from. Unknown columns are left out, or null where leaving them
// out would mean a default.
func EncodeReprise(r *trace.Request) []byte {
	row := reflect.ValueOf(r).Elem()
	line := []byte{'{'}
	for _, col := range columns {
		value := encode(row.Field(col.field))
		if value == nil {
			switch col.name {
			case "arrival", "stream", "ttft_kind", "tokens_source":
				value = []byte("null")
			default:
				continue
			}
		}
		switch col.name {
		case "source_file", "source_line":
			continue
		}
		if len(line) > 1 {
			line = append(line, ',')
		}
		line = append(append(append(append(line, '"'), col.name...), `":`...), value...)
	}
	return append(line, '}')
}

// encode returns a column's value as JSON; nil for unknown.
func encode(f reflect.Value) []byte {
	switch f.Kind() {
	case reflect.Pointer:
		if f.IsNil() {
			return nil
		}
		return encode(f.Elem())
	case reflect.String:
		if f.String() == "" {
			return nil
		}
		text, err := json.Marshal(f.String())
		if err != nil { // strings always marshal
			return nil
		}
		return text
	case reflect.Bool:
		return strconv.AppendBool(nil, f.Bool())
	case reflect.Slice:
		return encodeList(f)
	}
	return strconv.AppendInt(nil, f.Int(), 10)
}

func encodeList(f reflect.Value) []byte {
	if f.IsNil() {
		return nil
	}
	list := []byte{'['}
	for i := range f.Len() {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, f.Index(i).Int(), 10)
	}
	return append(list, ']')
}
