package otel

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
)

// Members of an AnyValue.
const (
	anyString = iota + 1
	anyBool
	anyInt
	anyDouble
	anyArray
	anyMap
	anyBytes
	anyIndex // into a table that only profiles have: no value
)

// addProto adds an attribute to the list.
func (m *memory) addProto(b []byte) error {
	key, v, ok := usualKeyValue(b)
	if !ok || !usualValue(v) {
		if err := tracesForms.keyValue.check(b, 0); err != nil {
			return err
		}
		key, v = keyValue(b)
	}
	m.list = append(m.list, attr{view(key), value{proto: v}})
	return nil
}

// since are the attributes added to the list from start on.
func (m *memory) since(start int) attrs { return attrs{list: m.list[start:len(m.list):len(m.list)]} }

// keyValue reads a checked key and value.
func keyValue(b []byte) (key, value []byte) {
	for w := (wire{rest: b}); w.next(); {
		switch {
		case w.number == 1:
			key = w.data
		case w.number == 2 && value == nil:
			value = w.data
		case w.number == 2: // again: one message with the fields of both
			value = append(value, w.data...)
		}
	}
	return key, value
}

// usualKeyValue reads a key and a value as everybody writes them: each once. The collector writes the value first.
func usualKeyValue(b []byte) (key, value []byte, ok bool) {
	const keyTag, valueTag = 1<<3 | byte(delimited), 2<<3 | byte(delimited)
	if key, b, ok = cutText(b, keyTag); ok {
		value, b, ok = cutText(b, valueTag)
	} else if value, b, ok = cutText(b, valueTag); ok {
		key, b, ok = cutText(b, keyTag)
	}
	return key, value, ok && len(b) == 0
}

// usualValue says that v is a text, a boolean, a short integer or a number, and nothing else.
func usualValue(v []byte) bool {
	if len(v) < 2 {
		return false
	}
	switch v[0] {
	case anyString<<3 | byte(delimited):
		_, rest, ok := cutText(v, v[0])
		return ok && len(rest) == 0
	case anyBool<<3 | byte(varint), anyInt<<3 | byte(varint):
		return len(v) == 2 && v[1] < 0x80 || len(v) == 3 && v[1] >= 0x80 && v[2] < 0x80
	case anyDouble<<3 | byte(fixed64):
		return len(v) == 9
	}
	return false
}

// cutText cuts a text or message with the given tag and under 2 MiB off b.
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

// anyOf is the member that a checked AnyValue sets last; number 0 when there is none.
func anyOf(b []byte) (last wire) {
	for w := (wire{rest: b}); w.next(); {
		if w.number <= anyIndex {
			last = w
		}
	}
	return last
}

// protoString is a text as an AnyValue.
func protoString(s string) []byte {
	return append(binary.AppendUvarint([]byte{anyString<<3 | byte(delimited)}, uint64(len(s))), s...)
}

func protoText(b []byte) string {
	if text, rest, ok := cutText(b, anyString<<3|byte(delimited)); ok && len(rest) == 0 { // most
		return view(text)
	}
	switch w := anyOf(b); w.number {
	case anyString:
		return view(w.data)
	case anyBool:
		return strconv.FormatBool(w.n != 0)
	case anyInt:
		return strconv.FormatInt(int64(w.n), 10)
	case anyDouble:
		return string(appendDouble(nil, w.n))
	case anyArray, anyMap:
		return string(appendProto(nil, b))
	case anyBytes:
		return base64.StdEncoding.EncodeToString(w.data)
	}
	return ""
}

// appendProto writes a value as JSON, maps in their own order: the JSON form of the same span gives the same bytes.
func appendProto(b, v []byte) []byte {
	switch w := anyOf(v); w.number {
	case anyString:
		return appendQuoted(b, w.data)
	case anyBytes:
		return appendQuoted(b, []byte(base64.StdEncoding.EncodeToString(w.data)))
	case anyArray:
		b = append(b, '[')
		i := 0
		for x := range parts(w.data, 1) {
			b = appendProto(comma(b, i), x)
			i++
		}
		return append(b, ']')
	case anyMap:
		b = append(b, '{')
		i := 0
		for x := range parts(w.data, 1) {
			key, v := keyValue(x)
			b = append(appendQuoted(comma(b, i), key), ':')
			b = appendProto(b, v)
			i++
		}
		return append(b, '}')
	case 0, anyIndex:
		return append(b, "null"...)
	}
	return append(b, protoText(v)...)
}

// appendDouble writes a number as JSON does, and what JSON does not know by its name in protobuf's JSON.
func appendDouble(b []byte, bits uint64) []byte {
	f := math.Float64frombits(bits)
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	}
	text, err := json.Marshal(f)
	if err != nil { // finite numbers always marshal
		return b
	}
	return append(b, text...)
}
