package trace

import (
	"bytes"
	"hash/crc32"
	"reflect"
	"strings"

	klauspost "github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// pageBytes and pageRows close a page: small enough for a page open in each column of each day.
const pageBytes, pageRows = 64 << 10, 16 << 10

// column is one leaf column of the open row group.
type column struct {
	leaf
	levels
	rows int // of the open page

	meta  format.ColumnMetaData // as far as the pages go
	pages [][]byte              // whole, in order
	skip  int                   // pages not to try to compress
	plain bool                  // never to compress
	names bool                  // the pages count through a dictionary
	ids   bool                  // texts that are all different
}

// columnsOf makes the columns of Request from its tags, in the order of the schema.
func columnsOf() []*column {
	var columns []*column
	for f := range reflect.TypeFor[Request]().Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		element := f.Tag.Get("parquet-element")
		c := &column{plain: strings.Contains(element, "uncompressed"), names: strings.Contains(options, "dict")}
		if c.meta.Codec = format.Zstd; c.plain {
			c.meta.Codec = format.Uncompressed
		}
		c.leaf, c.meta.Type = leafOf(f.Type, f.Offset, options+element)
		c.ids = c.meta.Type == format.ByteArray && !c.names
		if c.meta.PathInSchema = []string{name}; f.Type.Kind() == reflect.Slice {
			c.meta.PathInSchema = []string{name, "list", "element"}
		}
		columns = append(columns, c)
	}
	return columns
}

func leafOf(t reflect.Type, offset uintptr, options string) (leaf, format.Type) {
	optional, plain := strings.Contains(options, "optional"), strings.Contains(options, "plain")
	switch t.String() {
	case "int32", "*int32":
		return &ints[int32]{offset: offset, optional: optional}, format.Int32
	case "int64", "*int64":
		return &ints[int64]{offset: offset, optional: optional}, format.Int64
	case "[]int32":
		return &ints[int32]{offset: offset, list: true}, format.Int32
	case "[]int64":
		return &ints[int64]{offset: offset, list: true, plain: plain}, format.Int64
	case "*bool":
		return &yes{offset: offset}, format.Boolean
	}
	text := texts{offset: offset, optional: optional, ends: []uint32{0}} // TestColumnTypes allows nothing else
	if strings.Contains(options, "dict") {
		return &names{texts: text}, format.ByteArray
	}
	return &text, format.ByteArray
}

// add takes the values of some rows and closes the page when it is full.
func (c *column) add(p *packer, rows []*Request) error {
	c.leaf.add(&c.levels, rows)
	if c.rows += len(rows); c.rows < pageRows && c.size() < pageBytes {
		return nil
	}
	return c.closePage(p)
}

// closePage encodes the open page.
func (c *column) closePage(p *packer) (err error) {
	values := max(len(c.def), c.rows)
	head := format.DataPageHeaderV2{NumValues: int32(values), NumNulls: int32(c.nulls), NumRows: int32(c.rows)}
	if p.body, head.Encoding, err = c.page(p.body); err != nil {
		return err
	}
	levels, width := p.levels[:0], 1
	if c.rep != nil {
		levels, width = p.level(levels, c.rep, 1), 2
		head.RepetitionLevelsByteLength = int32(len(levels))
	}
	if c.def != nil {
		levels = p.level(levels, c.def, width)
		head.DefinitionLevelsByteLength = int32(len(levels)) - head.RepetitionLevelsByteLength
	}
	p.levels = levels
	c.meta.NumValues += int64(values)
	c.meta.Statistics.NullCount += int64(c.nulls)
	c.def, c.rep, c.nulls, c.rows = c.def[:0], c.rep[:0], 0, 0
	body, packed := c.pack(p)
	head.IsCompressed = thrift.New(packed)
	page := format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(head)}
	c.note(head.Encoding)
	return c.put(p, page, len(p.body), body)
}

// notTried is how many pages are stored as they are behind one that compression did not make smaller.
const notTried = 7

// pack compresses the body in p if that pays: random ids and differences of microseconds are as small as they get.
func (c *column) pack(p *packer) (body []byte, packed bool) {
	if c.plain || c.skip > 0 {
		c.skip--
		return p.body, false
	}
	if body = p.pack(p.body, c.ids); len(body) < len(p.body)-len(p.body)/16 {
		return body, true
	}
	c.skip = notTried
	return p.body, false
}

func (c *column) note(e format.Encoding) {
	for _, known := range c.meta.Encoding {
		if known == e {
			return
		}
	}
	c.meta.Encoding = append(c.meta.Encoding, e)
}

// put appends a page of the levels in p, if it has some, and body; size is that of the body before it was compressed.
func (c *column) put(p *packer, head format.PageHeader, size int, body []byte) error {
	levels := p.levels
	if head.Type == format.DictionaryPage {
		levels = nil
	}
	head.UncompressedPageSize, head.CompressedPageSize = int32(len(levels)+size), int32(len(levels)+len(body))
	head.CRC = int32(crc32.Update(crc32.ChecksumIEEE(levels), crc32.IEEETable, body))
	p.head.Reset()
	if err := p.thrift.Encode(&head); err != nil {
		return err
	}
	page := make([]byte, 0, p.head.Len()+len(levels)+len(body))
	page = append(append(append(page, p.head.Bytes()...), levels...), body...)
	c.pages = append(c.pages, page)
	c.meta.TotalUncompressedSize += int64(p.head.Len() + len(levels) + size)
	c.meta.TotalCompressedSize += int64(len(page))
	return nil
}

// closeGroup ends the row group and gives its pages to write; at is where in the file they will stand.
func (c *column) closeGroup(p *packer, at int64, write func([]byte) error) (m format.ColumnMetaData, err error) {
	if c.rows > 0 {
		if err := c.closePage(p); err != nil {
			return m, err
		}
	}
	pages := c.pages
	if body, n := c.dictionary(); c.names {
		page := format.PageHeader{Type: format.DictionaryPage,
			DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(n), Encoding: format.Plain})}
		if err := c.put(p, page, len(body), p.pack(body, false)); err != nil {
			return m, err
		}
		last := len(c.pages) - 1
		pages = append([][]byte{c.pages[last]}, c.pages[:last]...)
		c.meta.DictionaryPageOffset, at = at, at+int64(len(pages[0]))
		c.note(format.Plain)
	}
	for _, page := range pages {
		if err := write(page); err != nil {
			return m, err
		}
	}
	if c.def != nil {
		c.note(format.RLE)
	}
	c.meta.DataPageOffset = at
	c.meta.Statistics.MinValue, c.meta.Statistics.MaxValue = c.bounds()
	return c.meta, nil
}

// packer compresses pages, with the buffers that it takes. All columns of a writer share one.
type packer struct {
	zstd               zstd.Codec
	ids                *klauspost.Encoder
	body, levels, runs []byte
	head               bytes.Buffer
	thrift             *thrift.Encoder
	from, to           []byte // the last body compressed, and what came of it
}

func newPacker() *packer {
	p := &packer{zstd: zstd.Codec{Level: zstd.SpeedFastest}} // on our columns as small as the default, in half the time
	// hexadecimal digits repeat nothing, but there are only 16 of them: half the size
	p.ids, _ = klauspost.NewWriter(nil, klauspost.WithEncoderLevel(klauspost.SpeedFastest), klauspost.WithAllLitEntropyCompression(true),
		klauspost.WithEncoderConcurrency(1), klauspost.WithEncoderCRC(false), klauspost.WithWindowSize(1<<20)) // fails only for options out of range
	p.thrift = thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(&p.head))
	return p
}

// pack compresses a body. The root of most calls is their own id, and the session is often the trace: the same body
// comes twice then.
func (p *packer) pack(body []byte, ids bool) []byte {
	if p.to == nil || !bytes.Equal(body, p.from) {
		p.from = append(p.from[:0], body...)
		if ids {
			p.to = p.ids.EncodeAll(body, p.to[:0])
		} else {
			p.to, _ = p.zstd.Encode(p.to, body)
		}
	}
	return p.to
}

func (p *packer) level(dst []byte, levels []uint8, width int) []byte {
	e := rle.Encoding{BitWidth: width}
	p.runs, _ = e.EncodeLevels(p.runs, levels) // fails only for widths above 8
	return append(dst, p.runs...)
}
