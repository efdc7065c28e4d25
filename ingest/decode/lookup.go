package decode

import (
	"bytes"
	"strconv"
)

// Get returns the value at the path of keys (exact names, the first of equal ones) and array indices; nil when there
// is none. Each step walks the members: where many of one object are wanted, Visit is cheaper.
func (v *Value) Get(path ...string) *Value {
	for _, key := range path {
		v = v.member(key)
	}
	return v
}

func (v *Value) member(key string) *Value {
	switch v.Type() {
	case TypeObject:
		for c := v.first(); c != nil; c = v.after(c) {
			if int(c.keyTo-c.key) == len(key) && string(v.doc.src[c.key:c.keyTo]) == key {
				return c
			}
		}
		return v.escapedMember(key)
	case TypeArray:
		n, err := strconv.Atoi(key)
		for c := v.first(); err == nil && c != nil; c = v.after(c) {
			if n == 0 {
				return c
			}
			n--
		}
	}
	return nil
}

// escapedMember looks among the keys that are written with escapes: rare, so only when the plain search failed.
func (v *Value) escapedMember(key string) *Value {
	if !v.doc.escapedKey {
		return nil
	}
	for c := v.first(); c != nil; c = v.after(c) {
		raw := v.doc.src[c.key:c.keyTo]
		if bytes.IndexByte(raw, '\\') >= 0 && string(v.doc.unescape(raw)) == key {
			return c
		}
	}
	return nil
}

// Visit calls f for each member of an object in order, keys unescaped.
func (v *Value) Visit(f func(key []byte, v *Value)) {
	if v.Type() != TypeObject {
		return
	}
	d := v.doc
	for c := v.first(); c != nil; c = v.after(c) {
		key := d.src[c.key:c.keyTo]
		if d.escapedKey {
			key = d.unescape(key)
		}
		f(key, c)
	}
}
