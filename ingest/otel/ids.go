package otel

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"reprise/ingest/decode"
)

// identifier reads a trace or span id in its dialects: hex in either case, with 0x (Python's console exporter), base64
// (protobuf's own JSON, Tempo), or bytes written by protobuf.js. Other ids stay as they are. An id of zeros is none.
func identifier(v *decode.Value) string {
	switch {
	case v == nil:
		return ""
	case v.Type() == decode.TypeString:
		return normalID(view(v.GetStringBytes()))
	case v.Type() == decode.TypeObject:
		v = v.Get("data")
	}
	var b []byte
	for _, x := range v.GetArray() {
		n := decode.Int(x)
		if n == nil || *n < 0 || *n > 255 || len(b) == 16 {
			return ""
		}
		b = append(b, byte(*n))
	}
	return normalID(hex.EncodeToString(b))
}

func normalID(s string) string {
	if usualID(s) {
		return s
	}
	s = strings.TrimPrefix(s, "0x")
	if n := len(s); (n == 24 || n == 12) && strings.HasSuffix(s, "=") {
		if b, err := base64.StdEncoding.DecodeString(s); err == nil && (len(b) == 16 || len(b) == 8) {
			s = hex.EncodeToString(b)
		}
	}
	if len(s) == 32 || len(s) == 16 {
		if _, err := hex.DecodeString(s); err == nil {
			s = strings.ToLower(s)
		}
	}
	if strings.Trim(s, "0") == "" {
		return ""
	}
	return s
}

// usualID says that s is 16 or 32 digits as OTLP wants them, not all of them 0.
func usualID(s string) bool {
	if len(s) != 32 && len(s) != 16 {
		return false
	}
	some := false
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
		some = some || c != '0'
	}
	return some
}

// integer reads a 64-bit integer: a number, a string (OTLP's canonical form), or the pair {low, high} of protobuf.js,
// whose halves are signed. nil for anything else.
func integer(v *decode.Value) *int64 {
	if v == nil || v.Type() != decode.TypeObject {
		return decode.Int(v)
	}
	low, high := decode.Int(v, "low"), decode.Int(v, "high")
	if low == nil || high == nil {
		return nil
	}
	n := *high<<32 | int64(uint32(*low))
	return &n
}

// nanos reads a stamp; 0 is unknown.
func nanos(v *decode.Value) int64 {
	if n := integer(v); n != nil && *n > 0 {
		return *n
	}
	return 0
}

// enum reads an enumeration given as its number or by name, with or without prefix, in any case.
func enum(v *decode.Value, names ...string) int {
	s := decode.View(v)
	switch {
	case s == "":
		return 0
	case len(s) == 1 && s[0] >= '0' && s[0] <= '9': // most
		return int(s[0] - '0')
	}
	s = strings.ToLower(s)
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	for i, name := range names {
		if strings.HasSuffix(s, name) {
			return i
		}
	}
	return 0
}
