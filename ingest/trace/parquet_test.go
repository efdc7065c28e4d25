package trace

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// random fills every field of a request by reflection, each optional one nil half of the time.
func random(rng *rand.Rand, line int64) Request {
	var r Request
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Int64 || f.Kind() == reflect.Int32 || rng.IntN(2) == 0 {
			f.Set(randomValue(rng, f.Type()))
		}
	}
	r.SourceLine = line
	r.Arrival = Ptr(int64(1_789_948_800_000_000) + rng.Int64N(3*86_400_000_000))
	return r
}

func randomValue(rng *rand.Rand, t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.String:
		v.SetString(strings.Repeat("é", rng.IntN(3)) + string(rune('a'+rng.IntN(26))))
	case reflect.Int64:
		v.SetInt(rng.Int64() - rng.Int64())
	case reflect.Int32:
		v.SetInt(int64(rng.Int32()))
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(randomValue(rng, t.Elem()))
	case reflect.Slice:
		n := rng.IntN(4)
		if rng.IntN(50) == 0 {
			n = 3000 // beyond a page
		}
		v.Set(reflect.MakeSlice(t, n, n))
		for i := range n {
			v.Index(i).Set(randomValue(rng, t.Elem()))
		}
	}
	return v
}

func write(t *testing.T, run, part string, rows []Request) []string {
	t.Helper()
	w, err := NewWriter(run)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if err := w.Add(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	files, _, err := w.Commit(part, map[string]string{"b": "2", "a": "1"})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]Request, 5000)
	for i := range rows {
		rows[i] = random(rng, int64(i))
	}
	files := write(t, t.TempDir(), "p", slices.Clone(rows))
	if len(files) != 3 {
		t.Fatalf("got %d day files, want 3", len(files))
	}
	slices.SortFunc(rows, func(a, b Request) int { return int(*a.Arrival - *b.Arrival) })
	i := 0
	for got, err := range Read(files...) {
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows[i], got); diff != "" {
			t.Fatalf("row %d changed on its way (-wrote +read):\n%s", i, diff)
		}
		i++
	}
	if i != len(rows) {
		t.Errorf("read %d rows, want %d", i, len(rows))
	}
}

func TestSameInputSameBytesAndNothingTwice(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rows := make([]Request, 70000) // beyond the sort window
	for i := range rows {
		rows[i] = Request{RequestID: "r", Arrival: Ptr(1_790_000_000_000_000 + int64(i)*1000 - rng.Int64N(1_000_000)), SourceLine: int64(i)}
	}
	run := t.TempDir()
	first := write(t, run, "p", rows)
	second := write(t, t.TempDir(), "p", rows)
	for i := range first {
		a, _ := os.ReadFile(first[i])
		b, _ := os.ReadFile(second[i])
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs between two writes of the same rows", filepath.Base(first[i]))
		}
	}
	if again := write(t, run, "p", rows); !slices.Equal(again, first) {
		t.Errorf("a rerun gave %v, want the same parts %v", again, first)
	}
	if parts, _ := Parts(run); len(parts) != len(first) {
		t.Errorf("run has %d parts, want %d", len(parts), len(first))
	}
	last := int64(0)
	for r, err := range Read(first...) {
		if err != nil {
			t.Fatal(err)
		}
		if *r.Arrival < last {
			t.Fatal("rows are not in order of arrival")
		}
		last = *r.Arrival
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	for range 100 { // at once, before anything is written
		w, err := NewWriter(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		w.Abort()
	}
	run := t.TempDir()
	os.Mkdir(filepath.Join(run, ".partial-99999999-x"), 0o755) // a writer that was killed: no such process
	w, err := NewWriter(run)
	if err != nil {
		t.Fatal(err)
	}
	w.Add(&Request{})
	w.AddBody(Body{RequestID: "x"})
	w.Abort()
	if left, _ := os.ReadDir(run); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestMetaCountsKnownFields(t *testing.T) {
	files := write(t, t.TempDir(), "p", []Request{{RequestID: "a", InputTokens: Ptr(int64(0)), GapsUS: []int32{1, 2}}, {RequestID: "b"}})
	meta, rows, known, err := Meta(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if rows != 2 || known["input_tokens"] != 1 || known["gaps_us"] != 1 || known["request_id"] != 2 || known["output_tokens"] != 0 {
		t.Errorf("rows %d, known %v", rows, known)
	}
	if meta["a"] != "1" || meta["b"] != "2" {
		t.Errorf("metadata %v", meta)
	}
}

// TestColumnTypes keeps to what DuckDB, Trino and Spark read alike (distributed.md part 6).
func TestColumnTypes(t *testing.T) {
	allowed := map[string]bool{"string": true, "int32": true, "int64": true, "*int32": true, "*int64": true, "*bool": true, "[]int32": true, "[]int64": true}
	for f := range reflect.TypeFor[Request]().Fields() {
		if !allowed[f.Type.String()] {
			t.Errorf("%s has type %s: not read alike by every engine", f.Name, f.Type)
		}
		if tag := f.Tag.Get("parquet"); f.Type.Kind() == reflect.Slice && !strings.Contains(tag, "optional") {
			t.Errorf("%s: a list needs optional, or an unknown one reads as empty", f.Name)
		}
	}
}
