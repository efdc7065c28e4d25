package otel

import (
	"strconv"
	"unicode/utf8"

	"reprise/ingest/decode"
)

// text renders the value: see attrs.raw.
func (v *value) text() string {
	if v.json == nil {
		return protoText(v.proto)
	}
	inner, kind := unwrap(v.json)
	switch {
	case kind == listValue || kind == mapValue:
		return string(appendJSON(nil, v.json))
	case inner == nil || inner.Blank(): // no member is set: no value
		return ""
	case inner.Type() == decode.TypeString:
		return view(inner.GetStringBytes())
	case inner.Type() == decode.TypeObject || inner.Type() == decode.TypeArray:
		return string(appendJSON(nil, v.json))
	case inner.Type() == decode.TypeNull:
		return ""
	}
	return view(inner.Raw())
}

// anyKind says which member of an OTLP AnyValue is set; plain for a value that is not wrapped (attributes as a map).
type anyKind int

const (
	plain anyKind = iota
	scalarValue
	intValue
	listValue
	mapValue
)

// unwrap takes the value out of its AnyValue, in camelCase or snake_case. For lists and maps inner is the list.
func unwrap(v *decode.Value) (inner *decode.Value, kind anyKind) {
	if v.Type() != decode.TypeObject {
		return v, plain
	}
	for _, m := range members {
		for _, name := range m.names {
			inner := v.Get(name)
			if inner == nil {
				continue
			}
			if m.kind == listValue || m.kind == mapValue {
				if list := inner.Get("values"); list != nil || inner.Type() == decode.TypeObject {
					return list, m.kind
				}
			}
			return inner, m.kind
		}
	}
	return v, plain
}

var members = []struct {
	names [2]string
	kind  anyKind
}{
	{[2]string{"stringValue", "string_value"}, scalarValue},
	{[2]string{"intValue", "int_value"}, intValue},
	{[2]string{"doubleValue", "double_value"}, scalarValue},
	{[2]string{"boolValue", "bool_value"}, scalarValue},
	{[2]string{"arrayValue", "array_value"}, listValue},
	{[2]string{"kvlistValue", "kvlist_value"}, mapValue},
	{[2]string{"bytesValue", "bytes_value"}, scalarValue},
}

// appendJSON writes an AnyValue, or plain JSON, as plain JSON.
func appendJSON(b []byte, v *decode.Value) []byte {
	inner, kind := unwrap(v)
	switch kind {
	case listValue:
		b = append(b, '[')
		for i, x := range inner.GetArray() {
			b = appendInner(comma(b, i), x)
		}
		return append(b, ']')
	case mapValue:
		b = append(b, '{')
		for i, kv := range inner.GetArray() {
			b = appendQuoted(comma(b, i), kv.GetStringBytes("key"))
			b = appendInner(append(b, ':'), kv.Get("value"))
		}
		return append(b, '}')
	case intValue:
		if n := integer(inner); n != nil {
			return strconv.AppendInt(b, *n, 10)
		}
	}
	return appendPlain(b, inner)
}

// appendInner writes an AnyValue that stands in another.
func appendInner(b []byte, v *decode.Value) []byte {
	if v == nil || v.Blank() {
		return append(b, "null"...)
	}
	return appendJSON(b, v)
}

func appendPlain(b []byte, v *decode.Value) []byte {
	switch v.Type() {
	case decode.TypeString:
		return appendQuoted(b, v.GetStringBytes())
	case decode.TypeArray:
		return appendList(b, v.GetArray())
	case decode.TypeObject:
		b = append(b, '{')
		i := 0
		v.GetObject().Visit(func(k []byte, x *decode.Value) {
			b = append(appendQuoted(comma(b, i), k), ':')
			b = appendPlain(b, x)
			i++
		})
		return append(b, '}')
	}
	return v.MarshalTo(b)
}

func appendList(b []byte, list []*decode.Value) []byte {
	b = append(b, '[')
	for i, x := range list {
		b = appendJSON(comma(b, i), x)
	}
	return append(b, ']')
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// appendQuoted writes a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendQuoted(b, s []byte) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for len(s) > 0 {
		c, n := utf8.DecodeRune(s)
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = utf8.AppendRune(b, c)
		}
		s = s[n:]
	}
	return append(b, '"')
}
