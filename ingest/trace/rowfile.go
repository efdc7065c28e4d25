package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// rowFile is a Parquet file of requests being written under a temporary name. It writes what parquet-go's generic
// writer would (pages of version 2, dictionaries for names, differences for integers, zstd where it pays) in a fraction
// of the time, because it knows the few types of a request; [Read] and the tests read it with parquet-go.
type rowFile struct {
	file    *os.File
	columns []*column // of the open row group
	at      int64     // end of the file
	rows    int       // in the open row group
	total   int64
	groups  []format.RowGroup
}

const magic = "PAR1"

func newRowFile(name string) (*rowFile, error) {
	f, err := createPart(name, 0o644)
	if err != nil {
		return nil, err
	}
	t := &rowFile{file: f}
	return t, t.put([]byte(magic))
}

func (t *rowFile) put(b []byte) error {
	t.at += int64(len(b))
	_, err := t.file.Write(b)
	return err
}

// write adds rows. They may change afterwards.
func (t *rowFile) write(p *packer, rows []held) error {
	var some []*Request
	for chunk := range slices.Chunk(rows, batchRows) {
		some = some[:0]
		for _, r := range chunk {
			some = append(some, r.Request)
		}
		if t.columns == nil {
			t.columns = columnsOf()
		}
		for _, c := range t.columns {
			if err := c.add(p, some); err != nil {
				return fmt.Errorf("writing part: %w", err)
			}
		}
		if t.rows += len(some); t.rows >= groupRows {
			if err := t.closeGroup(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// size is how many bytes of memory the open row group takes, about.
func (t *rowFile) size() (n int64) {
	for _, c := range t.columns {
		n += c.meta.TotalCompressedSize + int64(c.size()+len(c.def)+len(c.rep))
	}
	return n
}

// closeGroup writes the open row group, if there are rows in it.
func (t *rowFile) closeGroup(p *packer) error {
	if t.rows == 0 {
		return nil
	}
	g := format.RowGroup{NumRows: int64(t.rows), FileOffset: t.at, Ordinal: int16(len(t.groups))}
	for _, c := range t.columns {
		m, err := c.closeGroup(p, t.at, t.put)
		if err != nil {
			return fmt.Errorf("writing part: %w", err)
		}
		g.Columns = append(g.Columns, format.ColumnChunk{FileOffset: m.DataPageOffset, MetaData: m})
		g.TotalByteSize += m.TotalUncompressedSize
		g.TotalCompressedSize += m.TotalCompressedSize
	}
	t.groups = append(t.groups, g)
	t.total, t.rows, t.columns = t.total+g.NumRows, 0, nil // a day may be over: no buffers are kept
	return nil
}

// commit ends the file, behind the last row group, and moves it to dir/part.parquet, as table.commit does.
func (t *rowFile) commit(dir, part string, meta map[string]string) (fresh int, final string, err error) {
	if err := t.close(meta); err != nil {
		return 0, "", fmt.Errorf("closing part: %w", err)
	}
	return commitPart(t.file, dir, part)
}

func (t *rowFile) close(meta map[string]string) error {
	footer, err := emptyFooter()
	if err != nil {
		return err
	}
	footer.RowGroups, footer.NumRows = t.groups, t.total
	for _, k := range sortedKeys(meta) {
		footer.KeyValueMetadata = append(footer.KeyValueMetadata, format.KeyValue{Key: k, Value: meta[k]})
	}
	b, err := thrift.Marshal(new(thrift.CompactProtocol), &footer)
	if err != nil {
		return err
	}
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(b))), magic...)
	return t.put(b)
}

// emptyFooter is the footer of a file without rows, as parquet-go writes it: the schema comes from the tags.
var emptyFooter = sync.OnceValues(func() (f format.FileMetaData, err error) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[Request](&b, parquet.CreatedBy("reprise", "1", ""))
	if err := w.Close(); err != nil {
		return f, err
	}
	file, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		return f, err
	}
	return *file.Metadata(), nil
})
