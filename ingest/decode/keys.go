package decode

// Keys are names of members that are wanted together, in order.
type Keys struct{ index map[string]int }

// NewKeys makes Keys; at most 127.
func NewKeys(names ...string) *Keys {
	k := &Keys{map[string]int{}}
	for i, name := range names {
		k.index[name] = i
	}
	return k
}

// Members puts the members of an object into the places given in the order of k: the first of equal names, as Get does,
// and nil where there is none. One walk is cheaper than a Get for each, also because what stands where is remembered.
func (v *Value) Members(k *Keys, into ...**Value) {
	for _, x := range into {
		*x = nil
	}
	if v.Type() != TypeObject {
		return
	}
	for c := v.first(); c != nil; c = v.after(c) {
		i := int(c.at.index)
		if c.at.keys != k {
			i = c.find(k)
		}
		if i >= 0 && *into[i] == nil {
			*into[i] = c
		}
	}
}

// Pair is the members of these two names. It is quickest where they are all there is, in this order.
func (v *Value) Pair(name, other string) (a, b *Value) {
	if v.Type() == TypeObject {
		if a = v.first(); a.named(name) {
			if b = v.after(a); b.named(other) {
				return a, b
			}
		}
	}
	return v.Get(name), v.Get(other)
}

// named compares the key as it is written; nil has none.
func (v *Value) named(name string) bool {
	return v != nil && string(v.doc.src[v.key:v.keyTo]) == name
}

// find looks the key of a member up, and remembers it for its place.
func (v *Value) find(k *Keys) int {
	key := v.doc.src[v.key:v.keyTo]
	if v.doc.escapedKey {
		key = v.doc.unescape(key)
	}
	i, ok := k.index[string(key)]
	if !ok {
		i = -1
	}
	if v.at != &v.doc.nowhere {
		v.at.keys, v.at.index = k, int8(i)
	}
	return i
}
