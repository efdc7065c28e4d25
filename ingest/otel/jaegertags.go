package otel

import (
	"strings"
	"time"

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

func process(v *decode.Value) (a attrs) {
	if name := v.Get("serviceName"); name != nil { // before a tag of that name
		a.put("service.name", name)
	}
	a.tags(v.Get("tags"))
	a.fields(v.Get("tag"))
	return a
}

// fields adds tags as Elasticsearch has them where they are fields.
func (a *attrs) fields(v *decode.Value) {
	v.Visit(func(key []byte, x *decode.Value) { a.put(strings.ReplaceAll(string(key), "@", "."), x) })
}

// tags adds a list of key and value; in the domain model the value is in a member named after its type, which protobuf
// leaves out when it is zero.
func (a *attrs) tags(v *decode.Value) {
	for _, t := range v.GetArray() {
		x := t.Get("value")
		for _, member := range []string{"vStr", "vInt64", "vBool", "vFloat64", "vBinary"} {
			if m := t.Get(member); x == nil && m != nil {
				x = m
			}
		}
		key := view(t.GetStringBytes("key"))
		if x != nil {
			a.put(key, x)
			continue
		}
		switch decode.Text(t, "vType") {
		case "BOOL":
			a.list = append(a.list, attr{key, value{proto: []byte{anyBool << 3, 0}}})
		case "INT64", "FLOAT64":
			a.list = append(a.list, attr{key, value{proto: []byte{anyInt << 3, 0}}})
		}
	}
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
