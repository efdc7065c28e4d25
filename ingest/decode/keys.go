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

// Pair is two names of members that are wanted from object after object.
type Pair struct {
	name, other string
	a, b        *place // where they stood last
}

// NewPair makes a Pair, to be used with the values of one parser at a time.
func NewPair(name, other string) *Pair { return &Pair{name: name, other: other} }

// Of returns the two members of v, as Get does. It is quickest where they are the first there, in this order.
func (p *Pair) Of(v *Value) (a, b *Value) {
	if v.Type() == TypeObject {
		if a = v.first(); a != nil {
			if b = v.after(a); b != nil && (a.at == p.a && b.at == p.b || p.at(a, b)) {
				return a, b
			}
		}
	}
	return v.Get(p.name), v.Get(p.other)
}

// at says that a and b have the two names, and remembers their places.
func (p *Pair) at(a, b *Value) bool {
	if !a.named(p.name) || !b.named(p.other) {
		return false
	}
	if a.at.glue != "" && b.at.glue != "" { // else it is nowhere
		p.a, p.b = a.at, b.at
	}
	return true
}

// named compares the key as it is written.
func (v *Value) named(name string) bool {
	return string(v.doc.src[v.key:v.keyTo]) == name
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
