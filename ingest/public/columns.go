package public

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// column is one field of trace.Request under its Parquet name.
type column struct {
	name  string
	field int
	typ   reflect.Type
	words []string // the allowed texts; nil for any
}

var columns = columnTable(reflect.TypeFor[trace.Request]())

// columnTable reads the names from the Parquet tags, so that the two can never differ.
func columnTable(t reflect.Type) []column {
	table := make([]column, t.NumField())
	for i := range table {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("parquet"), ",")
		table[i] = column{name, i, t.Field(i).Type, trace.Words(name)}
	}
	return table
}

func (col column) describe() string {
	switch {
	case col.words != nil:
		return strings.Join(col.words, ", ")
	case col.name == "arrival":
		return "integer or text"
	case col.typ.Kind() == reflect.Slice:
		return "list of integers"
	case col.typ.Kind() == reflect.String:
		return "text"
	case col.typ == reflect.TypeFor[*bool]():
		return "true or false"
	}
	return "integer"
}

func find(name []byte) *column {
	for i := range columns {
		if columns[i].name == string(name) {
			return &columns[i]
		}
	}
	return nil
}

// required columns have no unknown.
func (col column) required() bool {
	switch col.name {
	case "request_id", "vantage", "clock_domain", "error_class", "attempt", "time_precision_us":
		return true
	}
	return false
}

func cut(s string) string { return s[:min(len(s), 40)] }

// set stores v in the field, or says what it should have been.
func (col column) set(field reflect.Value, v *decode.Value) (want string) {
	if col.typ.Kind() == reflect.String {
		text := string(v.GetStringBytes())
		if v.Type() != decode.TypeString {
			return "text"
		}
		if col.words != nil && !slices.Contains(col.words, text) {
			return "one of " + strings.Join(col.words, ", ")
		}
		field.SetString(text)
		return ""
	}
	if col.typ.Kind() == reflect.Slice {
		return setList(field, v)
	}
	target := field
	if col.typ.Kind() == reflect.Pointer {
		target = reflect.New(col.typ.Elem()).Elem()
	}
	if target.Kind() == reflect.Bool {
		b := decode.Bool(v)
		if b == nil || v.Type() == decode.TypeString {
			return "true or false"
		}
		target.SetBool(*b)
	} else if want := setInt(target, v); want != "" {
		return want
	}
	if col.typ.Kind() == reflect.Pointer {
		field.Set(target.Addr())
	}
	return ""
}

func setInt(target reflect.Value, v *decode.Value) (want string) {
	n, err := strconv.ParseInt(decode.Text(v), 10, 64)
	switch {
	case err != nil || v.Type() == decode.TypeString:
		return "an integer"
	case target.OverflowInt(n):
		return fmt.Sprintf("an integer up to %d", math.MaxInt32)
	}
	target.SetInt(n)
	return ""
}

func setList(field reflect.Value, v *decode.Value) (want string) {
	if v.Type() != decode.TypeArray {
		return "a list of integers"
	}
	list := v.GetArray()
	field.Set(reflect.MakeSlice(field.Type(), len(list), len(list)))
	for i, e := range list {
		if want := setInt(field.Index(i), e); want != "" {
			return fmt.Sprintf("%s as element %d", want, i)
		}
	}
	return ""
}

// nearest returns the column whose name takes the fewest edits to reach from name.
func nearest(name string) string {
	names := make([]string, len(columns))
	for i, col := range columns {
		names[i] = col.name
	}
	return decode.Nearest(name, names)
}
