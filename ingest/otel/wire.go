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
	form   *form // what the message may hold; nil: it was checked before
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
	delimited
	groupBegin
	groupEnd
	fixed32
)

var errCut = errors.New("message ends too early")

// next reads a field; false behind the last one. The messages in it are left to the caller.
func (w *wire) next() bool {
	b := w.rest
	if len(b) > 1 && b[0]&0x87 == byte(delimited) && b[0] > 7 && b[1] < 0x80 && len(b)-2 >= int(b[1]) { // most: a short text
		n := 2 + int(b[1])
		w.number, w.kind, w.data, w.rest = int32(b[0]>>3), delimited, b[2:n:n], b[n:]
	} else if len(b) == 0 {
		return false
	} else {
		w.tag()
		w.value()
	}
	if w.form != nil && w.err == nil {
		w.note(w.part().wrong(w))
	}
	return w.err == nil
}

// note ends the reading for a reason; nil is none.
func (w *wire) note(err error) {
	if err != nil {
		w.rest = nil
		if w.err == nil {
			w.err = err
		}
	}
}

func (w *wire) tag() {
	tag := w.varint()
	if w.number, w.kind = int32(tag>>3), int8(tag&7); w.number <= 0 {
		w.note(fmt.Errorf("field number %d", w.number))
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
	case delimited:
		w.data = w.take(w.varint())
	case groupBegin:
		w.group()
	default:
		w.note(fmt.Errorf("field %d of wire type %d", w.number, w.kind))
	}
}

// group passes over a group, of which there are none in protobuf 3. As in pdata it ends at its first field, and never
// at the end of the message.
func (w *wire) group() {
	in := wire{rest: w.rest}
	for depth := 1; depth > 0 && in.err == nil; {
		switch in.tag(); {
		case len(in.rest) == 0:
			in.note(errCut)
		case in.kind == groupBegin:
			depth++
		case in.kind == groupEnd:
			depth--
		default:
			in.value()
			depth = 0
		}
	}
	w.rest = in.rest
	w.note(in.err)
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
	w.note(errCut)
	return 0
}

func (w *wire) fixed(size uint64) (n uint64) {
	var b [8]byte
	copy(b[:], w.take(size))
	return binary.LittleEndian.Uint64(b[:])
}

func (w *wire) take(size uint64) (b []byte) {
	if size > uint64(len(w.rest)) {
		w.note(errCut)
		return nil
	}
	b, w.rest = w.rest[:size:size], w.rest[size:]
	return b
}

// parts are the messages of a field of a checked message.
func parts(message []byte, number int32) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for w := (wire{rest: message}); w.next(); {
			if w.number == number && !yield(w.data) {
				return
			}
		}
	}
}
