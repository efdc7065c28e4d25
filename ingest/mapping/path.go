package mapping

import (
	"strconv"
	"strings"

	"reprise/ingest/decode"
)

// maxSteps bounds the keys of a path: names with dots make the search branch.
const maxSteps = 10

// path is where a value stands in a record: parts one inside the other.
type path []part

// part is some keys with dots between them, or the one key whose text is JSON.
type part struct {
	keys string
	json bool
}

// first is the first key.
func (p part) first() string {
	first, _, _ := strings.Cut(p.keys, ".")
	return first
}

// parsePath reads a.b.json:c.d; the second result says what is wrong with it.
func parsePath(s string) (path, string) {
	if strings.Count(s, ".") >= maxSteps {
		return nil, "more than 10 keys"
	}
	var p path
	for s != "" {
		inner, isJSON := strings.CutPrefix(s, "json:")
		if isJSON {
			key, rest, more := strings.Cut(inner, ".")
			if key == "" || more && rest == "" {
				return nil, "a key is empty"
			}
			p, s = append(p, part{key, true}), rest
			continue
		}
		keys, rest, more := strings.Cut(s, ".json:")
		if p, s = append(p, part{keys: keys}), ""; more {
			s = "json:" + rest
		}
		if keys == "" || keys[0] == '.' || keys[len(keys)-1] == '.' || strings.Contains(keys, "..") {
			return nil, "a key is empty"
		}
	}
	if p == nil {
		return nil, "it is empty"
	}
	return p, ""
}

// record is one JSON record and the texts in it that were parsed as JSON.
type record struct {
	root  *decode.Value
	inner []nested
}

type nested struct{ text, value *decode.Value }

// find returns the value at the path, nil when there is none.
func (rec *record) find(p path) *decode.Value {
	v := rec.root
	for _, part := range p {
		if v == nil {
			return nil
		}
		if part.json {
			v = rec.enter(v.Get(part.keys))
		} else {
			v = lookup(v, part.keys)
		}
	}
	return v
}

// enter parses the text once for all paths into it.
func (rec *record) enter(v *decode.Value) *decode.Value {
	if v.Type() != decode.TypeString {
		return v
	}
	for _, n := range rec.inner {
		if n.text == v {
			return n.value
		}
	}
	rec.inner = append(rec.inner, nested{v, decode.Nested(v)})
	return rec.inner[len(rec.inner)-1].value
}

// lookup finds keys that may hold dots themselves: the longest name first.
func lookup(v *decode.Value, keys string) *decode.Value {
	if found := member(v, keys); found != nil {
		return found
	}
	for i := len(keys) - 1; i > 0; i-- {
		if keys[i] != '.' {
			continue
		}
		if inside := member(v, keys[:i]); inside != nil {
			if found := lookup(inside, keys[i+1:]); found != nil {
				return found
			}
		}
	}
	return nil
}

func member(v *decode.Value, key string) *decode.Value {
	if v.Type() == decode.TypeArray && strings.HasPrefix(key, "-") {
		n, err := strconv.Atoi(key)
		list := v.GetArray()
		if n += len(list); err != nil || n < 0 {
			return nil
		}
		return list[n]
	}
	return v.Get(key)
}
