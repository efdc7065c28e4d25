package analyze

import (
	"reflect"
	"strings"
	"testing"

	"reprise/ingest/trace"
	"reprise/queries"
)

// TestMountColumns: the table of a run has every column that ingest writes, in its type.
func TestMountColumns(t *testing.T) {
	statements := queries.Mount(queries.Table{Catalog: "c", Schema: "s", Name: "t"}, "s3://b/run", true)
	checkColumns(t, reflect.TypeFor[trace.Request](), statements[1])
	checkColumns(t, reflect.TypeFor[trace.Sample](), statements[3])
}

func checkColumns(t *testing.T, record reflect.Type, statement string) {
	t.Helper()
	got := strings.Join(strings.Fields(statement), " ")
	n := 0
	for i := range record.NumField() {
		f := record.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		if !strings.Contains(got, " "+name+" "+trinoType(f.Type, rest)) {
			t.Errorf("no column %s %s in %s", name, trinoType(f.Type, rest), got)
		}
		n++
	}
	body, _, _ := strings.Cut(got, " WITH (")
	if columns := strings.Count(strings.ReplaceAll(body, ", day VARCHAR", ""), ",") + 1; columns != n {
		t.Errorf("the table has %d columns, the record %d: %s", columns, n, got)
	}
}

func trinoType(t reflect.Type, options string) string {
	if strings.Contains(options, "timestamp") {
		return "TIMESTAMP(6)"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return trinoType(t.Elem(), options)
	case reflect.Slice:
		return "ARRAY(" + trinoType(t.Elem(), "") + ")"
	case reflect.String:
		return "VARCHAR"
	case reflect.Int32:
		return "INTEGER"
	case reflect.Int64:
		return "BIGINT"
	case reflect.Float64:
		return "DOUBLE"
	case reflect.Bool:
		return "BOOLEAN"
	}
	return "?"
}
