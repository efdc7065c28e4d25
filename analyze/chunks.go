package analyze

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"unsafe"

	mapping "github.com/duckdb/duckdb-go-bindings"
	duckdb "github.com/duckdb/duckdb-go/v2"
)

// chunk is up to 2,048 rows of a statement as DuckDB holds them. What its methods give is DuckDB's memory: it is gone when the chunk has been worked on.
type chunk struct {
	rows int
	raw  mapping.DataChunk
}

// column is one column of a chunk, or the elements of a list.
type column struct {
	data  unsafe.Pointer
	valid *uint64 // a bit a row, nil: all known
	elems *column
}

func (c *chunk) column(i int) column {
	return columnOf(mapping.DataChunkGetVector(c.raw, mapping.IdxT(i)), false)
}

// list is a column whose rows are lists.
func (c *chunk) list(i int) column {
	return columnOf(mapping.DataChunkGetVector(c.raw, mapping.IdxT(i)), true)
}

func columnOf(v mapping.Vector, list bool) column {
	c := column{data: mapping.VectorGetData(v), valid: (*uint64)(mapping.VectorGetValidity(v))}
	if list {
		e := columnOf(mapping.ListVectorGetChild(v), false)
		c.elems = &e
	}
	return c
}

func (c column) known(row int) bool {
	return c.valid == nil || unsafe.Slice(c.valid, row/64+1)[row/64]>>(row%64)&1 == 1
}

func peek[T int32 | int64 | float64 | bool](c column, row int) T {
	return *(*T)(unsafe.Add(c.data, uintptr(row)*unsafe.Sizeof(*new(T))))
}

// text is a row of a VARCHAR column: its length, then its bytes, or from 13 on four of them and where all are.
func (c column) text(row int) string {
	p := unsafe.Add(c.data, row*16)
	n := int(*(*uint32)(p))
	if n <= 12 {
		return unsafe.String((*byte)(unsafe.Add(p, 4)), n)
	}
	return unsafe.String(*(**byte)(unsafe.Add(p, 8)), n)
}

// elements is a row of a column of lists and the place of its first element among all; elements that are unknown are the column's to tell.
func elements[T int32 | int64](c column, row int) ([]T, int) {
	span := *(*[2]uint64)(unsafe.Add(c.data, row*16))
	return unsafe.Slice((*T)(unsafe.Add(c.elems.data, uintptr(span[0])*unsafe.Sizeof(*new(T)))), span[1]), int(span[0])
}

// handOver is the SQL function that hands what it is called with to Go.
const handOver = "reprise_hand_over"

// walker is that function. It runs on DuckDB's threads, each between reading a chunk and reading the next, so nothing is copied, and a list of
// chunk gaps has only to be read. What is to be done with a chunk stands in the context of the statement.
type walker struct{}

// walk is what a statement hands its chunks to.
type walk struct {
	work func(worker int, c *chunk) error
	free chan int // workers that do nothing
	stop context.CancelCauseFunc
}

type walkKey struct{}

func (walker) Config() duckdb.ScalarFuncConfig {
	whatever, _ := duckdb.NewTypeInfo(duckdb.TYPE_ANY)
	number, _ := duckdb.NewTypeInfo(duckdb.TYPE_INTEGER)
	return duckdb.ScalarFuncConfig{VariadicTypeInfo: whatever, ResultTypeInfo: number, Volatile: true, SpecialNullHandling: true}
}

func (walker) Executor() duckdb.ScalarFuncExecutor {
	// without a binder each thread of the driver looks for a context by itself, and writes it where the others read
	same := func(ctx context.Context, _ []duckdb.ScalarUDFArg) (context.Context, error) { return ctx, nil }
	return duckdb.ScalarFuncExecutor{ScalarBinder: same, ChunkContextExecutor: func(ctx context.Context, state *duckdb.ChunkIteratorState) error {
		to, ok := ctx.Value(walkKey{}).(*walk)
		if !ok { // called by a statement of the user's
			return errors.New(handOver + " is for sweeps alone")
		}
		in := state.GetInputChunk()
		c := chunk{rows: in.GetSize()}
		// the driver makes a value of its own of every element of a list, which takes ten times as long as reading it
		c.raw.Ptr = reflect.ValueOf(in).Elem().FieldByName("chunk").FieldByName("Ptr").UnsafePointer()
		worker := <-to.free
		defer func() { to.free <- worker }()
		err := to.work(worker, &c)
		if err != nil {
			to.stop(err)
		}
		return err
	}}
}

// chunks hands the rows of a statement to work, as they come and in no order, to as many workers at once; each knows its number.
func (e *Engine) chunks(ctx context.Context, text string, workers int, work func(worker int, c *chunk) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	to := &walk{work, make(chan int, workers), stop}
	for w := range workers {
		to.free <- w
	}
	// the smaller side of a join is on the right, but looks larger than lists that nobody counted: a table of all lists would be built
	if _, err := e.conn.ExecContext(ctx, "SET disabled_optimizers='build_side_probe_side'"); err != nil {
		return err
	}
	defer func() { _, _ = e.conn.ExecContext(context.WithoutCancel(ctx), "RESET disabled_optimizers") }()
	var rows int64
	err := e.conn.QueryRowContext(context.WithValue(ctx, walkKey{}, to), "SELECT count("+handOver+"(*COLUMNS(*))) FROM ("+text+")").Scan(&rows)
	return cmp.Or(context.Cause(ctx), err)
}
