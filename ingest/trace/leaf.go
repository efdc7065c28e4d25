package trace

import (
	"encoding/binary"
	"unsafe"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// A leaf holds the values of one column that are on their way into a page.
type leaf interface {
	// add takes the values of rows, and for each row what it is: unknown or known (lists: see below).
	add(l *levels, rows []*Request)
	// size is how many bytes the values take.
	size() int
	// page writes the values over buf as the body of a page and forgets them.
	page(buf []byte) ([]byte, format.Encoding, error)
	// dictionary returns the values that the pages of a row group count through; nil and 0 when there are none.
	dictionary() (body []byte, values int)
	// bounds returns the least and the greatest value of all pages, nil when not known.
	bounds() (least, greatest []byte)
}

// levels say of each value of a column that is not always there how much of it there is.
type levels struct {
	def, rep []uint8 // def: 0 unknown; 1 known, or an empty list; 2 an element. rep: 1 for an element behind another of its list
	nulls    int
}

func (l *levels) unknown() {
	l.def = append(l.def, 0)
	l.nulls++
}

func (l *levels) known() { l.def = append(l.def, 1) }

// field is the field of type T at an offset that reflection gave for it.
func field[T any](r *Request, offset uintptr) T { return *(*T)(unsafe.Add(unsafe.Pointer(r), offset)) }

// none is what most leaves have in place of a dictionary.
type none struct{}

func (none) dictionary() ([]byte, int) { return nil, 0 }

type integer interface{ ~int32 | ~int64 }

// ints are integers, each as the difference to the one before.
type ints[T integer] struct {
	none
	offset          uintptr
	optional, list  bool
	plain           bool // as they are: of hashes, differences are longer
	values          []T
	least, greatest T
	bounded         bool
}

func (n *ints[T]) add(l *levels, rows []*Request) {
	switch {
	case n.list:
		for _, r := range rows {
			n.addList(l, field[[]T](r, n.offset))
		}
	case n.optional:
		for _, r := range rows {
			if p := field[*T](r, n.offset); p != nil {
				l.known()
				n.put(*p)
			} else {
				l.unknown()
			}
		}
	default:
		for _, r := range rows {
			n.put(field[T](r, n.offset))
		}
	}
}

func (n *ints[T]) put(v T) {
	if !n.bounded {
		n.bounded, n.least, n.greatest = true, v, v
	}
	n.least, n.greatest = min(n.least, v), max(n.greatest, v)
	n.values = append(n.values, v)
}

func (n *ints[T]) addList(l *levels, list []T) {
	l.rep = append(l.rep, 0)
	switch {
	case list == nil:
		l.unknown()
	case len(list) == 0:
		l.known()
		l.nulls++ // an engine counts values, and here is none
	default:
		l.def = append(l.def, 2)
		for range list[1:] {
			l.def, l.rep = append(l.def, 2), append(l.rep, 1)
		}
		n.values = append(n.values, list...)
	}
}

func (n *ints[T]) size() int { return len(n.values) * int(unsafe.Sizeof(T(0))) }

func (n *ints[T]) page(buf []byte) (_ []byte, e format.Encoding, err error) {
	buf, e = buf[:0], format.DeltaBinaryPacked
	switch v := any(n.values).(type) {
	case []int32:
		buf, err = new(delta.BinaryPackedEncoding).EncodeInt32(buf, v)
	case []int64:
		if !n.plain {
			buf, err = new(delta.BinaryPackedEncoding).EncodeInt64(buf, v)
			break
		}
		e = format.Plain
		for _, x := range v {
			buf = binary.LittleEndian.AppendUint64(buf, uint64(x))
		}
	}
	n.values = n.values[:0]
	return buf, e, err
}

func (n *ints[T]) bounds() (least, greatest []byte) {
	if !n.bounded {
		return nil, nil
	}
	little := func(v T) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v))[:unsafe.Sizeof(v)] }
	return little(n.least), little(n.greatest)
}

// texts are texts one behind the other, after their lengths.
type texts struct {
	none
	offset          uintptr
	optional        bool
	text            []byte
	ends            []uint32 // 0, then the end of each text
	least, greatest []byte
}

func (t *texts) add(l *levels, rows []*Request) {
	for _, r := range rows {
		if s := field[string](r, t.offset); s != "" || !t.optional {
			t.put(s)
			if t.optional {
				l.known()
			}
		} else {
			l.unknown()
		}
	}
}

func (t *texts) put(s string) {
	t.text = append(t.text, s...)
	t.ends = append(t.ends, uint32(len(t.text)))
	t.bound(s)
}

func (t *texts) bound(s string) {
	if t.least == nil || s < string(t.least) {
		t.least = append(make([]byte, 0, len(s)), s...)
	}
	if t.greatest == nil || s > string(t.greatest) {
		t.greatest = append(make([]byte, 0, len(s)), s...)
	}
}

func (t *texts) size() int { return len(t.text) + 4*len(t.ends) }

func (t *texts) page(buf []byte) ([]byte, format.Encoding, error) {
	buf, err := new(delta.LengthByteArrayEncoding).EncodeByteArray(buf, t.text, t.ends)
	t.text, t.ends = t.text[:0], append(t.ends[:0], 0)
	return buf, format.DeltaLengthByteArray, err
}

func (t *texts) bounds() (least, greatest []byte) { return t.least, t.greatest }

// yes are booleans, eight to a byte.
type yes struct {
	none
	offset uintptr
	values []bool
}

func (y *yes) add(l *levels, rows []*Request) {
	for _, r := range rows {
		if p := field[*bool](r, y.offset); p != nil {
			l.known()
			y.values = append(y.values, *p)
		} else {
			l.unknown()
		}
	}
}

func (y *yes) size() int { return len(y.values) }

func (y *yes) page(buf []byte) ([]byte, format.Encoding, error) {
	buf = append(buf[:0], make([]byte, (len(y.values)+7)/8)...)
	for i, v := range y.values {
		if v {
			buf[i/8] |= 1 << (i % 8)
		}
	}
	y.values = y.values[:0]
	return buf, format.Plain, nil
}

func (y *yes) bounds() (least, greatest []byte) { return nil, nil }
