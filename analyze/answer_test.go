package analyze

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// An answer of 250,001 rows leaves row by row, in order and whole, while the result keeps the first 10,000.
func TestAnswerOfManyRows(t *testing.T) {
	var b bytes.Buffer
	res, err := newEngine(t).SQLTo(context.Background(), ArrowWriter(&b), writeRun(t, fullRequests(1)), Scope{},
		"SELECT i AS n, CASE WHEN i > 7 THEN i / 2 END AS half FROM range(250001) r(i)")
	if err != nil || len(res.Rows) != heldRows || res.Coverage.Requests != 1 {
		t.Fatalf("%d rows kept, coverage %v, %v", len(res.Rows), res.Coverage, err)
	}
	in, err := ipc.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Release()
	n := 0
	for in.Next() {
		whole, half := in.RecordBatch().Column(0).(*array.Int64), in.RecordBatch().Column(1).(*array.Float64)
		for i := range whole.Len() {
			if whole.Value(i) != int64(n) || half.IsNull(i) != (n <= 7) || n > 7 && half.Value(i) != float64(n)/2 {
				t.Fatalf("row %d is %v, %v", n, whole.Value(i), half.Value(i))
			}
			n++
		}
	}
	if n != 250001 || in.Err() != nil {
		t.Errorf("%d rows, %v", n, in.Err())
	}
}

// A value that the column's type cannot hold is an error: as NULL it would be a known number made unknown.
func TestArrowOfTwoKinds(t *testing.T) {
	r := &Result{Columns: []Column{{Name: "total"}}, Rows: [][]any{{int64(1)}, {1e19}}}
	if err := r.Write(ArrowWriter(&bytes.Buffer{})); err == nil || !strings.Contains(err.Error(), `column "total": expected int64 as in the rows before, got 1e+19`) {
		t.Errorf("error %v", err)
	}
}
