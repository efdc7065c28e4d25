package trace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// wide makes rows for more than one row group, with more users than a dictionary holds, lists of each kind, and a first
// page in which some columns know nothing.
func wide(n int) []Request {
	rng := rand.New(rand.NewPCG(5, 6))
	rows := make([]Request, n)
	for i := range rows {
		r := &rows[i]
		r.RequestID, r.Arrival, r.SourceLine = fmt.Sprintf("%032x", rng.Uint64()), Ptr(1_790_000_000_000_000+int64(i)*500), int64(i+1)
		r.UserHash = fmt.Sprintf("user-%d-%032x", rng.IntN(60_000), i%60_000)
		r.Tenant = []string{"", "a", "zz"}[rng.IntN(3)]
		if rng.IntN(3) > 0 {
			r.InputTokens, r.Stream = Ptr(rng.Int64N(1e6)-1000), Ptr(rng.IntN(2) == 0)
		}
		switch rng.IntN(3) {
		case 0:
			r.PrefixHashIDs, r.GapsUS = []int64{}, []int32{}
		case 1:
			r.PrefixHashIDs, r.GapsUS = []int64{int64(rng.Uint64()), -1}, []int32{1, 2, int32(rng.Uint32())}
		}
		if i > 2*pageRows {
			r.App, r.HTTPStatus, r.SpanID = "late", Ptr(int32(200)), "late"
		}
	}
	return rows
}

func TestManyRowGroups(t *testing.T) {
	rows := wide(groupRows + 10_000)
	files := write(t, t.TempDir(), "p", rows)
	i := 0
	for got, err := range Read(files...) {
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(rows[i], got) {
			t.Fatalf("row %d changed on its way (-wrote +read):\n%s", i, cmp.Diff(rows[i], got))
		}
		i++
	}
	if i != len(rows) {
		t.Errorf("read %d rows, want %d", i, len(rows))
	}
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, _ := f.Stat()
	pf, err := parquet.OpenFile(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	groups := pf.Metadata().RowGroups
	if len(groups) < 2 {
		t.Fatalf("%d row groups, want more than one", len(groups))
	}
	for _, g := range groups {
		bounds(t, g, rows[:g.NumRows])
		rows = rows[g.NumRows:]
	}
}

// bounds holds the statistics of a row group, which engines use to leave it out, against its rows.
func bounds(t *testing.T, g format.RowGroup, rows []Request) {
	t.Helper()
	tokens, known := []int64{1 << 62, -1 << 62}, int64(0)
	names := map[string]int64{}
	for _, r := range rows {
		names[r.Tenant]++
		if n := r.InputTokens; n != nil {
			known++
			tokens[0], tokens[1] = min(tokens[0], *n), max(tokens[1], *n)
		}
	}
	for _, c := range g.Columns {
		st, at := c.MetaData.Statistics, c.MetaData.PathInSchema[0]
		value := func(b []byte) int64 { return parquet.Int64Type.Kind().Value(b).Int64() }
		switch at {
		case "arrival":
			if value(st.MinValue) != *rows[0].Arrival || value(st.MaxValue) != *rows[len(rows)-1].Arrival || st.NullCount != 0 {
				t.Errorf("arrival: %+v", st)
			}
		case "input_tokens":
			if value(st.MinValue) != tokens[0] || value(st.MaxValue) != tokens[1] || st.NullCount != int64(len(rows))-known {
				t.Errorf("input_tokens: %+v, want %v and %d known", st, tokens, known)
			}
		case "tenant":
			if string(st.MinValue) != "a" || string(st.MaxValue) != "zz" || st.NullCount != names[""] {
				t.Errorf("tenant: %+v, want %v", st, names)
			}
		case "span_id":
			if n := c.MetaData.NumValues; n != int64(len(rows)) {
				t.Errorf("span_id: %d values in %d rows", n, len(rows))
			}
		}
	}
}
