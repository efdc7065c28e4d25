package analyze

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

func TestWriteArrow(t *testing.T) {
	r := &Result{Columns: []Column{{Name: "tenant", Unit: "text"}, {Name: "n", Unit: "requests"}, {Name: "p50_ms", Unit: "ms"}, {Name: "none"}},
		Rows: [][]any{{"acme", nil, 1.5, nil}, {nil, int64(7), nil, nil}}}
	var b bytes.Buffer
	if err := r.Write(ArrowWriter(&b)); err != nil {
		t.Fatal(err)
	}
	in, err := ipc.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Release()
	if !in.Next() {
		t.Fatal("no batch")
	}
	rec := in.RecordBatch()
	n, p50 := rec.Column(1).(*array.Int64), rec.Column(2).(*array.Float64)
	if rec.Column(0).(*array.String).Value(0) != "acme" || !n.IsNull(0) || n.Value(1) != 7 || p50.Value(0) != 1.5 || !p50.IsNull(1) {
		t.Errorf("changed on its way: %v", rec)
	}
	if unit, _ := in.Schema().Field(1).Metadata.GetValue("unit"); unit != "requests" {
		t.Errorf("unit %q", unit)
	}
}
