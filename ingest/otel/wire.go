package otel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
)

// wire reads the fields of a protobuf message one after the other; err says why there are no more, nil at the end. It
// accepts what pdata accepts, its oracle in the tests.
type wire struct {
	rest   []byte
	number int32
	kind   int8
	n      uint64 // value of a number
	data   []byte // value of a text or message: a view
	err    error
}

// Wire types.
const (
	varint int8 = iota
	fixed64
	bytes_
	groupBegin
	groupEnd
	fixed32
)

var errCut = errors.New("message ends too early")

// next reads a field; false behind the last one.
func (w *wire) next() bool {
	b := w.rest
	if len(b) > 1 && b[0]&0x87 == byte(bytes_) && b[0] > 7 && b[1] < 0x80 && len(b)-2 >= int(b[1]) { // most: a short text
		n := 2 + int(b[1])
		w.number, w.kind, w.data, w.rest = int32(b[0]>>3), bytes_, b[2:n:n], b[n:]
		return true
	}
	if len(b) == 0 || w.err != nil {
		return false
	}
	w.tag()
	w.value()
	return w.err == nil
}

func (w *wire) fail(err error) {
	if w.err == nil {
		w.err = err
	}
	w.rest = nil
}

func (w *wire) tag() {
	tag := w.varint()
	if w.number, w.kind = int32(tag>>3), int8(tag&7); w.number <= 0 {
		w.fail(fmt.Errorf("field number %d", w.number))
	}
}

func (w *wire) value() {
	switch w.kind {
	case varint:
		w.n = w.varint()
	case fixed64:
		w.n = w.fixed(8)
	case fixed32:
		w.n = w.fixed(4)
	case bytes_:
		w.data = w.take(w.varint())
	case groupBegin:
		w.group()
	default:
		w.fail(fmt.Errorf("field %d of wire type %d", w.number, w.kind))
	}
}

// group passes over a group, of which there are none in protobuf 3. As in pdata it ends at its first field, and never
// at the end of the message.
func (w *wire) group() {
	in := wire{rest: w.rest}
	for depth := 1; depth > 0 && in.err == nil; {
		switch in.tag(); {
		case len(in.rest) == 0:
			in.fail(errCut)
		case in.kind == groupBegin:
			depth++
		case in.kind == groupEnd:
			depth--
		default:
			in.value()
			depth = 0
		}
	}
	w.rest, w.err = in.rest, in.err
}

func (w *wire) varint() (n uint64) {
	if len(w.rest) > 0 && w.rest[0] < 0x80 { // most
		n, w.rest = uint64(w.rest[0]), w.rest[1:]
		return n
	}
	for i, c := range w.rest {
		if i == binary.MaxVarintLen64 {
			break
		}
		if n |= uint64(c&0x7f) << (7 * i); c < 0x80 {
			w.rest = w.rest[i+1:]
			return n
		}
	}
	w.fail(errCut)
	return 0
}

func (w *wire) fixed(size uint64) (n uint64) {
	var b [8]byte
	copy(b[:], w.take(size))
	return binary.LittleEndian.Uint64(b[:])
}

func (w *wire) take(size uint64) (b []byte) {
	if size > uint64(len(w.rest)) {
		w.fail(errCut)
		return nil
	}
	b, w.rest = w.rest[:size:size], w.rest[size:]
	return b
}

// text cuts a short or middling text or message with the given tag off b.
func cutText(b []byte, tag byte) (text, rest []byte, ok bool) {
	if len(b) < 2 || b[0] != tag {
		return nil, b, false
	}
	n, i := int(b[1]), 2
	for shift := 7; n>>shift != 0 && shift <= 14; shift += 7 {
		if i == len(b) {
			return nil, b, false
		}
		n, i = n&(1<<shift-1)|int(b[i])<<shift, i+1
	}
	if n>>21 != 0 || len(b)-i < n {
		return nil, b, false
	}
	return b[i : i+n : i+n], b[i+n:], true
}

// parts are the messages or texts of a field that may come again.
func parts(message []byte, number int32) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for w := (wire{rest: message}); w.next(); {
			if w.number == number && !yield(w.data) {
				return
			}
		}
	}
}
