package otel

import (
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"reprise/ingest/decode"
)

// parentOf is the span of the same trace that v is a child of.
func parentOf(v *decode.Value, traceID string) string {
	for _, r := range v.Get("references").GetArray() {
		kind := decode.Text(r, "refType")
		if (kind == "CHILD_OF" || kind == "" || kind == "0") && identifier(either(r, "traceID", "traceId")) == traceID {
			return identifier(either(r, "spanID", "spanId"))
		}
	}
	return identifier(v.Get("parentSpanID")) // before references
}

func process(v *decode.Value) attrs {
	a := tags(v.Get("tags"))
	v.Get("tag").Visit(func(key []byte, x *decode.Value) { a.put([]byte(strings.ReplaceAll(string(key), "@", ".")), x) })
	if name := v.Get("serviceName"); name != nil {
		a["service.name"] = value{json: name}
	}
	return a
}

// tags reads a list of key and value; in the domain model the value is in a member named after its type, which protobuf
// leaves out when it is zero.
func tags(v *decode.Value) attrs {
	list := v.GetArray()
	a := make(attrs, len(list))
	for _, t := range list {
		x := t.Get("value")
		for _, member := range []string{"vStr", "vInt64", "vBool", "vFloat64", "vBinary"} {
			if m := t.Get(member); x == nil && m != nil {
				x = m
			}
		}
		key := t.GetStringBytes("key")
		if x != nil {
			a.put(key, x)
			continue
		}
		switch decode.Text(t, "vType") {
		case "BOOL":
			a[string(key)] = value{proto: pcommon.NewValueBool(false)}
		case "INT64", "FLOAT64":
			a[string(key)] = value{proto: pcommon.NewValueInt(0)}
		}
	}
	return a
}

// stamp reads microseconds, or RFC 3339 text, as nanoseconds; 0 is unknown.
func (w *jaegerWalker) stamp(v *decode.Value) int64 {
	if n := integer(v); n != nil {
		return nanosOf(*n)
	}
	ns, _ := flatTime(w.c, v)
	return ns
}

// nanosOf turns microseconds since 1970 into nanoseconds; 0 is unknown.
func nanosOf(us int64) int64 {
	if us <= 0 || us > int64(1<<63-1)/1000 {
		return 0
	}
	return us * 1000
}

// jaegerDuration reads microseconds, or text in s or ns, as nanoseconds.
func jaegerDuration(v *decode.Value) (ns int64, ok bool) {
	if n := integer(v); n != nil {
		return nanosOf(*n), *n >= 0
	}
	d, err := time.ParseDuration(decode.Text(v))
	return int64(d), err == nil && d >= 0
}
