package analyze

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"sync"
	"unsafe"

	mapping "github.com/duckdb/duckdb-go-bindings"
)

// chunk is up to 2,048 rows of a result as DuckDB holds them. What its methods give is DuckDB's memory: it is gone when the chunk has been worked on.
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

// longs is a row of a BIGINT[] column and the place of its first element among all; elements that are unknown are the column's to tell.
func (c column) longs(row int) ([]int64, int) {
	span := *(*[2]uint64)(unsafe.Add(c.data, row*16))
	return unsafe.Slice((*int64)(unsafe.Add(c.elems.data, span[0]*8)), span[1]), int(span[0])
}

// chunks hands the rows of a statement to work, as they come and in no order, on as many goroutines as there are workers; each knows its number.
func (e *Engine) chunks(ctx context.Context, text string, workers int, work func(worker int, c *chunk) error) error {
	var conn mapping.Connection
	// database/sql makes a value of its own of every element of a list, which takes ten times as long as reading it
	if err := e.conn.Raw(func(driver any) error {
		conn.Ptr = reflect.ValueOf(driver).Elem().FieldByName("conn").FieldByName("Ptr").UnsafePointer()
		return nil
	}); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { mapping.Interrupt(conn) })()
	ctx, stop := context.WithCancelCause(ctx) // a worker that fails ends the reading
	defer stop(nil)
	var stmt mapping.PreparedStatement
	defer mapping.DestroyPrepare(&stmt)
	if mapping.Prepare(conn, text, &stmt) == mapping.StateError {
		return errors.New(mapping.PrepareError(stmt))
	}
	var res mapping.Result
	defer mapping.DestroyResult(&res)
	if mapping.ExecutePreparedStreaming(stmt, &res) == mapping.StateError {
		return cmp.Or(context.Cause(ctx), errors.New(mapping.ResultError(&res)))
	}
	ch := make(chan *chunk)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for c := range ch {
				if ctx.Err() == nil {
					if err := work(w, c); err != nil {
						stop(err)
					}
				}
				mapping.DestroyDataChunk(&c.raw)
			}
		})
	}
	err := fetch(ctx, &res, ch)
	close(ch)
	wg.Wait()
	return cmp.Or(context.Cause(ctx), err)
}

func fetch(ctx context.Context, res *mapping.Result, ch chan<- *chunk) error {
	for {
		c := &chunk{}
		if mapping.StreamFetchChunk(*res, &c.raw) == mapping.StateError {
			if why := mapping.ResultError(res); why != "" {
				return cmp.Or(context.Cause(ctx), errors.New(why))
			}
			return nil // no more rows
		}
		c.rows = int(mapping.DataChunkGetSize(c.raw))
		select {
		case <-ctx.Done():
			mapping.DestroyDataChunk(&c.raw)
			return context.Cause(ctx)
		case ch <- c:
		}
	}
}
